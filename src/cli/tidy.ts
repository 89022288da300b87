/** What a kill in the very last moment of a run leaves: its trees, and a lock that nobody holds. Nothing resumes it. */
import { readdir } from 'node:fs/promises';
import { cleanWorktrees, listWorktrees, type Workspace } from '../control/index.ts';
import type { Context } from './context.ts';

/** Does nothing when nothing is left, or while somebody works here. */
export async function tidyUp(context: Context, workspace: Workspace): Promise<void> {
  const { places, deps } = workspace;
  const isLocked = (await readdir(places.state)).some((name) => name.startsWith('lock.'));
  if (!isLocked && (await listWorktrees(workspace)).length === 0) return;
  if ((await deps.live.holder(places)) !== null) return;
  const { hosting } = await context.machine();
  const host = await hosting.open(workspace, { log: () => undefined });
  try {
    // What has not been merged goes only when it is asked for, by `troupe worktrees gc`.
    await cleanWorktrees(workspace, ({ state }) =>
      ['failed', 'cancelled'].includes(state) ? 'its work is not merged' : null,
    );
  } finally {
    await host.close();
  }
}
