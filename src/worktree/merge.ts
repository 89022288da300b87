/**
 * The merge queue's one step: a task's commit and the integration branch become a new commit, as objects only. Nothing is
 * checked out and no ref moves; the caller runs its gates on the commit, writes its intent, and then calls `advanceRef`.
 *
 * Invariants: W11 a merge that loses an added line is reported; W12 the new commit is made from exactly the two commits
 * that the caller named.
 */
import { branchRef, checkouts, isAncestor, mergeBase, readRef, treeOf } from './branches.ts';
import { writeCommit } from './commit.ts';
import { type ConflictFile, conflictFiles, mergeCommits } from './conflict.ts';
import { errors } from './errors.ts';
import type { Git } from './git-cli.ts';
import { LIMITS } from './limits.ts';
import type { Repository } from './repository.ts';
import type { LostLines } from './survival.ts';
import { checkSurvival } from './survival-check.ts';

export type MergeStyle = 'merge' | 'squash' | 'rebase';

export interface MergeRequest {
  readonly taskCommit: string;
  /** Commit of the integration branch to merge into. */
  readonly integration: string;
  readonly style: MergeStyle;
  readonly message: string;
  /** Files whose lost lines were accepted by a person. */
  readonly allowLost?: readonly string[] | undefined;
}

export type MergeOutcome =
  | {
      readonly kind: 'merged-tree';
      readonly tree: string;
      readonly newCommit: string;
      readonly oldIntegration: string;
      /** `skipped`: the differences were too large to be looked at. */
      readonly survival: 'checked' | 'skipped';
    }
  | {
      readonly kind: 'conflict';
      readonly files: readonly ConflictFile[];
      /** Null: the two have no common history. */
      readonly base: string | null;
      readonly ours: string;
      readonly theirs: string;
    }
  | { readonly kind: 'lost-lines'; readonly files: readonly LostLines[] }
  /** The integration branch has all of it already. */
  | { readonly kind: 'nothing' };

/**
 * Idempotent in effect: a second call makes another commit object with the same content. Throws `worktree/checked-out`
 * when somebody has the integration branch checked out.
 */
export async function mergeTask(repo: Repository, request: MergeRequest): Promise<MergeOutcome> {
  const { integration, taskCommit } = request;
  if (await isAncestor(repo, { ancestor: taskCommit, of: integration })) return { kind: 'nothing' };
  await requireFree(repo, integration);
  const git = repo.git;
  const base = await mergeBase(repo, integration, taskCommit);
  const merged = await mergeCommits(git, integration, taskCommit);
  if (!merged.clean) {
    const files = await conflictFiles(git, merged);
    return { kind: 'conflict', files, base, ours: integration, theirs: taskCommit };
  }
  const survival = await checkSurvival(repo, {
    base,
    integration,
    taskCommit,
    merged: merged.tree,
  });
  const lost = survival.lost.filter((file) => request.allowLost?.includes(file.path) !== true);
  if (lost.length > 0) return { kind: 'lost-lines', files: lost };
  if (merged.tree === (await treeOf(repo, integration))) return { kind: 'nothing' };
  const newCommit = await makeCommit(repo, { ...request, tree: merged.tree });
  return {
    kind: 'merged-tree',
    tree: merged.tree,
    newCommit,
    oldIntegration: integration,
    survival: survival.state,
  };
}

/** The integration branch that is at `integration` is checked out nowhere. */
async function requireFree(repo: Repository, integration: string): Promise<void> {
  for (const { branch, path } of await checkouts(repo)) {
    const isIntegration = /^troupe\/[^/]+\/main$/.test(branch);
    if (isIntegration && (await readRef(repo, branchRef(branch))) === integration) {
      throw errors.checkedOut(branch, path);
    }
  }
}

async function makeCommit(
  repo: Repository,
  request: MergeRequest & { readonly tree: string },
): Promise<string> {
  const { integration, taskCommit, tree, message } = request;
  switch (request.style) {
    case 'merge':
      return writeCommit(repo.git, { tree, parents: [integration, taskCommit], message });
    case 'squash':
      return writeCommit(repo.git, { tree, parents: [integration], message });
    case 'rebase': {
      const replayed = await replay(repo, request);
      return replayed ?? writeCommit(repo.git, { tree, parents: [integration], message });
    }
  }
}

/**
 * The task's commits again on top of the integration branch, or null when they cannot stand there one by one (merges
 * among them, a conflict on the way, another end result): then one commit holds the whole.
 */
async function replay(
  repo: Repository,
  request: MergeRequest & { readonly tree: string },
): Promise<string | null> {
  const { git } = repo;
  const { integration, taskCommit } = request;
  const range = `${integration}..${taskCommit}`;
  const listed = await git.run({
    args: ['rev-list', '--reverse', '--topo-order', '--parents', range],
  });
  let tip = integration;
  for (const line of listed.stdout.split('\n')) {
    if (line === '') continue;
    const [commit = '', parent, ...others] = line.split(' ');
    if (parent === undefined || others.length > 0) return null;
    const next = parent === tip ? commit : await pick(repo, { commit, parent, onto: tip });
    if (next === null) return null;
    tip = next;
  }
  return (await treeOf(repo, tip)) === request.tree ? tip : null;
}

/** One commit on another parent: a merge whose base is its old parent, made of commits that exist only for it. */
async function pick(
  repo: Repository,
  options: { readonly commit: string; readonly parent: string; readonly onto: string },
): Promise<string | null> {
  const { git } = repo;
  const base = await bare(repo, options.parent, []);
  const ours = await bare(repo, options.onto, [base]);
  const theirs = await bare(repo, options.commit, [base]);
  const merged = await mergeCommits(git, ours, theirs);
  if (!merged.clean) return null;
  // Its changes are there already.
  if (merged.tree === (await treeOf(repo, options.onto))) return options.onto;
  const original = await readAuthor(git, options.commit);
  return writeCommit(git, { tree: merged.tree, parents: [options.onto], ...original });
}

async function bare(repo: Repository, commit: string, parents: string[]): Promise<string> {
  return writeCommit(repo.git, { tree: await treeOf(repo, commit), parents, message: 'replay' });
}

async function readAuthor(
  git: Git,
  commit: string,
): Promise<{ message: string; authorEnv: Record<string, string> }> {
  const shown = await git.run({
    args: [
      'log',
      '-1',
      '--no-show-signature',
      '--format=%an%x00%ae%x00%ad%x00%B',
      '--date=raw',
      commit,
    ],
    outputMax: LIMITS.shortOutputMax,
  });
  const [name = '', email = '', date = '', message = ''] = shown.stdout.split('\0');
  return {
    message: message.trim(),
    authorEnv: { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date },
  };
}
