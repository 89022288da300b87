/**
 * Runs the survival check on a merge: on the merge by machine, and on every merge commit that the task's branch holds,
 * because that is where a resolver drops the work of another without a trace in the final merge.
 *
 * In a resolution, what stands inside conflict hunks is the resolver's to decide, except that where both sides only added,
 * something of each must stay. A line counts as kept when the merge commit or the task's last commit has it, so that
 * others' lines may be changed on purpose, in a commit of their own after a faithful merge.
 */
import { isTroupeError } from '../kernel/index.ts';
import { mergeBase } from './branches.ts';
import { type MergedTree, mergeCommits } from './conflict.ts';
import type { Git } from './git-cli.ts';
import { type ConflictHunk, parseHunks } from './hunks.ts';
import { LIMITS } from './limits.ts';
import { readBlob } from './markers.ts';
import type { Repository } from './repository.ts';
import { splitZ } from './stage.ts';
import {
  droppedSides,
  type FileChanges,
  findLost,
  type LostLines,
  outsideHunks,
  parseLineChanges,
  stillThere,
} from './survival.ts';

export interface SurvivalReport {
  readonly state: 'checked' | 'skipped';
  readonly lost: readonly LostLines[];
}

export async function checkSurvival(
  repo: Repository,
  merge: {
    readonly base: string | null;
    readonly integration: string;
    readonly taskCommit: string;
    readonly merged: string;
  },
): Promise<SurvivalReport> {
  const { git } = repo;
  try {
    const lost: LostLines[] = [];
    if (merge.base !== null) {
      const changes = (to: string): Promise<FileChanges[]> =>
        lineChanges(git, merge.base ?? '', to);
      const ours = await changes(merge.integration);
      const theirs = await changes(merge.taskCommit);
      lost.push(...findLost({ ours, theirs, results: [await changes(merge.merged)] }));
    }
    lost.push(...(await checkResolutions(repo, merge)));
    return { state: 'checked', lost: await withoutDrivers(git, limitLost(lost)) };
  } catch (error) {
    if (isTroupeError(error) && error.code === 'git/output-too-large')
      return { state: 'skipped', lost: [] };
    throw error;
  }
}

async function checkResolutions(
  repo: Repository,
  merge: { readonly integration: string; readonly taskCommit: string },
): Promise<LostLines[]> {
  const range = `${merge.integration}..${merge.taskCommit}`;
  const listed = await repo.git.run({ args: ['rev-list', '--merges', '--parents', range] });
  const lost: LostLines[] = [];
  for (const line of listed.stdout.split('\n')) {
    const [commit = '', mine, other, ...more] = line.split(' ');
    if (mine === undefined || other === undefined || more.length > 0) continue;
    lost.push(...(await checkResolution(repo, { commit, mine, other, ...merge })));
  }
  return lost;
}

/** In a task's merge commit the first parent is the task, the second the integration branch. */
async function checkResolution(
  repo: Repository,
  merge: {
    readonly commit: string;
    readonly mine: string;
    readonly other: string;
    readonly taskCommit: string;
    readonly integration: string;
  },
): Promise<LostLines[]> {
  const { git } = repo;
  const base = await mergeBase(repo, merge.mine, merge.other);
  if (base === null) return [];
  const merged = await mergeCommits(git, merge.other, merge.mine);
  const { hunks, unclear } = await conflictHunks(git, merged);
  const auto = await lineChanges(git, base, merged.tree);
  const results = [
    await lineChanges(git, base, merge.commit),
    await lineChanges(git, base, merge.taskCommit),
  ];
  const certain = auto.filter((file) => !unclear.has(file.path));
  const allHunks = [...hunks.values()].flat();
  const lost = findLost({
    ours: await lineChanges(git, base, merge.other),
    theirs: await lineChanges(git, base, merge.mine),
    results,
    expected: withZeros(outsideHunks(certain, allHunks), auto),
  });
  for (const [path, own] of hunks) {
    lost.push(...droppedSides(own, results).map((side) => ({ path, ...side })));
  }
  return lost.length === 0 ? [] : stillThere(lost, await lineChanges(git, base, merge.integration));
}

/** Lines of files that are left out are expected nowhere. */
function withZeros(
  expected: Map<string, number>,
  auto: readonly FileChanges[],
): Map<string, number> {
  for (const file of auto) {
    for (const line of file.lines.keys()) if (!expected.has(line)) expected.set(line, 0);
  }
  return expected;
}

/** Hunks by file; `unclear`: files in conflict that have none (deleted, renamed, binary). */
async function conflictHunks(
  git: Git,
  merged: MergedTree,
): Promise<{ hunks: Map<string, ConflictHunk[]>; unclear: Set<string> }> {
  const hunks = new Map<string, ConflictHunk[]>();
  const unclear = new Set<string>();
  for (const path of merged.stages.keys()) {
    const found = parseHunks((await readBlob(git, merged.tree, path)) ?? '');
    if (found.length > 0) hunks.set(path, found);
    else unclear.add(path);
  }
  return { hunks, unclear };
}

async function lineChanges(git: Git, from: string, to: string): Promise<FileChanges[]> {
  const patch = await git.run({
    args: [
      'diff-tree',
      '-r',
      '-p',
      '-U0',
      '--no-renames',
      '--no-ext-diff',
      '--no-textconv',
      '--no-color',
      from,
      to,
    ],
    timeoutMs: LIMITS.longTimeoutMs,
    outputMax: LIMITS.survivalMax,
  });
  return parseLineChanges(patch.stdout);
}

function limitLost(lost: readonly LostLines[]): LostLines[] {
  return lost
    .slice(0, LIMITS.conflictFiles)
    .map((file) => ({ ...file, lines: file.lines.slice(0, LIMITS.lostLines) }));
}

/** A file with a merge driver of the user's own (`merge=ours`, `merge=union`) may lose lines as they decided. */
async function withoutDrivers(git: Git, lost: readonly LostLines[]): Promise<LostLines[]> {
  if (lost.length === 0) return [];
  const result = await git.run({
    args: ['check-attr', '-z', '--stdin', 'merge'],
    stdin: lost.map((file) => `${file.path}\0`).join(''),
  });
  const parts = splitZ(result.stdout);
  const plain = new Set(['unspecified', 'set', 'text']);
  return lost.filter((_, index) => plain.has(parts[index * 3 + 2] ?? 'unspecified'));
}
