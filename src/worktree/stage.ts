/**
 * Brings an index to what a tree's files are: tracked and untracked, without what is ignored or carried in. The lists are
 * made here and handed to git by exact name, because an exclude pathspec that meets an ignored file is an error in
 * `git add`, and because names may hold anything.
 *
 * Invariants: W6 an excluded path keeps the state it has in `base`, whatever an actor staged or committed.
 */
import type { Git } from './git-cli.ts';
import { LIMITS } from './limits.ts';
import { isExcluded } from './paths.ts';

export interface StageOptions {
  readonly exclude: readonly string[];
  /** Commit whose entries hold for the excluded paths. */
  readonly base: string;
  /** Another index than the tree's own. */
  readonly indexFile?: string | undefined;
}

/** Untracked folders that are repositories of their own: their content cannot be staged. */
export interface Staged {
  readonly nested: readonly string[];
}

/** What a kill in the middle of a file tool's write leaves beside the file (`platform/safe-open.ts`); nobody's work. */
const CUT_WRITE = /(?:^|\/)\.troupe-[0-9a-f]{16}\.tmp$/;

export async function stageAll(git: Git, options: StageOptions): Promise<Staged> {
  const { indexFile } = options;
  const wanted = (path: string): boolean => !isExcluded(path, options.exclude);
  const deleted = (await list(git, options, ['-d'])).filter(wanted);
  const gone = new Set(deleted);
  const modified = (await list(git, options, ['-m'])).filter((path) => !gone.has(path));
  const others = (await list(git, options, ['-o', '--exclude-standard'])).filter(
    (path) => !CUT_WRITE.test(path),
  );
  const nested = others.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1));
  const added = [...modified, ...others.filter((path) => !path.endsWith('/'))].filter(wanted);
  // First what is gone: a file may stand where a folder was.
  await update(git, { indexFile, flags: ['--force-remove'], paths: deleted });
  await update(git, { indexFile, flags: ['--add', '--replace', '--remove'], paths: added });
  await restoreExcluded(git, options);
  return { nested: nested.filter(wanted) };
}

async function list(git: Git, options: StageOptions, flags: readonly string[]): Promise<string[]> {
  const result = await git.run({
    args: ['ls-files', '-z', ...flags],
    indexFile: options.indexFile,
    timeoutMs: LIMITS.longTimeoutMs,
  });
  return [...new Set(splitZ(result.stdout))];
}

export function splitZ(text: string): string[] {
  return text.split('\0').filter((part) => part !== '');
}

async function update(
  git: Git,
  options: {
    readonly indexFile: string | undefined;
    readonly flags: readonly string[];
    readonly paths: readonly string[];
  },
): Promise<void> {
  if (options.paths.length === 0) return;
  await git.run({
    args: ['update-index', ...options.flags, '-z', '--stdin'],
    stdin: options.paths.map((path) => `${path}\0`).join(''),
    indexFile: options.indexFile,
    timeoutMs: LIMITS.longTimeoutMs,
  });
}

/** W6: gives the excluded paths in the index the entries that `base` has. */
export async function restoreExcluded(git: Git, options: StageOptions): Promise<void> {
  if (options.exclude.length === 0) return;
  const { indexFile } = options;
  const specs = options.exclude.map((path) => `:(top,literal)${path}`);
  const staged = await git.run({ args: ['ls-files', '-z', '-s', '--', ...specs], indexFile });
  const kept = await listExcluded(git, options.base, options.exclude);
  const lines = excludedChanges(parseStaged(staged.stdout), kept);
  if (lines.length === 0) return;
  await git.run({
    args: ['update-index', '-z', '--index-info'],
    stdin: lines.map((line) => `${line}\0`).join(''),
    indexFile,
  });
}

/** Entries of a commit at and under the excluded paths: `mode object` by path. */
export async function listExcluded(
  git: Git,
  commit: string,
  exclude: readonly string[],
): Promise<Map<string, string>> {
  if (exclude.length === 0) return new Map();
  const result = await git.run({
    args: ['ls-tree', '-r', '-z', '--full-tree', commit, '--', ...exclude],
  });
  const entries = new Map<string, string>();
  for (const entry of splitZ(result.stdout)) {
    const match = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(entry);
    if (match !== null) entries.set(match[3] ?? '', `${match[1] ?? ''} ${match[2] ?? ''}`);
  }
  return entries;
}

/** `mode object` by path from `ls-files -s -z`; an unmerged path has the value ''. */
export function parseStaged(text: string): Map<string, string> {
  const entries = new Map<string, string>();
  for (const entry of splitZ(text)) {
    const match = /^(\d+) ([0-9a-f]+) (\d)\t(.*)$/s.exec(entry);
    if (match === null) continue;
    const [, mode = '', object = '', stage = '', path = ''] = match;
    entries.set(path, stage === '0' ? `${mode} ${object}` : '');
  }
  return entries;
}

/** Lines for `update-index --index-info` that turn `staged` into `kept`. */
export function excludedChanges(
  staged: ReadonlyMap<string, string>,
  kept: ReadonlyMap<string, string>,
): string[] {
  const lines: string[] = [];
  for (const [path, entry] of staged) {
    if (kept.get(path) === entry) continue;
    const length = [...kept.values(), ...staged.values()][0]?.split(' ')[1]?.length ?? 40;
    lines.push(`0 ${'0'.repeat(length)}\t${path}`);
  }
  for (const [path, entry] of kept) {
    if (staged.get(path) !== entry) lines.push(`${entry}\t${path}`);
  }
  return lines;
}
