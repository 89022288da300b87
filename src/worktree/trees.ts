/**
 * Makes the trees that actors work in: one for each task on a branch of its own, and detached views of the integration
 * branch for those who only read. Both lie where the caller says, outside the user's checkout.
 *
 * Invariants: W2 one metadata operation at a time; W5 a tree is used only while it is what was made; W8 `fresh` saves what
 * it takes away; W10 a tree is never the user's
 * checkout nor inside the git directory.
 */
import {
  branchRef,
  mergeBase,
  moveRef,
  readIntegration,
  readRef,
  requireNotCheckedOut,
  taskBranch,
} from './branches.ts';
import { type CarryRequest, carriedPaths, carry, planCarry } from './carry.ts';
import { errors } from './errors.ts';
import { readGit } from './git-read.ts';
import { realPath } from './host.ts';
import { LIMITS } from './limits.ts';
import { isWithin, join, nameOf, parentOf } from './paths.ts';
import { parseTreeList, type TreeInfo } from './porcelain.ts';
import { removeUnlocked } from './remove.ts';
import type { Repository } from './repository.ts';
import { saveCommit, saveUnlocked } from './save.ts';
import {
  type Registration,
  readPointer,
  readRegistrations,
  requireTree,
  type Tree,
} from './tree-check.ts';

export interface TaskTreeRequest extends CarryRequest {
  readonly run: string;
  readonly task: string;
  /** Absolute; its parent is made. */
  readonly path: string;
  /** Save what an earlier attempt left, then start again from the integration branch. */
  readonly fresh?: boolean | undefined;
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
  const tree = await repo.lock.run(`add ${branch}`, async () => {
    const integration = await readIntegration(repo, request.run);
    const saved =
      request.fresh === true
        ? await startAgain(repo, { ...request, path, exclude, branch, integration })
        : [];
    const head = await requireBranch(repo, { branch, integration });
    const made = await makeTree(repo, { path, branch, at: branch });
    const start = (await mergeBase(repo, head, integration)) ?? integration;
    return { ...made, branch, start, head, continued: head !== start, exclude, saved };
  });
  await carry(repo, tree, plan);
  return tree;
}

export interface ViewRequest {
  readonly run: string;
  readonly name: string;
  readonly path: string;
}

/** A detached tree at the tip of the integration branch, for reading. Idempotent. */
export async function addViewTree(
  repo: Repository,
  request: ViewRequest,
): Promise<Tree & { readonly head: string }> {
  const path = await canonical(repo, request.path);
  return repo.lock.run(`add view ${request.name}`, async () => {
    const head = await readIntegration(repo, request.run);
    const made = await makeTree(repo, { path, branch: null, at: head });
    return { ...made, head: await refreshUnlocked(repo, made, head) };
  });
}

/**
 * A detached tree at any commit, with copies and links, for one command of the runtime (a gate on a merged tree). Nothing
 * in it is ever kept. Idempotent: what an earlier call left there is put back to the commit.
 */
export async function addScratchTree(
  repo: Repository,
  request: CarryRequest & { readonly name: string; readonly path: string; readonly commit: string },
): Promise<Tree & { readonly exclude: readonly string[] }> {
  const plan = await planCarry(repo, request);
  const path = await canonical(repo, request.path);
  const tree = await repo.lock.run(`add scratch ${request.name}`, async () => {
    const made = await makeTree(repo, { path, branch: null, at: request.commit });
    await refreshUnlocked(repo, made, request.commit);
    return made;
  });
  await carry(repo, tree, plan);
  return { ...tree, exclude: carriedPaths(request) };
}

/** Moves a view to the tip of the integration branch; nothing that was written in it is kept. */
export async function refreshViewTree(
  repo: Repository,
  options: { readonly run: string; readonly tree: Tree },
): Promise<{ readonly head: string }> {
  return repo.lock.run(`refresh ${options.tree.path}`, async () => {
    const head = await readIntegration(repo, options.run);
    return { head: await refreshUnlocked(repo, options.tree, head) };
  });
}

