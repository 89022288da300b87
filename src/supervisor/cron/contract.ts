/** What the scheduler asks of the one who hosts it. */
import type { Clock, Logger } from '../../kernel/index.ts';
import type { CronJob, CronSlot, RunFile, RunRow } from '../../protocol/index.ts';

/** Given to a supervisor by its host; left out: jobs can be written down, and none is fired. */
export interface CronHost {
  /** Only a supervisor that stays fires jobs. */
  readonly armed: boolean;
  /** The run of a slot: made when there is none of this id, else as it is. Throws like `troupe run` does. */
  readonly prepare: (job: CronJob, run: string) => Promise<RunFile>;
  /** A run as its journal tells it; null: there is none. */
  readonly row: (run: string) => Promise<RunRow | null>;
  /** Posts JSON; throws when it is not taken. */
  readonly post: (url: string, body: unknown) => Promise<void>;
}

/** What of the supervisor the scheduler drives. */
export interface CronRuns {
  readonly start: (file: RunFile) => Promise<void>;
  readonly resume: (run: string) => Promise<void>;
  readonly finished: (run: string) => Promise<RunRow>;
  readonly stop: (run: string, by: string) => Promise<void>;
  /** Mail to a live actor, once for this id; what it was answered, or why not. */
  readonly mail: (job: CronJob, slot: CronSlot) => Promise<{ readonly refused: string | null }>;
}

/** A command in the checkout. */
export interface CronCommands {
  readonly run: (wish: {
    readonly id: string;
    readonly command: string;
    readonly timeoutMs: number;
    readonly env: Readonly<Record<string, string>>;
  }) => Promise<{ readonly failed: string | null; readonly killed: boolean }>;
  readonly kill: (id: string) => void;
  readonly sweep: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface SchedulerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly host: CronHost | null;
  readonly runs: CronRuns;
  readonly commands: CronCommands;
}
