/**
 * What lives in a supervisor that is up besides its runs. Each is made when the supervisor serves its socket, and is
 * stopped before it closes. A scheduler belongs here: it starts runs by `client` (`run.start`), as every front end does.
 */
import type { HostedSupervisor } from '../cli/index.ts';
import type { Workspace } from '../control/index.ts';
import type { Logger } from '../kernel/index.ts';

export interface Resident {
  /** Resolves when it does nothing any more. Runs that it started are not its business. */
  stop(): Promise<void>;
}

export interface Home extends Pick<HostedSupervisor, 'supervisor' | 'client'> {
  readonly workspace: Workspace;
  readonly logger: Logger;
}

export const residents: readonly ((home: Home) => Resident)[] = [];
