/** JSON shapes of the command line (design §13): what `--json` prints and what the queries of `control` return. */
import type { Envelope, EnvelopeState } from './envelope.ts';
import type { Reason, TaskState } from './record.ts';
import type { Usage } from './usage.ts';

export type RunStatus = 'running' | 'done' | 'failed' | 'cancelled' | 'interrupted' | 'budget';

export interface RunRow {
  readonly id: string;
  readonly name: string;
  readonly state: RunStatus;
  readonly reason: Reason | null;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly base: string;
  readonly branch: string;
  readonly usage: Usage;
}

export interface TaskRow {
  readonly id: string;
  readonly title: string;
  readonly state: TaskState;
  readonly reason: Reason | null;
  readonly owner: string | null;
  readonly attempt: number;
  readonly needs: readonly string[];
  readonly branch: string | null;
  readonly commit: string | null;
  readonly worktree: string | null;
  readonly usage: Usage;
}

export type ActorStatus =
  | 'starting'
  | 'idle'
  | 'thinking'
  | 'tooling'
  | 'waiting'
  | 'passivated'
  | 'stopping'
  | 'stopped'
  | 'crashed';

export interface ActorRow {
  readonly name: string;
  readonly kind: string;
  readonly incarnation: number;
  readonly state: ActorStatus;
  readonly reason: Reason | null;
  readonly task: string | null;
  readonly since: string;
  readonly usage: Usage;
}

/** `troupe why`: a task or an actor that does not move, why, and the one command that unblocks it. */
export interface WhyRow {
  readonly about: string;
  readonly reason: Reason;
  readonly action: string;
}

/** `troupe plans`: a plan that an actor submitted, and what became of it. */
export interface PlanRow {
  readonly id: string;
  readonly by: string;
  /** Who is to decide. */
  readonly to: string;
  readonly task: string | null;
  readonly state: 'proposed' | 'approved' | 'rejected' | 'expired' | 'superseded' | 'withdrawn';
  readonly at: string;
  readonly decidedBy: string | null;
  readonly feedback: string;
  /** Whole while it waits; of one that is settled its beginning and end. */
  readonly text: string;
}

export type MailRow = Envelope & { readonly state: EnvelopeState; readonly reason?: string };

export interface TreeRow {
  readonly task: string | null;
  readonly run: string;
  readonly path: string;
  readonly branch: string | null;
  readonly state: string;
  readonly owner: string | null;
  /** Why it is kept; null when it may be removed. */
  readonly kept: string | null;
}

export interface SupervisorFile {
  readonly pid: number;
  readonly startedAt: string;
  readonly socket: string;
  readonly protocol: number;
}

export const PROTOCOL_VERSION = 1;

/**
 * `parent.json` in the state folder: the process that keeps a supervisor alive. It goes when all went down in order, and
 * stays when that process gave up.
 */
export interface ParentFile {
  readonly pid: number;
  /** Of the process, as the machine counts; the pid alone may be somebody else's by now. */
  readonly startTime: string;
  readonly state: 'keeping' | 'waiting' | 'gave-up';
  /** The supervisor, while there is one. */
  readonly supervisor: number | null;
  readonly restarts: number;
  /** Of the last death, or why it gave up. */
  readonly reason: string | null;
  readonly at: string;
  readonly log: string;
}
