/**
 * Removes a tree, and only when nothing that it holds is lost by it. Files first, the admin folder last, so that a kill in
 * between leaves a tree that is still known and can be removed again.
 *
 * Invariants: W8 a tree with work that is neither on its branch nor saved is not removed; W9 nothing but the registered
 * folder and its own admin folder is removed (never `worktree prune`, which takes trees of the user too).
 */

import { ensureError, systemCode } from '../kernel/index.ts';
import { treeOf } from './branches.ts';
import { readGit } from './git-read.ts';
import { makeRemovable } from './host.ts';
import { LIMITS } from './limits.ts';
import { isWithin, join, normalize, parentOf } from './paths.ts';
import { type Repository, resolveCommit } from './repository.ts';
import { isReachable, type Snapshot, takeSnapshot } from './save.ts';
import { splitZ } from './stage.ts';
import { readText, type Tree, treeGit } from './tree-check.ts';

export interface RemoveRequest {
  readonly tree: Tree;
  readonly exclude: readonly string[];
  /** Commit of `saveTree`; the tree must still be as it was saved. */
  readonly saved?: string | undefined;
  /** A person said that unsaved work may go. */
  readonly discard?: boolean | undefined;
}

export type RemoveOutcome =
  | { readonly kind: 'removed' }
  /** It was gone already; what was left of it is gone now too. */
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'refused';
      readonly reason: 'unsaved' | 'nested-repository' | 'not-registered';
      readonly detail: string;
      readonly files: readonly string[];
    }
  /** Something uses it; the record stays and the removal can be tried again. */
  | { readonly kind: 'busy'; readonly path: string; readonly detail: string };

export async function removeTree(repo: Repository, request: RemoveRequest): Promise<RemoveOutcome> {
  const { path } = request.tree;
  return repo.lock.at(path, () =>
    repo.lock.run(`remove ${path}`, () => removeUnlocked(repo, request)),
  );
}

export async function removeUnlocked(
  repo: Repository,
  request: RemoveRequest,
): Promise<RemoveOutcome> {
  const { tree } = request;
  const { files } = repo.deps;
  const foreign = await checkOwn(repo, tree);
  if (foreign !== null) return refused('not-registered', foreign);
  if ((await files.stat(tree.path)) === null) {
    await files.remove(tree.adminDir);
    return { kind: 'absent' };
  }
  if (request.discard !== true) {
    const unsaved = await findUnsaved(repo, request);
    if (unsaved !== null) return unsaved;
  }
  const busy = await removeFolder(repo, tree.path);
  if (busy !== null) return { kind: 'busy', path: tree.path, detail: busy };
  await files.remove(tree.adminDir);
  return { kind: 'removed' };
}

function refused(
  reason: Extract<RemoveOutcome, { kind: 'refused' }>['reason'],
  detail: string,
  files: readonly string[] = [],
): RemoveOutcome {
  return { kind: 'refused', reason, detail, files };
}

/** W9. The reason why it is not ours to remove, or null. */
async function checkOwn(repo: Repository, tree: Tree): Promise<string | null> {
  if (parentOf(tree.adminDir) !== join(repo.commonDir, 'worktrees')) {
    return `${tree.adminDir} is no admin folder of this repository`;
  }
  for (const place of [repo.commonDir, repo.gitDir, repo.root]) {
    if (place !== '' && isWithin(tree.path, place)) return `${tree.path} contains ${place}`;
  }
  const back = await readText(repo.deps.files, join(tree.adminDir, 'gitdir'));
  if (back === null) {
    const left = await repo.deps.files.stat(tree.path);
    return left === null ? null : `${tree.path} is not registered (any more)`;
  }
  const registered = parentOf(normalize(tree.adminDir, back));
  return registered === tree.path ? null : `the admin folder belongs to ${registered}`;
}

async function findUnsaved(
  repo: Repository,
  request: RemoveRequest,
): Promise<RemoveOutcome | null> {
  const snapshot = await takeSnapshot(repo, request);
  if (snapshot === null) return null;
  if (snapshot.nested.length > 0) {
    const detail = 'it holds folders with a git repository of their own';
    return refused('nested-repository', detail, snapshot.nested);
  }
  if (await isSaved(repo, snapshot, request.saved)) return null;
  const files = await changedFiles(repo, request.tree, snapshot);
  const detail =
    files.length > 0
      ? `${files.length} changed files are saved nowhere`
      : 'commits or staged changes are saved nowhere';
  return refused('unsaved', detail, files);
}

async function isSaved(
  repo: Repository,
  snapshot: Snapshot,
  saved: string | undefined,
): Promise<boolean> {
  const { head, content } = snapshot;
  const settled = !snapshot.dirty && snapshot.indexContent === null && snapshot.merging === null;
  if (settled && (head === null || (await isReachable(repo, head)))) return true;
  if (saved === undefined) return false;
  const commit = await resolveCommit(repo.git, saved);
  return (
    commit !== null && (await isReachable(repo, commit)) && (await treeOf(repo, commit)) === content
  );
}

async function changedFiles(repo: Repository, tree: Tree, snapshot: Snapshot): Promise<string[]> {
  if (snapshot.head === null) return [];
  const args = [
    'diff-tree',
    '-r',
    '-z',
    '--name-only',
    '--no-renames',
    snapshot.head,
    snapshot.content,
  ];
  return splitZ(await readGit(treeGit(repo, tree), args));
}

/** Bounded tries; the text of the last failure, or null. */
async function removeFolder(repo: Repository, path: string): Promise<string | null> {
  let pauseMs: number = LIMITS.removePauseMs;
  let detail = '';
  for (let tries = 1; tries <= LIMITS.removeTries; tries += 1) {
    try {
      await repo.deps.files.remove(path);
      if ((await repo.deps.files.stat(path)) === null) return null;
      detail = 'it is still there after it was removed';
    } catch (error) {
      detail = ensureError(error).message;
      // An actor may have taken its own folders' write permission away.
      if (systemCode(error) === 'EACCES') await makeRemovable(repo.deps, path);
    }
    await repo.deps.clock.sleep(pauseMs);
    pauseMs *= 2;
  }
  return detail;
}