async function refreshUnlocked(repo: Repository, tree: Tree, head: string): Promise<string> {
  // Whatever branch an actor went to, HEAD is detached again and no branch moves.
  const git = await requireTree(repo, tree, { anyBranch: true });
  const timeoutMs = LIMITS.longTimeoutMs;
  await git.run({ args: ['checkout', '-f', '-q', '--detach', head, '--'], timeoutMs });
  await git.run({ args: ['clean', '-ffdxq'], timeoutMs });
  return head;
}

/** All trees of the repository, the user's own too. */
export async function listTrees(repo: Repository): Promise<TreeInfo[]> {
  return parseTreeList(await readGit(repo.git, ['worktree', 'list', '--porcelain', '-z']));
}

/** The path with its parent made and free of links. W10. */
async function canonical(repo: Repository, path: string): Promise<string> {
  const parent = parentOf(path);
  await repo.deps.files.makeDirectory(parent);
  const real = await realPath(repo.deps, parent);
  if (real === null) throw errors.pathTaken(path, `${parent} cannot be resolved`);
  const whole = join(real, nameOf(path));
  if (whole === repo.root || isWithin(whole, repo.commonDir) || isWithin(repo.commonDir, whole)) {
    throw errors.pathTaken(path, 'it is the repository itself');
  }
  return whole;
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

interface MakeRequest {
  readonly path: string;
  readonly branch: string | null;
  /** Branch or commit. */
  readonly at: string;
}

async function makeTree(repo: Repository, request: MakeRequest): Promise<Tree> {
  const { path, branch } = request;
  const reused = await findReusable(repo, request);
  if (reused !== null) return reused;
  const config = ['checkout.workers=0', 'checkout.guess=false', 'worktree.guessRemote=false'];
  const flags = branch === null ? ['--detach'] : [];
  await repo.git.run({
    args: ['worktree', 'add', ...flags, '--', path, request.at],
    config,
    timeoutMs: LIMITS.longTimeoutMs,
  });
  const adminDir = await readPointer(repo, path);
  if (adminDir === null) throw errors.pathTaken(path, 'git made no tree there');
  const tree: Tree = { path, adminDir, branch };
  await requireTree(repo, tree);
  return tree;
}

/** The tree of an earlier call, or null when the place is free; clears away what was cut half-way. */
async function findReusable(repo: Repository, request: MakeRequest): Promise<Tree | null> {
  const { path, branch } = request;
  const registered = await readRegistrations(repo);
  const here = registered.find((tree) => tree.path === path);
  if (here !== undefined) return reuseOrClear(repo, here, request);
  const elsewhere = registered.find((tree) => branch !== null && tree.branch === branch);
  if (elsewhere !== undefined) await releaseBranch(repo, elsewhere);
  else if (branch !== null) await requireNotCheckedOut(repo, branchRef(branch));
  await requireFree(repo, path);
  return null;
}

async function reuseOrClear(
  repo: Repository,
  here: Registration,
  request: MakeRequest,
): Promise<Tree | null> {
  const { files } = repo.deps;
  const there = await files.stat(request.path);
  // Cut while git made it: nobody has worked in it yet.
  if (here.unfinished) await files.remove(request.path);
  if (here.unfinished || there === null) {
    await files.remove(here.adminDir);
    await requireFree(repo, request.path);
    return null;
  }
  const tree: Tree = { path: request.path, adminDir: here.adminDir, branch: request.branch };
  await requireTree(repo, tree, { anyBranch: request.branch === null });
  return tree;
}

/** The branch is registered at another place; that is in order only when the place is gone. */
async function releaseBranch(repo: Repository, elsewhere: Registration): Promise<void> {
  if ((await repo.deps.files.stat(elsewhere.path)) !== null) {
    const why = `its branch ${elsewhere.branch ?? ''} is checked out at ${elsewhere.path}`;
    throw errors.pathTaken(elsewhere.path, why);
  }
  await repo.deps.files.remove(elsewhere.adminDir);
}

async function requireFree(repo: Repository, path: string): Promise<void> {
  const there = await repo.deps.files.stat(path);
  if (there === null) return;
  if (there.kind !== 'directory') throw errors.pathTaken(path, `a ${there.kind} is there`);
  if ((await repo.deps.files.list(path)).length > 0) {
    throw errors.pathTaken(path, 'a folder with files that is no tree of this repository is there');
  }
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
