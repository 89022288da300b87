/**
 * Skills in folders: which there are, what is wrong with each, and which have the word. Reads only; nothing is executed.
 *
 * Invariants
 * - K1 A skill of the repository is known as one, with its problems and the digest of all that it consists of; it is in
 *   use only when exactly that content is trusted.
 * - K2 What is not in use shadows nothing.
 */
import type { Problem } from '../config/index.ts';
import { type Files, systemCode, whyNot } from '../kernel/index.ts';
import type { SkillFile } from '../protocol/index.ts';
import { BUNDLED_BYTES_MAX, BUNDLED_DEPTH_MAX, BUNDLED_MAX, SKILLS_MAX } from './limits.ts';
import { parseSkill } from './parse-skill.ts';

export interface SkillLevel {
  /** Folder of folders with a SKILL.md. */
  readonly folder: string;
  readonly from: SkillFile['from'];
  /** As shown: the folder relative to the repository, else the folder itself. */
  readonly shown: string;
  /** Root that it must lie in without a link on the way; null: links are the person's own. */
  readonly within: string | null;
}

export interface FoundSkill {
  /** What of it can be used; null: nothing. */
  readonly skill: SkillFile | null;
  /** Name of its folder. */
  readonly folder: string;
  readonly from: SkillFile['from'];
  /** Of its SKILL.md. */
  readonly shown: string;
  readonly problems: readonly Problem[];
  readonly advice: readonly Problem[];
  /** Digest of all its files; null: it could not be made. */
  readonly sha256: string | null;
}

export interface DiscoverDeps {
  readonly files: Pick<Files, 'list' | 'stat' | 'readFile'>;
  readonly sha256: (content: string | Uint8Array) => string;
}

/** In the order of the levels, by name in each. */
export async function discoverSkills(
  deps: DiscoverDeps,
  levels: readonly SkillLevel[],
): Promise<FoundSkill[]> {
  const found: FoundSkill[] = [];
  for (const level of levels) {
    if (level.within !== null && (await isLinked(deps, level.within, level.folder))) continue;
    for (const folder of await listNames(deps, level.folder)) {
      if (found.length >= SKILLS_MAX) return found;
      const one = await readFolder(deps, level, folder);
      if (one !== null) found.push(one);
    }
  }
  return found;
}

/** One folder that should be a skill. Null: it has no SKILL.md. */
export async function readFolder(
  deps: DiscoverDeps,
  level: SkillLevel,
  folder: string,
): Promise<FoundSkill | null> {
  const root = `${level.folder}/${folder}`;
  const stat = await deps.files.stat(root);
  const mayLink = level.within === null;
  if (stat?.kind !== 'directory' && !(mayLink && stat?.kind === 'link')) return null;
  const names = await listNames(deps, root);
  const main =
    names.find((name) => name === 'SKILL.md') ?? names.find((name) => name === 'skill.md');
  if (main === undefined) return null;
  const shown = `${level.shown}/${folder}/${main}`;
  const bytes = await readMain(deps, `${root}/${main}`, mayLink);
  if (typeof bytes === 'string') {
    const problems = [{ path: '', line: 1, column: 1, message: bytes }];
    return { skill: null, folder, from: level.from, shown, problems, advice: [], sha256: null };
  }
  const { skill, problems, advice } = parseSkill(bytes, folder);
  const bundle = await readBundle(deps, root, main);
  return {
    skill:
      skill === null
        ? null
        : {
            ...skill,
            from: level.from,
            root,
            files: bundle.files,
          },
    folder,
    from: level.from,
    shown,
    problems,
    advice,
    sha256: bundle.sha256,
  };
}

/** Its bytes, or why it is not read. */
async function readMain(
  { files }: DiscoverDeps,
  path: string,
  mayLink: boolean,
): Promise<Uint8Array | string> {
  try {
    const kind = (await files.stat(path))?.kind;
    if (kind === 'link' && !mayLink)
      return 'it is a link, and links of a repository are not followed';
    return await files.readFile(path, BUNDLED_BYTES_MAX);
  } catch (error) {
    const code = systemCode(error);
    if (code === '') throw error;
    return whyNot(code, BUNDLED_BYTES_MAX);
  }
}

/** The first usable one of each name, of those that are in use. */
export function inUse(
  found: readonly FoundSkill[],
  trusts: (skill: FoundSkill) => boolean,
): SkillFile[] {
  const chosen = new Map<string, SkillFile>();
  for (const one of found) {
    if (one.skill === null || chosen.has(one.skill.name)) continue;
    if (one.from === 'repository' && !trusts(one)) continue;
    chosen.set(one.skill.name, one.skill);
  }
  return [...chosen.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

interface Bundle {
  /** Relative to the root, without the SKILL.md. */
  readonly files: readonly string[];
  readonly sha256: string | null;
}

async function readBundle(deps: DiscoverDeps, root: string, main: string): Promise<Bundle> {
  const all: string[] = [];
  const digests: string[] = [];
  let bytes = 0;
  let whole = true;
  const walk = async (folder: string, depth: number): Promise<void> => {
    for (const name of await listNames(deps, folder === '' ? root : `${root}/${folder}`)) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const stat = await deps.files.stat(`${root}/${path}`);
      if (stat?.kind === 'directory') {
        if (depth < BUNDLED_DEPTH_MAX) await walk(path, depth + 1);
        else whole = false;
        continue;
      }
      // What is no plain file is not part of a skill; one that has such things has no digest.
      if (stat?.kind !== 'file' || all.length >= BUNDLED_MAX) {
        whole = false;
        continue;
      }
      all.push(path);
      bytes += stat.size;
      if (bytes > BUNDLED_BYTES_MAX) whole = false;
      if (!whole) continue;
      const content = await deps.files.readFile(`${root}/${path}`);
      digests.push(`${deps.sha256(content)} ${path}`);
    }
  };
  await walk('', 0);
  return {
    files: all.filter((path) => path !== main),
    sha256: whole ? deps.sha256(digests.join('\n')) : null,
  };
}

async function listNames({ files }: DiscoverDeps, folder: string): Promise<string[]> {
  try {
    return (await files.list(folder)).filter((name) => !name.startsWith('.'));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(systemCode(error))) return [];
    throw error;
  }
}

/** Whether a folder on the way below `root` is there and is no folder. */
async function isLinked({ files }: DiscoverDeps, root: string, folder: string): Promise<boolean> {
  let here = root;
  for (const part of folder.slice(root.length + 1).split('/')) {
    here += `/${part}`;
    const stat = await files.stat(here);
    if (stat === null) return false;
    if (stat.kind !== 'directory') return true;
  }
  return false;
}
