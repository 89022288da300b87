/**
 * A supervisor in this process, for `run` and `resume`. `main` makes it: the lock, the hosts of the actors, the socket.
 */

import type { Client } from '../client/index.ts';
import type { Workspace } from '../control/index.ts';
import type { Logger } from '../kernel/ports.ts';
import type { RunFile } from '../protocol/team.ts';
import type { Supervisor } from '../supervisor/index.ts';

export interface Hosting {
  /**
   * Takes the repository's lock and opens a supervisor with its socket. Throws `control/held` (exit 4) when another
   * process has the lock; then nothing was made.
   */
  open(workspace: Workspace, logger: Logger): Promise<HostedSupervisor>;
}

export interface HostedSupervisor {
  readonly supervisor: Supervisor;
  /** What the socket offers, without the socket. */
  readonly client: Client;
  /** What holds the commands of a run, in words. */
  sandboxText(run: RunFile): string;
  /** Closes the supervisor, then the socket, then gives the lock back; idempotent. */
  close(): Promise<void>;
}
