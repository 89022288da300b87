/** Recurring jobs as the workspace journal has them: what a person wrote down, and what became of each slot. */
import type { ActorName } from '../kernel/ids.ts';

export type CronTiming =
  | { readonly kind: 'schedule'; readonly expression: string; readonly tz: string }
  /** ISO-8601 UTC. */
  | { readonly kind: 'at'; readonly at: string; readonly tz: string }
  /** First due one interval after `anchor` (ISO-8601 UTC). */
  | {
      readonly kind: 'every';
      readonly everyMs: number;
      readonly anchor: string;
      readonly tz: string;
    };

export type CronWork =
  /** Absolute path of a team file. */
  | { readonly kind: 'team'; readonly file: string }
  /** A run of its own with one task for this profile. */
  | { readonly kind: 'prompt'; readonly text: string; readonly agent: string }
  /** Mail to an actor of a run that goes on; without `run` of the newest that has one of this name. */
  | {
      readonly kind: 'mail';
      readonly to: string;
      readonly text: string;
      readonly run: string | null;
    }
  /** In the checkout, with the rights of the person who wrote it. */
  | { readonly kind: 'command'; readonly command: string };

/** Who made a job that is not a person: its runs have what that run had, and no more. */
export interface CronAuthor {
  readonly run: string;
  readonly actor: string;
  readonly profile: string;
}

/** A job that lives as long as its run, and whose prompt comes to the actor that made it; or what a run knows of one it made for good. */
export interface RunJob {
  readonly name: string;
  readonly actor: ActorName;
  readonly timing: CronTiming;
  readonly prompt: string;
  readonly once: boolean;
  /** True: it is in the workspace journal and is fired by `troupe up`. */
  readonly durable: boolean;
}

/** Of the jobs that a run has made. */
export type RunCronChange =
  | { readonly type: 'cron.added'; readonly job: RunJob }
  | {
      readonly type: 'cron.fired';
      readonly name: string;
      readonly slot: string;
    }
  | {
      readonly type: 'cron.skipped';
      readonly name: string;
      readonly slot: string;
      /** The last of them. */
      readonly until: string;
      readonly count: number;
      readonly reason: string;
    }
  | { readonly type: 'cron.ended'; readonly name: string; readonly reason: string };

export const CRON_OVERLAPS = ['skip', 'queue', 'replace'] as const;
export type CronOverlap = (typeof CRON_OVERLAPS)[number];

/** What becomes of slots that nobody was there for: none, the newest, or the newest `max` in order. */
export type CronCatchUp =
  | { readonly kind: 'skip' }
  | { readonly kind: 'one' }
  | { readonly kind: 'all'; readonly max: number };

/** Told when a slot ends otherwise than `done`. */
export type CronNotify =
  | { readonly kind: 'command'; readonly command: string }
  /** Loopback, or one of `hosts`. */
  | { readonly kind: 'webhook'; readonly url: string; readonly hosts: readonly string[] };

export interface CronJob {
  readonly name: string;
  /** Of this adding: a job of the same name that is added later is another one. */
  readonly id: string;
  readonly timing: CronTiming;
  readonly work: CronWork;
  readonly overlap: CronOverlap;
  readonly catchUp: CronCatchUp;
  /** Of a run that a crash cut off: gone on with, or only recorded as such. Commands are never gone on with. */
  readonly onCrash: 'resume' | 'record';
  /** A slot is put off by up to this, always the same for the same slot. */
  readonly jitterMs: number;
  readonly start: string | null;
  readonly end: string | null;
  readonly maxRuns: number | null;
  readonly timeLimitMs: number | null;
  readonly budgetUsd: number | null;
  readonly model: string | null;
  /** The policy mode of its runs; null: as the team says. */
  readonly mode: string | null;
  /** Its runs wait for a person's answer; else what would be asked is denied. */
  readonly attended: boolean;
  readonly notify: CronNotify | null;
  readonly paused: boolean;
  readonly by: string;
  /** Left out: a person made it. */
  readonly author?: CronAuthor | undefined;
  readonly createdAt: string;
}

export type CronSlotState =
  | 'queued'
  | 'running'
  | 'done'
  | 'failed'
  | 'cancelled'
  | 'budget'
  | 'replaced'
  | 'interrupted'
  | 'skipped';

/** One slot of one job, as a whole: the newest record of it stands. */
export interface CronSlot {
  readonly name: string;
  readonly job: string;
  /** Counts the entries of a job from 1. */
  readonly n: number;
  /** ISO-8601 UTC; with job and name the key of idempotency. */
  readonly slot: string;
  /** Of several skipped slots: the last of them, and how many (null: too many to count). */
  readonly until: string | null;
  readonly count: number | null;
  readonly trigger: 'schedule' | 'catch-up' | 'person';
  readonly state: CronSlotState;
  readonly run: string | null;
  readonly reason: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly costUsd: number | null;
}

/** A line of `cron list`. */
export interface CronRow {
  readonly name: string;
  readonly schedule: string;
  readonly tz: string;
  readonly nextAt: string | null;
  readonly lastSlot: string | null;
  readonly overlap: CronOverlap;
  /** `skip`, `one`, `all(3)`. */
  readonly catchUp: string;
  readonly paused: boolean;
  /** In the zone of the job. */
  readonly nextLocal: string | null;
  /** What of `nextAt` is jitter. */
  readonly jitterMs: number;
  readonly work: string;
  /** Why it is quarantined; null: it is not. */
  readonly broken: string | null;
}

/** A line of `cron history`. */
export interface CronHistoryRow extends Omit<CronSlot, 'job' | 'n'> {
  readonly durationMs: number | null;
}

/** When a schedule is due. */
export interface CronMoment {
  /** UTC. */
  readonly at: string;
  /** As clocks of the zone show it. */
  readonly local: string;
  readonly inMs: number;
}

export type CronEdit =
  | { readonly type: 'add'; readonly job: CronJob }
  | { readonly type: 'remove' | 'pause' | 'resume' | 'trigger'; readonly name: string };

/** What an actor may do of it. */
export type ActorCronEdit =
  | Extract<CronEdit, { readonly type: 'add' }>
  | { readonly type: 'remove'; readonly name: string };

export interface CronEditResult {
  readonly name: string;
  /** Whether this supervisor fires jobs: only `troupe up` does. */
  readonly armed: boolean;
  /** Of `trigger`: what became of it. */
  readonly state: CronSlotState | null;
  readonly run: string | null;
}
