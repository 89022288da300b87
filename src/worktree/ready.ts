/**
 * Trees kept ready: detached, whole, never worked in. One goes to one task, once: it is moved to the task's place, put on its
 * branch and proven clean; what isn't clean is thrown away, and the task's tree is made as usual. A tree that somebody has
 * worked in never comes back here, since an actor can hide changes from git (flags of its index).
 *
 * Invariants: W11 no tree is given out half made; W12 a tree of the pool is the commit and nothing more when it is given out:
 * no changed, untracked or ignored file. Whose it is stands in the workspace journal before (`supervisor/tree-leases.ts`).
 */
import { branchRef } from './branches.ts';
import { LIMITS } from './limits.ts';
import { join, normalize } from './paths.ts';
import type { Repository } from './repository.ts';
import {
  markUnfinished,
  readText,
  requireTree,
  type Tree,
  treeGit,
  verifyTree,
  writeText,
} from './tree-check.ts';

/** As many writers as there are cores: a serial checkout takes several times as long on some disks. */
export const PARALLEL: readonly string[] = ['checkout.workers=0'];

/**
 * The pool's tree at another place and on a branch, or null when it is not what it should be; then it is gone. The
 * repository's lock is held.
 */
export async function moveReady(
  repo: Repository,
  ready: Tree,
  to: { readonly path: string; readonly branch: string | null; readonly at: string },
): Promise<Tree | null> {
  const { files } = repo.deps;
  if (!(await verifyTree(repo, ready)).ok) {
    await discard(repo, ready);
    return null;
  }
  // Cut from here on, the next call finds an unfinished tree at either place, and makes it anew.
  await markUnfinished(files, ready, true);
  const tree: Tree = { path: to.path, adminDir: ready.adminDir, branch: to.branch };
  const back = join(ready.adminDir, 'gitdir');
  await writeText(files, `${back}.new`, `${join(to.path, '.git')}\n`);
  await files.rename(`${back}.new`, back);
  await files.remove(to.path);
  await files.rename(ready.path, to.path);
  await pointAbsolutely(repo, tree);
  if (!(await switchTo(repo, tree, to.at))) {
    await discard(repo, tree);
    return null;
  }
  await markUnfinished(files, tree, false);
  await requireTree(repo, tree);
  return tree;
}

/** Where git writes relative pointers, they mean something else from the new place. */
async function pointAbsolutely(repo: Repository, tree: Tree): Promise<void> {
  const { files } = repo.deps;
  const pointer = join(tree.path, '.git');
  if ((await readText(files, pointer)) === `gitdir: ${tree.adminDir}`) return;
  await files.remove(pointer);
  await writeText(files, pointer, `gitdir: ${tree.adminDir}\n`);
}

/** False when it is not clean. W12. */
async function switchTo(repo: Repository, tree: Tree, commit: string): Promise<boolean> {
  const git = treeGit(repo, tree);
  const timeoutMs = LIMITS.longTimeoutMs;
  const now = await git.lineOrNull(['rev-parse', '-q', '--verify', 'HEAD']);
  if (now === null) return false;
  // Only what differs between the two commits is looked at and written; the proof below looks at all.
  const moved = await git.run({
    args: ['read-tree', '-m', '-u', now, commit],
    config: PARALLEL,
    codes: [0, 1, 128],
    timeoutMs,
  });
  if (moved.code !== 0) return false;
  const head = tree.branch === null ? null : branchRef(tree.branch);
  if (head === null) await git.run({ args: ['update-ref', '--no-deref', 'HEAD', commit] });
  else await git.run({ args: ['symbolic-ref', '-m', 'troupe: task starts', 'HEAD', head] });
  const args = ['status', '--porcelain', '-z', '--untracked-files=normal', '--ignored=matching'];
  const status = await git.run({ args: [...args, '--no-renames'], codes: [0, 128], timeoutMs });
  return status.code === 0 && status.stdout === '';
}

/** Nobody has worked in it; but what is not ours any more stays (W9). */
async function discard(repo: Repository, tree: Tree): Promise<void> {
  const back = await readText(repo.deps.files, join(tree.adminDir, 'gitdir'));
  if (back === null || normalize(tree.adminDir, back) !== join(tree.path, '.git')) return;
  await repo.deps.files.remove(tree.path);
  await repo.deps.files.remove(tree.adminDir);
}
