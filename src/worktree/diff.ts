/** What changed between two commits or trees; no external diff program and no textconv runs. */

import type { DiffFile } from '../protocol/views.ts';
import type { Git } from './git-cli.ts';
import { readGit } from './git-read.ts';
import { LIMITS } from './limits.ts';
import type { Repository } from './repository.ts';

export type { DiffFile } from '../protocol/views.ts';

export interface DiffRange {
  /** Commit or tree. */
  readonly from: string;
  readonly to: string;
}

export async function diffSummary(repo: Repository, range: DiffRange): Promise<DiffFile[]> {
  const args = ['diff-tree', '-r', '-z', '-M', '--raw', '--numstat', ...SAFE, range.from, range.to];
  return parseSummary(await readGit(repo.git, args));
}

/** A patch, or with `stat` the table of changed files. Throws `git/output-too-large`. */
export async function diffText(
  repo: Repository,
  range: DiffRange & { readonly stat?: boolean | undefined; readonly color?: boolean | undefined },
): Promise<string> {
  const form = range.stat === true ? ['--stat=120', '--summary'] : ['-p'];
  const color = range.color === true ? '--color=always' : '--no-color';
  const result = await repo.git.run({
    args: ['diff-tree', '-r', '-M', ...form, color, ...SAFE, range.from, range.to],
    timeoutMs: LIMITS.longTimeoutMs,
  });
  return result.stdout;
}

/** Paths that differ, without renames. */
export async function changedPaths(git: Git, range: DiffRange): Promise<ChangedPath[]> {
  const args = ['diff-tree', '-r', '-z', '--name-status', '--no-renames', range.from, range.to];
  const parts = (await git.run({ args, timeoutMs: LIMITS.longTimeoutMs })).stdout.split('\0');
  const paths: ChangedPath[] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    paths.push({ path: parts[index + 1] ?? '', added: parts[index] === 'A' });
  }
  return paths;
}

export interface ChangedPath {
  readonly path: string;
  readonly added: boolean;
}

const SAFE = ['--no-ext-diff', '--no-textconv', '--src-prefix=a/', '--dst-prefix=b/'];

const STATUS: Readonly<Record<string, DiffFile['status']>> = {
  A: 'added',
  D: 'deleted',
  M: 'modified',
  R: 'renamed',
  T: 'type-changed',
};

/** `--raw --numstat -z`: first all raw entries, then all counts, in the same order. */
export function parseSummary(text: string): DiffFile[] {
  const parts = text.split('\0');
  const files: { path: string; oldPath: string | null; status: DiffFile['status'] }[] = [];
  let index = 0;
  while (parts[index]?.startsWith(':') === true) {
    const letter = parts[index]?.split(' ').at(-1)?.[0] ?? 'M';
    const renamed = letter === 'R' || letter === 'C';
    const first = parts[index + 1] ?? '';
    files.push({
      path: renamed ? (parts[index + 2] ?? '') : first,
      oldPath: renamed ? first : null,
      status: STATUS[letter] ?? 'modified',
    });
    index += renamed ? 3 : 2;
  }
  return files.map((file) => {
    const [added = '', removed = '', name = ''] = (parts[index] ?? '').split('\t');
    // A rename has its two names in the parts that follow.
    index += name === '' ? 3 : 1;
    return { ...file, added: count(added), removed: count(removed) };
  });
}

function count(text: string): number | null {
  return text === '-' || text === '' ? null : Number(text);
}
