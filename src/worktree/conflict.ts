/** Merging two commits without a checkout, and telling a conflict so that the task's owner can resolve it. */
import { errors } from './errors.ts';
import type { Git } from './git-cli.ts';
import { type ConflictHunk, parseHunks } from './hunks.ts';
import { LIMITS } from './limits.ts';
import { readBlob } from './markers.ts';
import { type MergeReport, parseMergeTree } from './porcelain.ts';
import { isObjectId } from './repository.ts';

export interface ConflictFile {
  readonly path: string;
  /** `content`, `add/add`, `modify/delete`, `rename/delete`, `binary` … */
  readonly kind: string;
  /** git's own sentence. */
  readonly text: string;
  readonly hunks: readonly ConflictHunk[];
  /** Hunks, or lines of them, were left out for size. */
  readonly cut: boolean;
}

/** diff3 shows what both sides started from, without which a model cannot tell an addition from a change. */
export const MERGE_CONFIG: readonly string[] = [
  'merge.conflictStyle=diff3',
  'merge.directoryRenames=false',
];

export interface MergedTree extends MergeReport {
  readonly clean: boolean;
}

/** W11 is not checked here. Throws `git/failed` for anything but a clean merge or a conflict. */
export async function mergeCommits(git: Git, ours: string, theirs: string): Promise<MergedTree> {
  const result = await git.run({
    args: ['merge-tree', '--write-tree', '-z', '--messages', ours, theirs],
    config: MERGE_CONFIG,
    codes: [0, 1],
    timeoutMs: LIMITS.longTimeoutMs,
  });
  const report = parseMergeTree(result.stdout);
  // A commit that cannot be read exits 1 too, and prints no tree.
  if (!isObjectId(report.tree)) throw errors.gitFailed('merge-tree', result.code, result.stderr);
  return { ...report, clean: result.code === 0 };
}

export async function conflictFiles(git: Git, merged: MergeReport): Promise<ConflictFile[]> {
  const paths = [...conflictPaths(merged)].slice(0, LIMITS.conflictFiles);
  const files: ConflictFile[] = [];
  for (const path of paths) {
    const content = (await readBlob(git, merged.tree, path)) ?? '';
    files.push(describeConflict(merged, path, content));
  }
  return files;
}

function conflictPaths(merged: MergeReport): Set<string> {
  const paths = new Set(merged.stages.keys());
  if (paths.size > 0) return paths;
  for (const message of merged.messages) {
    if (message.type.startsWith('CONFLICT')) for (const path of message.paths) paths.add(path);
  }
  return paths;
}

export function describeConflict(merged: MergeReport, path: string, content: string): ConflictFile {
  const messages = merged.messages.filter(
    (message) => message.type.startsWith('CONFLICT') && message.paths.includes(path),
  );
  const text = messages.map((message) => message.text).join(' ');
  const stages = merged.stages.get(path) ?? [];
  const kind = /CONFLICT \(([^)]+)\)/.exec(text)?.[1] ?? kindOfStages(stages);
  return { path, kind, text, ...limitHunks(parseHunks(content)) };
}

/** The kind of a conflict by which stages are there, for when git says nothing. */
export function kindOfStages(stages: readonly number[]): string {
  if (!stages.includes(1)) return stages.length === 2 ? 'add/add' : 'rename';
  return stages.length === 3 ? 'content' : 'modify/delete';
}

export function limitHunks(hunks: readonly ConflictHunk[]): {
  hunks: ConflictHunk[];
  cut: boolean;
} {
  let cut = hunks.length > LIMITS.conflictHunks;
  const short = (lines: readonly string[]): readonly string[] => {
    if (lines.length <= LIMITS.conflictLines) return lines;
    cut = true;
    return lines.slice(0, LIMITS.conflictLines);
  };
  const shown = hunks.slice(0, LIMITS.conflictHunks).map((hunk) => ({
    line: hunk.line,
    ours: short(hunk.ours),
    base: hunk.base === null ? null : short(hunk.base),
    theirs: short(hunk.theirs),
  }));
  return { hunks: shown, cut };
}
