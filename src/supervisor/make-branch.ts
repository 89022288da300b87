/** The integration branch of a run that begins. */
import { EXIT, isTroupeError, TroupeError } from '../kernel/index.ts';
import type { RunFile } from '../protocol/index.ts';
import { createIntegrationBranch, type Repository } from '../worktree/index.ts';

/** A branch that is further on belongs to a journal that is gone: going on would do everything once more. */
export async function makeBranch(repository: Repository, file: RunFile): Promise<void> {
  try {
    await createIntegrationBranch(repository, { run: file.id, base: file.baseCommit });
  } catch (thrown) {
    if (!isTroupeError(thrown) || thrown.code !== 'worktree/branch-taken') throw thrown;
    throw new TroupeError({
      code: 'supervisor/journal-lost',
      message: `The journal of run ${file.id} is empty or gone, but its branch troupe/${file.id}/main has work`,
      hint: 'Nothing was changed. Merge that branch by hand, or start a new run.',
      exit: EXIT.storage,
      cause: thrown,
    });
  }
}
