/** All places, for `troupe where`. */
import type { Workspace } from './workspace.ts';

export interface Whereabouts {
  readonly workspace: string;
  readonly gitDir: string;
  readonly state: string;
  readonly runs: string;
  readonly spool: string;
  readonly trees: string;
  readonly socket: string;
  readonly supervisorFile: string;
  readonly settings: string;
  readonly userSettings: string;
}

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
    settings: `${places.workspace}/.troupe`,
    userSettings: places.userConfig,
  };
}
