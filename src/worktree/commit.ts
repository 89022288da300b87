/**
 * The runtime commits, not the model: all changes of a task's tree on its branch. Made of plumbing, so that no hook runs
 * and a kill at any point leaves either the old or the new branch tip; calling again finishes the work.
 *
 * Invariants: W6 nothing carried is ever committed, also when an actor committed it itself.
 */
import {
  branchRef,
  integrationBranch,
  isAncestor,
  mergeBase,
  readRef,
  runOfBranch,
  treeOf,
} from './branches.ts';
import { errors } from './errors.ts';
import type { Git } from './git-cli.ts';
import { LIMITS } from './limits.ts';
import { findMarkers, type MarkerPlace } from './markers.ts';
import { join } from './paths.ts';
import type { Repository } from './repository.ts';
import { excludedChanges, listExcluded, stageAll } from './stage.ts';
import { readText, requireTree, type Tree, treeGit, verifyTree } from './tree-check.ts';

export interface CommitRequest {
  readonly tree: Tree;
  readonly message: string;
  /** Relative paths that were copied or linked in. */
  readonly exclude: readonly string[];
  /** Who did the work, for the trailer; null for a command task. */
  readonly actor: string | null;
}

export type CommitOutcome =
  | { readonly kind: 'committed'; readonly commit: string }
  /** Nothing new; `changed`: the branch has work since it left the integration branch (the actor's own commits). */
  | { readonly kind: 'unchanged'; readonly head: string; readonly changed: boolean }
  | { readonly kind: 'conflict-markers'; readonly files: readonly MarkerPlace[] }
  /** Folders with a `.git` of their own: their content would be lost. */
  | { readonly kind: 'nested-repository'; readonly paths: readonly string[] }
  | { readonly kind: 'wrong-branch'; readonly reason: string };

/** Throws `worktree/tainted` when the tree is not what was made, and `git/…`. Idempotent. */
export async function commitTree(repo: Repository, request: CommitRequest): Promise<CommitOutcome> {
  const { tree } = request;
  const check = await verifyTree(repo, tree);
  if (!check.ok && check.kind === 'branch') return { kind: 'wrong-branch', reason: check.reason };
  const git = await requireTree(repo, tree);
  if (tree.branch === null) return { kind: 'wrong-branch', reason: 'it is a read-only view' };
  const state = await readState(repo, git, { tree, branch: tree.branch });
  const staged = await stageAll(git, { exclude: request.exclude, base: state.base });
  if (staged.nested.length > 0) return { kind: 'nested-repository', paths: staged.nested };
  const content = await git.line(['write-tree']);
  const files = await findMarkers(git, { from: state.base, to: content });
  if (files.length > 0) return { kind: 'conflict-markers', files };
  const parent = await withoutExcluded(repo, { ...state, ...request });
  return finish(repo, git, { ...state, branch: tree.branch, parent, content, request });
}

interface State {
  readonly head: string;
  /** The newest commit of the integration branch that the tree contains. */
  readonly base: string;
  /** A merge in progress. */
  readonly merging: string | null;
}

async function readState(
  repo: Repository,
  git: Git,
  options: { readonly tree: Tree; readonly branch: string },
): Promise<State> {
  const head = await readRef(repo, branchRef(options.branch));
  if (head === null)
    throw errors.tainted(options.tree.path, `its branch ${options.branch} is gone`);
  let merging = (await readText(repo.deps.files, join(git.place.gitDir, 'MERGE_HEAD'))) ?? null;
  // After a kill between the ref and the clean-up, the merge is done already.
  if (merging !== null && (await isAncestor(repo, { ancestor: merging, of: head }))) merging = null;
  return {
    head,
    merging,
    base: await baseOf(repo, { branch: options.branch, commit: merging ?? head }),
  };
}

/** The newest commit of the run's integration branch that `commit` contains. */
export async function baseOf(
  repo: Repository,
  options: { readonly branch: string; readonly commit: string },
): Promise<string> {
  const run = runOfBranch(options.branch);
  const integration = run === null ? null : await readRef(repo, branchRef(integrationBranch(run)));
  if (integration === null) return options.commit;
  return (await mergeBase(repo, options.commit, integration)) ?? options.commit;
}

async function finish(
  repo: Repository,
  git: Git,
  done: State & {
    readonly branch: string;
    readonly parent: string;
    readonly content: string;
    readonly request: CommitRequest;
  },
): Promise<CommitOutcome> {
  const { head, parent, merging, request } = done;
  const same = merging === null && (await treeOf(repo, parent)) === done.content;
  let commit = parent;
  if (!same) {
    const parents = merging === null ? [parent] : [parent, merging];
    const message = withTrailer(request.message, request.actor);
    commit = await writeCommit(git, { tree: done.content, parents, message });
  }
  if (commit !== head) {
    const args = ['update-ref', '-m', 'troupe: commit', branchRef(done.branch), commit, head];
    await git.run({ args });
  }
  await clearMerge(repo, git);
  if (commit !== head) return { kind: 'committed', commit };
  const changed = done.content !== (await treeOf(repo, done.base));
  return { kind: 'unchanged', head, changed };
}

