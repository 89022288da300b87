/** All places, for `troupe where`. */

import type { Whereabouts } from '../protocol/views.ts';
import type { Workspace } from './workspace.ts';

export type { Whereabouts } from '../protocol/views.ts';

export async function whereIs(workspace: Workspace): Promise<Whereabouts> {
  const { places, deps } = workspace;
  return {
    workspace: places.workspace,
    gitDir: places.gitDir,
    state: places.state,
    runs: places.runs,
    spool: places.spool,
    trees: places.trees,
    socket: await deps.live.socketPath(places),
    supervisorFile: places.supervisorFile,
    logs: `${places.state}/logs`,
    settings: `${places.workspace}/.troupe`,
    userSettings: places.userConfig,
  };
}
