/** A grant is taken back while no supervisor runs: this process is one for a moment, since only one may write. */
import { controlErrors, listGrants, type Workspace } from '../control/index.ts';
import type { Context } from './context.ts';

export async function revokeAlone(
  context: Context,
  workspace: Workspace,
  id: string,
): Promise<void> {
  const known = (await listGrants(workspace)).map((row) => row.id);
  if (!known.includes(id)) throw controlErrors.unknownGrant(id, known);
  const { hosting } = await context.machine();
  const host = await hosting.open(workspace, { log: () => undefined });
  try {
    if (await host.supervisor.revokeGrant(id, 'user')) return;
    throw controlErrors.grantOfRun(id);
  } finally {
    await host.close();
  }
}