/**
 * When commits of the actor since `base` touch excluded paths, one commit in place of them that does not; else `head`.
 * The branch is the task's own, so its tip may be replaced.
 */
export async function withoutExcluded(
  repo: Repository,
  options: {
    readonly head: string;
    readonly base: string;
    readonly tree: Tree;
    readonly exclude: readonly string[];
  },
): Promise<string> {
  const { head, base, exclude } = options;
  if (exclude.length === 0 || head === base) return head;
  const git = treeGit(repo, options.tree);
  const touching = await git.run({
    args: [
      'log',
      '--format=%H',
      '-n',
      '1',
      '--full-history',
      '-m',
      `${base}..${head}`,
      '--',
      ...exclude.map((path) => `:(top,literal)${path}`),
    ],
  });
  if (touching.stdout.trim() === '') return head;
  const indexFile = join(git.place.gitDir, 'troupe-rewrite-index');
  await repo.deps.files.remove(indexFile);
  try {
    await git.run({ args: ['read-tree', head], indexFile });
    const changes = excludedChanges(
      await listExcluded(git, head, exclude),
      await listExcluded(git, base, exclude),
    );
    const stdin = changes.map((line) => `${line}\0`).join('');
    await git.run({ args: ['update-index', '-z', '--index-info'], stdin, indexFile });
    const tree = (await git.run({ args: ['write-tree'], indexFile })).stdout.trim();
    const messages = await git.run({
      args: ['log', '--reverse', '--no-merges', '--format=%B', `${base}..${head}`],
    });
    const message = messages.stdout.trim() || 'Work of the task';
    return await writeCommit(git, { tree, parents: [base], message });
  } finally {
    await repo.deps.files.remove(indexFile);
  }
}

export async function writeCommit(
  git: Git,
  commit: {
    readonly tree: string;
    readonly parents: readonly string[];
    readonly message: string;
    readonly authorEnv?: Readonly<Record<string, string>>;
  },
): Promise<string> {
  const parents = commit.parents.flatMap((parent) => ['-p', parent]);
  const result = await git.run({
    args: ['commit-tree', commit.tree, ...parents, '-F', '-'],
    // git takes no NUL in a message, and a model may write anything.
    stdin: `${commit.message.replaceAll('\0', '').trimEnd()}\n`,
    authorEnv: commit.authorEnv,
  });
  return result.stdout.trim();
}

/** The message with a `Co-authored-by` trailer of its actor, in the block of trailers it may have already. */
export function withTrailer(message: string, actor: string | null): string {
  const text = message.trim();
  if (actor === null) return text;
  const trailer = `Co-authored-by: ${actor} (Troupe) <${actor}@troupe.local>`;
  if (text.includes(trailer)) return text;
  const last = text.split(/\n\s*\n/).at(-1) ?? '';
  const isBlock =
    text.includes('\n\n') && last.split('\n').every((line) => /^[\w-]+: \S/.test(line));
  return `${text}${isBlock ? '\n' : '\n\n'}${trailer}`;
}

/** What git leaves in the admin folder while a merge or pick is open; taken away when the runtime has committed. */
const OPEN_MERGE = [
  'MERGE_HEAD',
  'MERGE_MODE',
  'MERGE_MSG',
  'AUTO_MERGE',
  'SQUASH_MSG',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
];

async function clearMerge(repo: Repository, git: Git): Promise<void> {
  for (const name of OPEN_MERGE) await repo.deps.files.remove(join(git.place.gitDir, name));
}

/**
 * Brings a tree back to `commit` after gates ran in it: tracked files, untracked ones that are not ignored, and commits
 * that a gate made. What is excluded stays. Throws `worktree/tainted`.
 */
export async function discardChanges(
  repo: Repository,
  options: { readonly tree: Tree; readonly commit: string; readonly exclude: readonly string[] },
): Promise<void> {
  const { tree, commit } = options;
  const git = await requireTree(repo, tree, { anyBranch: true });
  await putBackHead(git, tree, commit);
  await clearMerge(repo, git);
  const kept = options.exclude.map((path) => `:(top,exclude,literal)${path}`);
  const timeoutMs = LIMITS.longTimeoutMs;
  // Exit 1: neither the commit nor the index has any file.
  const args = ['restore', `--source=${commit}`, '--staged', '--worktree', '--', ':(top)', ...kept];
  const restored = await git.run({ args, codes: [0, 1], timeoutMs });
  if (restored.code === 1 && !restored.stderr.includes('did not match any file')) {
    throw errors.gitFailed('restore', 1, restored.stderr);
  }
  await git.run({ args: ['clean', '-ffdq', '--', ':(top)', ...kept], timeoutMs });
}

async function putBackHead(git: Git, tree: Tree, commit: string): Promise<void> {
  const reason = ['-m', 'troupe: drop changes of gates'];
  if (tree.branch === null) {
    await git.run({ args: ['update-ref', '--no-deref', ...reason, 'HEAD', commit] });
    return;
  }
  const ref = branchRef(tree.branch);
  await git.run({ args: ['symbolic-ref', ...reason, 'HEAD', ref] });
  await git.run({ args: ['update-ref', ...reason, ref, commit] });
}
