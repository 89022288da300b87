/** Brings saved work back, as a branch of its own: nothing that exists is written over. */
import { branchRef, moveRef, readRef } from './branches.ts';
import { errors } from './errors.ts';
import { LIMITS } from './limits.ts';
import { type Repository, resolveCommit } from './repository.ts';

export interface Restored {
  /** `troupe/<run>/restored/<task>-<n>`. */
  readonly branch: string;
  readonly commit: string;
}

/**
 * A branch at the saved state, to be looked at, merged or checked out. Idempotent. Throws `worktree/no-such-saved`.
 */
export async function restoreSaved(repo: Repository, ref: string): Promise<Restored> {
  const match = /^refs\/troupe\/saved\/([^/]+)\/([^/]+)\/(\d+)$/.exec(ref);
  const commit = match === null ? null : await resolveCommit(repo.git, ref);
  if (match === null || commit === null) throw errors.noSuchSaved(ref);
  const [, run = '', task = '', number = ''] = match;
  return repo.lock.run(`restore ${ref}`, async () => {
    for (let tries = 0; tries < LIMITS.savedTries; tries += 1) {
      const suffix = tries === 0 ? '' : `-${tries + 1}`;
      const branch = `troupe/${run}/restored/${task}-${number}${suffix}`;
      const moved = await moveRef(repo, { ref: branchRef(branch), to: commit, from: null });
      if (moved === 'moved') return { branch, commit };
      if ((await readRef(repo, branchRef(branch))) === commit) return { branch, commit };
    }
    throw errors.gitFailed('update-ref', null, `no free branch name for ${ref}`);
  });
}
