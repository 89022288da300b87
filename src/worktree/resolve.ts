/**
 * A conflict goes back to the task's owner: the integration branch is merged into the task's own tree, conflict markers and
 * `MERGE_HEAD` stay, the owner edits, and `commitTree` makes the merge commit.
 */
import { mergeBase } from './branches.ts';
import { type ConflictFile, conflictFiles, MERGE_CONFIG, mergeCommits } from './conflict.ts';
import { errors } from './errors.ts';
import type { Git } from './git-cli.ts';
import { readGit } from './git-read.ts';
import { LIMITS } from './limits.ts';
import { join } from './paths.ts';
import type { Repository } from './repository.ts';
import { takeSnapshot } from './save.ts';
import { splitZ } from './stage.ts';
import { readText, requireTree, type Tree } from './tree-check.ts';

export type ResolutionOutcome =
  /** Markers are in the files; `mergeHead` is being merged. */
  | {
      readonly kind: 'conflicts';
      readonly mergeHead: string;
      /** What both sides began from; null: they have no common history. */
      readonly base: string | null;
      readonly files: readonly ConflictFile[];
    }
  /** Merged without a conflict; the merge commit is still to be made. */
  | { readonly kind: 'clean'; readonly mergeHead: string }
  | { readonly kind: 'up-to-date' }
  /** Uncommitted changes: `commitTree` first. */
  | { readonly kind: 'dirty'; readonly files: readonly string[] };

/** Idempotent: with a merge open already, it tells that one. Throws `worktree/tainted`. */
export async function startConflictResolution(
  repo: Repository,
  options: {
    readonly tree: Tree;
    /** Commit of the integration branch. */
    readonly integration: string;
    readonly exclude: readonly string[];
  },
): Promise<ResolutionOutcome> {
  const { tree, integration } = options;
  const git = await requireTree(repo, tree);
  const open = await readText(repo.deps.files, join(tree.adminDir, 'MERGE_HEAD'));
  if (open !== null) return describeOpen(repo, git, open);
  const snapshot = await takeSnapshot(repo, options);
  if (snapshot?.dirty === true && snapshot.head !== null) {
    const args = [
      'diff-tree',
      '-r',
      '-z',
      '--name-only',
      '--no-renames',
      snapshot.head,
      snapshot.content,
    ];
    return { kind: 'dirty', files: splitZ(await readGit(git, args)) };
  }
  const flags = [
    '--no-commit',
    '--no-ff',
    '--no-edit',
    '--no-stat',
    '--no-squash',
    '--no-autostash',
    '--no-verify-signatures',
    '-q',
  ];
  const message = `Merge the integration branch into ${tree.branch ?? 'the tree'}`;
  const result = await git.run({
    args: ['merge', ...flags, '-s', 'ort', '-m', message, integration],
    config: MERGE_CONFIG,
    codes: [0, 1],
    timeoutMs: LIMITS.longTimeoutMs,
  });
  const started = await readText(repo.deps.files, join(tree.adminDir, 'MERGE_HEAD'));
  if (started !== null) return describeOpen(repo, git, started);
  if (result.code === 0) return { kind: 'up-to-date' };
  throw errors.gitFailed('merge', result.code, `${result.stdout}\n${result.stderr}`);
}

async function describeOpen(
  repo: Repository,
  git: Git,
  mergeHead: string,
): Promise<ResolutionOutcome> {
  const head = await git.line(['rev-parse', '--verify', 'HEAD']);
  const merged = await mergeCommits(git, head, mergeHead);
  if (merged.clean) return { kind: 'clean', mergeHead };
  const base = await mergeBase(repo, head, mergeHead);
  return { kind: 'conflicts', mergeHead, base, files: await conflictFiles(git, merged) };
}
