/**
 * Makes the trees that actors work in: one for each task on a branch of its own, and detached views of the integration
 * branch for those who only read. Both lie where the caller says, outside the user's checkout.
 *
 * Invariants: W2 one metadata operation at a time, files are written beside it (one operation a tree); W5 a tree is used only while it is what was made; W8 `fresh` saves what
 * it takes away; W10 a tree is never the user's
 * checkout nor inside the git directory.
 */
import { branchRef, mergeBase, moveRef, readIntegration, readRef, taskBranch } from './branches.ts';
import { type CarryRequest, carriedPaths, carry, planCarry } from './carry.ts';
import { errors } from './errors.ts';
import { readGit } from './git-read.ts';
import { LIMITS } from './limits.ts';
import { beginTree, type Cone, canonical, finishTree } from './make-tree.ts';
import { parseTreeList, type TreeInfo } from './porcelain.ts';
import { PARALLEL } from './ready.ts';
import { removeUnlocked } from './remove.ts';
import type { Repository } from './repository.ts';
import { saveCommit, saveUnlocked } from './save.ts';
import { readRegistrations, requireTree, type Tree } from './tree-check.ts';

export interface TaskTreeRequest extends CarryRequest {
  readonly run: string;
  readonly task: string;
  /** Absolute; its parent is made. */
  readonly path: string;
  /** Save what an earlier attempt left, then start again from the integration branch. */
  readonly fresh?: boolean | undefined;
  /** Folders of the cone; all files when it is empty. It holds for a tree that is made now. */
  readonly sparse?: readonly string[] | undefined;
  /**
   * Asked for a clean tree of the pool when one must be made. Whoever gives one has recorded whose it is; it goes to this
   * task or is gone.
   */
  readonly ready?: (() => Promise<Tree | null>) | undefined;
}

export interface TaskTree extends Tree {
  readonly branch: string;
  /** The commit of the integration branch that the tree starts from (or, continued, contains). */
  readonly start: string;
  /** Tip of the branch. */
  readonly head: string;
  /** The branch has commits of an earlier attempt. */
  readonly continued: boolean;
  /** Carried in: pass it to commit, save, discard and remove. */
  readonly exclude: readonly string[];
  /** Saved refs that `fresh` made. */
  readonly saved: readonly string[];
}

/**
 * A tree for a task, from the tip of the integration branch, or from the task's branch when an earlier attempt left one.
 * Idempotent: called again after a kill it finishes or reuses what is there. Throws `worktree/path-taken`,
 * `worktree/tainted`, `worktree/no-integration-branch` and the carry errors (before anything is made).
 */
export async function addTaskTree(repo: Repository, request: TaskTreeRequest): Promise<TaskTree> {
  const plan = await planCarry(repo, request);
  const exclude = carriedPaths(request);
  const branch = taskBranch(request.run, request.task);
  const path = await canonical(repo, request.path);
  return repo.lock.at(path, async () => {
    const begun = await repo.lock.run(`add ${branch}`, async () => {
      const integration = await readIntegration(repo, request.run);
      const saved =
        request.fresh === true
          ? await startAgain(repo, { ...request, path, exclude, branch, integration })
          : [];
      const head = await requireBranch(repo, { branch, integration });
      const { sparse, ready } = request;
      const at = { path, branch, at: head, sparse, ready };
      const made = await beginTree(repo, at);
      const start = (await mergeBase(repo, head, integration)) ?? integration;
      return { made, tree: { branch, start, head, continued: head !== start, exclude, saved } };
    });
    const tree = { ...(await finishTree(repo, begun.made)), ...begun.tree };
    await carry(repo, tree, plan);
    return tree;
  });
}

export interface ViewRequest {
  readonly run: string;
  readonly name: string;
  readonly path: string;
  readonly sparse?: Cone | undefined;
}

/** A detached tree at the tip of the integration branch, for reading. Idempotent. */
export async function addViewTree(
  repo: Repository,
  request: ViewRequest,
): Promise<Tree & { readonly head: string }> {
  const path = await canonical(repo, request.path);
  return repo.lock.at(path, async () => {
    const head = await readIntegration(repo, request.run);
    const made = await detachedTree(repo, { path, at: head, sparse: request.sparse });
    return { ...made, head };
  });
}

/** Detached at a commit; one that was there already is put back to it. */
async function detachedTree(
  repo: Repository,
  request: { readonly path: string; readonly at: string; readonly sparse?: Cone | undefined },
): Promise<Tree> {
  const begun = await repo.lock.run(`add ${request.path}`, () =>
    beginTree(repo, { ...request, branch: null }),
  );
  const made = await finishTree(repo, begun);
  if (!begun.empty) await refreshUnlocked(repo, made, request.at);
  return made;
}

