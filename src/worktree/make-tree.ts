/**
 * How a tree comes to be, in two parts: registered while the repository's lock is held, filled while it is not, so that
 * trees of several tasks are filled side by side. In between it bears git's own mark of an unfinished tree, so that a cut at
 * any point leaves what is either whole or thrown away by the next call.
 *
 * Invariants: W2 only what concerns the whole repository is under its lock; W5; W11 a tree is never given out half filled.
 */
import { branchRef, requireNotCheckedOut } from './branches.ts';
import { errors } from './errors.ts';
import { realPath } from './host.ts';
import { LIMITS } from './limits.ts';
import { isWithin, join, nameOf, parentOf } from './paths.ts';
import { moveReady, PARALLEL } from './ready.ts';
import type { Repository } from './repository.ts';
import { setCone } from './sparse.ts';
import {
  INITIALIZING,
  markUnfinished,
  type Registration,
  readPointer,
  readRegistrations,
  requireTree,
  type Tree,
  treeGit,
} from './tree-check.ts';

/** Folders whose files are in a tree; all are when it is empty. */
export type Cone = readonly string[];

export interface MakeRequest {
  readonly path: string;
  readonly branch: string | null;
  /** A commit; where the branch is, when there is one. */
  readonly at: string;
  readonly sparse?: Cone | undefined;
  /** Asked when a tree must be made: a clean one of the pool, which is this one's now. */
  readonly ready?: (() => Promise<Tree | null>) | undefined;
}

export interface BegunTree {
  readonly tree: Tree;
  /** Its files are not there yet. */
  readonly empty: boolean;
}

/** The path with its parent made and free of links. W10. */
export async function canonical(repo: Repository, path: string): Promise<string> {
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

/** The tree of an earlier call, or a registered one without files. The repository's lock is held. */
export async function beginTree(repo: Repository, request: MakeRequest): Promise<BegunTree> {
  const { path, branch } = request;
  const reused = await findReusable(repo, request);
  if (reused !== null) return { tree: reused, empty: false };
  const ready = (await request.ready?.()) ?? null;
  if (ready !== null) {
    const moved = await moveReady(repo, ready, request);
    if (moved !== null) return { tree: moved, empty: false };
  }
  const how = branch === null ? ['--detach'] : [];
  await repo.git.run({
    args: [
      'worktree',
      'add',
      '--no-checkout',
      '--lock',
      '--reason',
      INITIALIZING,
      ...how,
      '--',
      path,
      branch ?? request.at,
    ],
    config: ['checkout.guess=false', 'worktree.guessRemote=false'],
    timeoutMs: LIMITS.longTimeoutMs,
  });
  const adminDir = await readPointer(repo, path);
  if (adminDir === null) throw errors.pathTaken(path, 'git made no tree there');
  const tree: Tree = { path, adminDir, branch };
  if (request.sparse !== undefined && request.sparse.length > 0) {
    await setCone(repo, tree, request.sparse);
  }
  return { tree, empty: true };
}

/** Writes the files, and takes the mark away. */
export async function finishTree(repo: Repository, begun: BegunTree): Promise<Tree> {
  const { tree } = begun;
  if (!begun.empty) return tree;
  await treeGit(repo, tree).run({
    args: ['reset', '--hard', '-q', '--no-recurse-submodules'],
    config: PARALLEL,
    timeoutMs: LIMITS.longTimeoutMs,
  });
  await requireTree(repo, tree);
  await markUnfinished(repo.deps.files, tree, false);
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
