/**
 * Whether a tree that a run made is still what and where it was made: for the doctor, and for who takes the run up again.
 * Looks only.
 */
import { systemCode } from '../kernel/index.ts';
import { isWithin, join, nameOf, parentOf } from './paths.ts';
import type { Repository } from './repository.ts';
import { type Registration, readPointer, readRegistrations, verifyTree } from './tree-check.ts';

export interface TreeTrouble {
  readonly path: string;
  /** `edited`: it is there, and its `.git`, its admin folder or its HEAD is not what was made. */
  readonly kind: 'missing' | 'moved' | 'edited';
  readonly reason: string;
  /** Where it is now. */
  readonly at: string | null;
  /** What git still has registered for it. */
  readonly registration: Registration | null;
}

/** One for each tree that is not as it was made, in their order. `branch` null or '': a view, detached. */
export async function findTreeTroubles(
  repo: Repository,
  made: readonly { readonly path: string; readonly branch: string | null }[],
): Promise<TreeTrouble[]> {
  const registered = await readRegistrations(repo);
  const troubles: TreeTrouble[] = [];
  for (const tree of made) {
    const trouble = await troubleOf(repo, tree, registered);
    if (trouble !== null) troubles.push(trouble);
  }
  return troubles;
}

async function troubleOf(
  repo: Repository,
  made: { readonly path: string; readonly branch: string | null },
  registered: readonly Registration[],
): Promise<TreeTrouble | null> {
  const { path } = made;
  const branch = made.branch === '' ? null : made.branch;
  const own = registered.find((one) => one.path === path) ?? null;
  const isThere = (await repo.deps.files.stat(path)) !== null;
  const trouble = (what: Pick<TreeTrouble, 'kind' | 'reason'> & { at?: string }): TreeTrouble => ({
    path,
    at: null,
    registration: own,
    ...what,
  });
  if (own !== null && isThere) {
    const check = await verifyTree(repo, { path, adminDir: own.adminDir, branch });
    return check.ok ? null : trouble({ kind: 'edited', reason: check.reason });
  }
  if (isThere) {
    return trouble({
      kind: 'edited',
      reason: 'git does not know it any more (`git worktree prune`?)',
    });
  }
  const elsewhere = branch === null ? undefined : registered.find((one) => one.branch === branch);
  const at =
    own === null ? (elsewhere?.path ?? null) : await findMoved(repo, { path, admin: own.adminDir });
  if (at !== null) return trouble({ kind: 'moved', reason: `it is at ${at} now`, at });
  return trouble({ kind: 'missing', reason: 'its folder is gone' });
}

/** A folder beside its old place (or beside its run's) that still points to its admin folder. */
async function findMoved(
  repo: Repository,
  { path, admin }: { readonly path: string; readonly admin: string },
): Promise<string | null> {
  const beside = parentOf(path);
  for (const folder of [beside, parentOf(beside)]) {
    for (const name of await namesIn(repo, folder)) {
      const place = join(folder, name);
      if ((await readPointer(repo, place)) === admin) return place;
    }
  }
  return null;
}

/** Folders under `root/<run>/` that look like trees of this repository and that git does not know. */
export async function findUnregistered(repo: Repository, root: string): Promise<string[]> {
  const known = new Set((await readRegistrations(repo)).map(({ adminDir }) => adminDir));
  const found: string[] = [];
  for (const run of await namesIn(repo, root)) {
    for (const name of await namesIn(repo, join(root, run))) {
      const place = join(join(root, run), name);
      const pointer = await readPointer(repo, place);
      if (pointer === null || known.has(pointer)) continue;
      if (isWithin(join(repo.commonDir, 'worktrees'), pointer) && nameOf(pointer) !== '') {
        found.push(place);
      }
    }
  }
  return found;
}

async function namesIn(repo: Repository, folder: string): Promise<string[]> {
  try {
    return await repo.deps.files.list(folder);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(systemCode(error))) return [];
    throw error;
  }
}
