/** From what a person asks for to a job: everything is checked here, and the reason told (exit 2). */
import { EXIT, isName, TroupeError } from '../kernel/index.ts';
import type {
  CronCatchUp,
  CronJob,
  CronNotify,
  CronOverlap,
  CronTiming,
  CronWork,
} from '../protocol/cron.ts';
import { badExpression } from './errors.ts';
import { JOB_SCHEMA, readJob } from './job.ts';
import { EVERY_MAX_MS, EVERY_MIN_MS, JITTER_MAX_MS, QUEUE_MAX } from './limits.ts';
import { momentOf } from './moment.ts';
import { type Timetable, timetableOf, Zones } from './timetable.ts';
import { webhookRefusal } from './webhook.ts';

export interface JobWish {
  readonly name: string;
  readonly schedule?: string | undefined;
  readonly at?: string | undefined;
  readonly everyMs?: number | undefined;
  readonly tz: string;
  readonly work: CronWork;
  readonly overlap: CronOverlap;
  readonly catchUp: CronCatchUp;
  readonly onCrash: 'resume' | 'record';
  readonly jitterMs: number;
  readonly start?: string | undefined;
  readonly end?: string | undefined;
  readonly maxRuns: number | null;
  readonly timeLimitMs: number | null;
  readonly budgetUsd: number | null;
  readonly model: string | null;
  readonly mode: string | null;
  readonly attended: boolean;
  readonly notify: CronNotify | null;
  readonly by: string;
}

/** `id` is free to choose, and other for each adding. Throws `cron/…`. */
export function newJob(
  wish: JobWish,
  now: { readonly at: number; readonly id: string },
): { readonly job: CronJob; readonly timetable: Timetable } {
  const { schedule: _s, at: _a, everyMs: _e, tz, start, end, ...same } = wish;
  if (!isName(wish.name)) {
    throw bad(
      `${JSON.stringify(wish.name)} is no name for a job`,
      'Lower case letters, digits, - and _, at most 48, beginning with a letter or digit.',
    );
  }
  const zone = new Zones().named(tz);
  const startAt = start === undefined ? null : momentOf('--start', start, zone);
  const endAt = end === undefined ? null : momentOf('--end', end, zone);
  checkBounds(wish);
  const iso = (at: number): string => new Date(at).toISOString();
  const job: CronJob = {
    ...same,
    id: now.id,
    timing: timingOf(wish, { startAt, now: now.at, zone }),
    start: startAt === null ? null : iso(startAt),
    end: endAt === null ? null : iso(endAt),
    paused: false,
    createdAt: iso(now.at),
  };
  const read = readJob(JOB_SCHEMA.parse(job), new Zones());
  if (read.kind === 'broken') throw bad(read.why, 'See `troupe cron --help`.');
  if (read.timetable.next(now.at) === null) {
    throw bad(
      `the job ${wish.name} would never be due`,
      wish.at === undefined
        ? 'Look at its schedule with `troupe cron next`, and at --start and --end.'
        : `${wish.at} is over, or not between --start and --end.`,
    );
  }
  return { job, timetable: read.timetable };
}

function timingOf(
  wish: JobWish,
  at: {
    readonly startAt: number | null;
    readonly now: number;
    readonly zone: Parameters<typeof momentOf>[2];
  },
): CronTiming {
  const { schedule, everyMs, tz } = wish;
  const given = [schedule, wish.at, everyMs].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw bad(
      given.length === 0 ? 'when is the job due?' : 'a job has one kind of schedule',
      'Give one of --schedule EXPR, --at TIME and --every DURATION.',
    );
  }
  if (schedule !== undefined) {
    // Read once for its own message, which names the schedule and what is wrong with it.
    timetableOf({ kind: 'schedule', expression: schedule, tz }, new Zones());
    if (schedule.length > EXPRESSION_MAX) {
      throw badExpression(`${schedule.slice(0, 40)}…`, 'it is too long', 'Name fewer values.');
    }
    return { kind: 'schedule', expression: schedule.trim(), tz };
  }
  if (wish.at !== undefined) {
    return { kind: 'at', at: new Date(momentOf('--at', wish.at, at.zone)).toISOString(), tz };
  }
  const every = everyMs ?? 0;
  if (every < EVERY_MIN_MS || every > EVERY_MAX_MS) {
    throw bad('an interval is at least 1s and at most ten years', 'For example --every 15m.');
  }
  // With a start the first slot is the start itself.
  const anchor = at.startAt === null ? at.now : at.startAt - every;
  return { kind: 'every', everyMs: every, anchor: new Date(anchor).toISOString(), tz };
}

const EXPRESSION_MAX = 1_000;

function checkBounds({ jitterMs, catchUp, notify }: JobWish): void {
  if (jitterMs > JITTER_MAX_MS) throw bad('a jitter is at most 24h', 'For example --jitter 5m.');
  if (catchUp.kind === 'all' && (catchUp.max < 1 || catchUp.max > QUEUE_MAX)) {
    throw bad(`at most ${QUEUE_MAX} slots can be caught up with`, 'For example --catch-up all:5.');
  }
  const refused = notify?.kind === 'webhook' ? webhookRefusal(notify.url, notify.hosts) : null;
  if (refused !== null) {
    throw bad(`the webhook can not be used: ${refused}`, 'Name its host with --notify-host HOST.');
  }
}

function bad(message: string, hint: string): TroupeError {
  return new TroupeError({ code: 'cron/job', message, hint, exit: EXIT.usage });
}
