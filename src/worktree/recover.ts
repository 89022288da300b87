/**
 * After a crash: lock files that git left when it was killed with the supervisor. Called by recovery once it has shown that
 * no process of the run is left, and only for what belongs to Troupe; a lock that a git of the user may hold is reported,
 * never taken.
 */
import { branchRef } from './branches.ts';
import { join } from './paths.ts';
import type { Repository } from './repository.ts';
import { readRegistrations, type Tree } from './tree-check.ts';

export interface StaleLocks {
  /** Lock files that were removed. */
  readonly removed: readonly string[];
  /** Lock files of the whole repository, which may be the user's; named for the doctor. */
  readonly left: readonly string[];
}

/** Of one run (or one tree of it): lock files of its trees and of its refs. Idempotent. */
export async function clearStaleLocks(
  repo: Repository,
  options: { readonly run: string; readonly tree?: Pick<Tree, 'adminDir'> | undefined },
): Promise<StaleLocks> {
  const { files } = repo.deps;
  const removed: string[] = [];
  for (const tree of await readRegistrations(repo)) {
    const isOwn = tree.branch?.startsWith(`troupe/${options.run}/`) === true;
    if (options.tree === undefined ? !isOwn : tree.adminDir !== options.tree.adminDir) continue;
    for (const name of ['index.lock', 'HEAD.lock', 'ORIG_HEAD.lock', 'troupe-save-index.lock']) {
      removed.push(...(await removeLock(repo, join(tree.adminDir, name))));
    }
  }
  const refFolder = join(repo.commonDir, branchRef(`troupe/${options.run}`));
  for (const folder of [refFolder, join(refFolder, 'task')]) {
    const names = (await files.stat(folder))?.kind === 'directory' ? await files.list(folder) : [];
    for (const name of names.filter((entry) => entry.endsWith('.lock'))) {
      removed.push(...(await removeLock(repo, join(folder, name))));
    }
  }
  const left: string[] = [];
  for (const name of ['packed-refs.lock', 'index.lock', 'HEAD.lock', 'config.lock']) {
    const path = join(name === 'packed-refs.lock' ? repo.commonDir : repo.gitDir, name);
    if ((await files.stat(path)) !== null) left.push(path);
  }
  return { removed, left };
}

async function removeLock(repo: Repository, path: string): Promise<string[]> {
  if ((await repo.deps.files.stat(path)) === null) return [];
  await repo.deps.files.remove(path);
  return [path];
}