/**
 * A detached tree at any commit, with copies and links, for one command of the runtime (a gate on a merged tree). Nothing
 * in it is ever kept. Idempotent: what an earlier call left there is put back to the commit.
 */
export async function addScratchTree(
  repo: Repository,
  request: CarryRequest & {
    readonly name: string;
    readonly path: string;
    readonly commit: string;
    readonly sparse?: Cone | undefined;
  },
): Promise<Tree & { readonly exclude: readonly string[] }> {
  const plan = await planCarry(repo, request);
  const path = await canonical(repo, request.path);
  return repo.lock.at(path, async () => {
    const tree = await detachedTree(repo, { path, at: request.commit, sparse: request.sparse });
    await carry(repo, tree, plan);
    return { ...tree, exclude: carriedPaths(request) };
  });
}

/** A clean tree at a commit that waits for a task (`ready.ts`). Idempotent. */
export async function addReadyTree(
  repo: Repository,
  request: { readonly path: string; readonly commit: string },
): Promise<Tree> {
  const path = await canonical(repo, request.path);
  return repo.lock.at(path, async () => {
    const at = { path, branch: null, at: request.commit };
    return finishTree(repo, await repo.lock.run(`make ready ${path}`, () => beginTree(repo, at)));
  });
}

/** Moves a view to the tip of the integration branch; nothing that was written in it is kept. */
export async function refreshViewTree(
  repo: Repository,
  options: { readonly run: string; readonly tree: Tree },
): Promise<{ readonly head: string }> {
  return repo.lock.at(options.tree.path, async () => {
    const head = await readIntegration(repo, options.run);
    return { head: await refreshUnlocked(repo, options.tree, head) };
  });
}

async function refreshUnlocked(repo: Repository, tree: Tree, head: string): Promise<string> {
  // Whatever branch an actor went to, HEAD is detached again and no branch moves.
  const git = await requireTree(repo, tree, { anyBranch: true });
  const timeoutMs = LIMITS.longTimeoutMs;
  const config = [...PARALLEL];
  await git.run({ args: ['checkout', '-f', '-q', '--detach', head, '--'], config, timeoutMs });
  await git.run({ args: ['clean', '-ffdxq'], timeoutMs });
  return head;
}

/** All trees of the repository, the user's own too. */
export async function listTrees(repo: Repository): Promise<TreeInfo[]> {
  return parseTreeList(await readGit(repo.git, ['worktree', 'list', '--porcelain', '-z']));
}

/** Tip of the task's branch, made at the integration branch when it is not there. */
async function requireBranch(
  repo: Repository,
  options: { readonly branch: string; readonly integration: string },
): Promise<string> {
  const ref = branchRef(options.branch);
  const tip = await readRef(repo, ref);
  if (tip !== null) return tip;
  await moveRef(repo, { ref, to: options.integration, from: null, reason: 'troupe: task starts' });
  return options.integration;
}

/** W8: saves tree and branch of the earlier attempt, removes the tree, moves the branch back. */
async function startAgain(
  repo: Repository,
  options: TaskTreeRequest & {
    readonly exclude: readonly string[];
    readonly branch: string;
    readonly integration: string;
  },
): Promise<string[]> {
  const { run, task, path, branch, exclude, integration } = options;
  const saved: string[] = [];
  const registered = (await readRegistrations(repo)).find((tree) => tree.path === path);
  if (registered !== undefined && !registered.unfinished) {
    const tree: Tree = { path, adminDir: registered.adminDir, branch };
    const reason = 'a new attempt starts from the beginning';
    const kept = await saveUnlocked(repo, { run, task, tree, exclude, reason });
    if (kept !== null) saved.push(kept.ref);
    const removed = await removeUnlocked(repo, { tree, exclude, saved: kept?.commit });
    if (removed.kind === 'refused') throw errors.pathTaken(path, removed.detail);
    if (removed.kind === 'busy') throw errors.pathTaken(path, removed.detail);
  }
  const ref = branchRef(branch);
  const tip = await readRef(repo, ref);
  if (tip === null || tip === integration) return saved;
  const base = await mergeBase(repo, tip, integration);
  if (base !== tip) saved.push(await saveCommit(repo, { run, task, commit: tip }));
  await moveRef(repo, { ref, to: integration, from: tip, reason: 'troupe: new attempt' });
  return saved;
}
