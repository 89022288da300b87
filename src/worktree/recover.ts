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

interface Of {
  readonly run: string;
  readonly tree?: Pick<Tree, 'adminDir'> | undefined;
}

/** Of one run (or one tree of it): lock files of its trees and of its refs. Idempotent. */
export async function clearStaleLocks(repo: Repository, of: Of): Promise<StaleLocks> {
  const { own, left } = await findGitLocks(repo, of);
  for (const path of own) await repo.deps.files.remove(path);
  return { removed: own, left };
}

export interface GitLocks {
  /** Of the run's trees and refs: stale when none of its processes runs. */
  readonly own: readonly string[];
  /** Of the whole repository, which may be the user's. */
  readonly left: readonly string[];
}

export async function findGitLocks(repo: Repository, of: Of): Promise<GitLocks> {
  const { files } = repo.deps;
  const places: string[] = [];
  for (const tree of await readRegistrations(repo)) {
    const isOwn = tree.branch?.startsWith(`troupe/${of.run}/`) === true;
    if (of.tree === undefined ? !isOwn : tree.adminDir !== of.tree.adminDir) continue;
    for (const name of ['index.lock', 'HEAD.lock', 'ORIG_HEAD.lock', 'troupe-save-index.lock']) {
      places.push(join(tree.adminDir, name));
    }
  }
  const refFolder = join(repo.commonDir, branchRef(`troupe/${of.run}`));
  for (const folder of [refFolder, join(refFolder, 'task')]) {
    const names = (await files.stat(folder))?.kind === 'directory' ? await files.list(folder) : [];
    for (const name of names.filter((entry) => entry.endsWith('.lock'))) {
      places.push(join(folder, name));
    }
  }
  const user = ['packed-refs.lock', 'index.lock', 'HEAD.lock', 'config.lock'].map((name) =>
    join(name === 'packed-refs.lock' ? repo.commonDir : repo.gitDir, name),
  );
  return { own: await thoseThere(repo, places), left: await thoseThere(repo, user) };
}

async function thoseThere(repo: Repository, places: readonly string[]): Promise<string[]> {
  const there: string[] = [];
  for (const path of places) if ((await repo.deps.files.stat(path)) !== null) there.push(path);
  return there;
}
