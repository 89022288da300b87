/**
 * A supervisor in this process, for `run` and `resume`. `main` makes it: the lock, the hosts of the actors, the socket.
 */
import type { Workspace } from '../control/index.ts';
import type { Logger, SandboxReport } from '../kernel/ports.ts';
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
  /** What holds commands on this machine. */
  readonly sandbox: SandboxReport;
  /** Closes the supervisor, then the socket, then gives the lock back; idempotent. */
  close(): Promise<void>;
}
