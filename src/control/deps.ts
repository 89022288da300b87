/** What everything in this room is given: ports, and the little that another process must tell. */
import type { Clock, Codec, Exec, Files, Random, SandboxReport } from '../kernel/ports.ts';
import type { ParentFile } from '../protocol/shapes.ts';
import type { StatusResult } from '../protocol/wire.ts';
import type { Places } from './places.ts';

/** Who holds the repository now, as its lock tells. */
export interface Holder {
  readonly pid: number;
  readonly startedAt: string | null;
}

/** The running supervisor, seen from another process (or from its own). */
export interface LiveSource {
  /** Null when no live process holds the lock. */
  holder(places: Places): Promise<Holder | null>;
  /** Null when it does not answer in time. */
  status(places: Places): Promise<StatusResult | null>;
  /** Where the supervisor's socket is, or would be. */
  socketPath(places: Places): Promise<string>;
}

/** A lock file of a supervisor. `unseen`: its holder can't be looked at from here; `unreadable`: nobody can tell whose it is. */
export interface LockRow {
  readonly path: string;
  readonly pid: number | null;
  readonly acquiredAt: string | null;
  readonly state: 'alive' | 'dead' | 'unseen' | 'unreadable';
}

/** What only the machine knows of supervisors and of what they leave; for the doctor. */
export interface MachineLook {
  locks(places: Places): Promise<readonly LockRow[]>;
  /** Keeps every supervisor away until it is released; null when one is there. */
  hold(places: Places): Promise<{ release(): Promise<void> } | null>;
  /** Processes that carry this marker, or one below it. */
  marked(marker: string): Promise<readonly number[]>;
  parent(places: Places): (ParentFile & { readonly alive: boolean }) | null;
}

export interface ControlDeps {
  readonly files: Files;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly random: Random;
  /** The user's environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly sha256: (content: string | Uint8Array) => string;
  /** Of the snapshots of runs. */
  readonly codec: Codec;
  /** Version of this Troupe, written into `run.json`. */
  readonly version: string;
  readonly live: LiveSource;
  /** Left out: what lies on the machine is not looked at. */
  readonly machine?: MachineLook;
  /** Of the syntax of `.env`. Left out: no `.env` is read. */
  readonly parseEnv?: (text: string) => Readonly<Record<string, string | undefined>>;
  /** Folder of the skills that come with Troupe; left out: none. */
  readonly shippedSkills?: string;
  /** Whether a path belongs to the administrator alone; left out: not asked. */
  readonly ownedByAdmin?: (path: string) => boolean;
  /** What would hold commands here; tried out when asked for. Left out: not known. */
  readonly sandbox?: (places: Places) => Promise<SandboxReport>;
}
