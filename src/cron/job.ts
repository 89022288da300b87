/** A job as it is recorded: read strictly, since a record may have been edited by hand. */
import { z } from 'zod';
import { isName } from '../kernel/index.ts';
import type { CronJob } from '../protocol/cron.ts';
import { EVERY_MAX_MS, EVERY_MIN_MS, JITTER_MAX_MS, QUEUE_MAX } from './limits.ts';
import { type Timetable, type Timing, timetableOf, within, type Zones } from './timetable.ts';

const moment = z.iso.datetime();
const text = z
  .string()
  .min(1)
  .max(64 * 1024);

const TIMING = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('schedule'), expression: text, tz: text }),
  z.strictObject({ kind: z.literal('at'), at: moment, tz: text }),
  z.strictObject({
    kind: z.literal('every'),
    everyMs: z.int().min(EVERY_MIN_MS).max(EVERY_MAX_MS),
    anchor: moment,
    tz: text,
  }),
]);

const WORK = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('team'), file: text }),
  z.strictObject({ kind: z.literal('prompt'), text, agent: text }),
  z.strictObject({ kind: z.literal('mail'), to: text, text, run: text.nullable() }),
  z.strictObject({ kind: z.literal('command'), command: text }),
]);

/** Of the wire and of the journal. */
export const JOB_SCHEMA: z.ZodType<CronJob> = z.strictObject({
  name: z.string().refine(isName, 'a name is [a-z0-9][a-z0-9_-]{0,47}'),
  id: z.string().regex(/^[0-9a-z]{1,16}$/),
  timing: TIMING,
  work: WORK,
  overlap: z.enum(['skip', 'queue', 'replace']),
  catchUp: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('skip') }),
    z.strictObject({ kind: z.literal('one') }),
    z.strictObject({ kind: z.literal('all'), max: z.int().min(1).max(QUEUE_MAX) }),
  ]),
  onCrash: z.enum(['resume', 'record']),
  jitterMs: z.int().min(0).max(JITTER_MAX_MS),
  start: moment.nullable(),
  end: moment.nullable(),
  maxRuns: z.int().min(1).nullable(),
  timeLimitMs: z.int().min(1).nullable(),
  budgetUsd: z.number().positive().nullable(),
  model: text.nullable(),
  mode: text.nullable(),
  attended: z.boolean(),
  notify: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('command'), command: text }),
      z.strictObject({ kind: z.literal('webhook'), url: text, hosts: z.array(text).max(100) }),
    ])
    .nullable(),
  paused: z.boolean(),
  by: text,
  author: z.strictObject({ run: text, actor: text, profile: text }).optional(),
  createdAt: moment,
});

export type ReadJob =
  | { readonly kind: 'job'; readonly job: CronJob; readonly timetable: Timetable }
  | { readonly kind: 'broken'; readonly why: string };

/** Never throws: what is no job is told as such, and the others live on. */
export function readJob(value: unknown, zones: Zones): ReadJob {
  const parsed = JOB_SCHEMA.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue === undefined || issue.path.length === 0 ? 'it' : issue.path.join('.');
    return { kind: 'broken', why: `${where}: ${issue?.message ?? 'unreadable'}` };
  }
  try {
    return { kind: 'job', job: parsed.data, timetable: timetableOfJob(parsed.data, zones) };
  } catch (error) {
    return { kind: 'broken', why: error instanceof Error ? error.message : String(error) };
  }
}

function timetableOfJob({ timing, start, end }: CronJob, zones: Zones): Timetable {
  const bounds = { start: ms(start), end: ms(end) };
  zones.named(timing.tz);
  return within(timetableOf(plain(timing), zones), bounds);
}

/** When it is due, without bounds. */
export function timetableFor(timing: CronJob['timing'], zones: Zones): Timetable {
  zones.named(timing.tz);
  return timetableOf(plain(timing), zones);
}

function plain(timing: CronJob['timing']): Timing {
  if (timing.kind === 'at') return { kind: 'at', at: Date.parse(timing.at) };
  if (timing.kind === 'every') {
    return { kind: 'every', everyMs: timing.everyMs, anchor: Date.parse(timing.anchor) };
  }
  return timing;
}

function ms(text: string | null): number | null {
  return text === null ? null : Date.parse(text);
}

/** Always the same for the same slot, so that a restart changes nothing. */
export function jitterOf(job: Pick<CronJob, 'id' | 'jitterMs'>, slot: number): number {
  if (job.jitterMs === 0) return 0;
  let hash = 0x811c9dc5;
  for (const char of `${job.id} ${slot}`) {
    hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  }
  // The last digits of a slot are much alike: mixed once more (the finaliser of MurmurHash3).
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return Math.floor((((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32) * (job.jitterMs + 1));
}
