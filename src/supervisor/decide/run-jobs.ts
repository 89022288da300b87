/**
 * Jobs of a run fire by themselves: the prompt comes to the actor that made the job, as mail from itself.
 *
 * Invariants
 * - C11 A slot and its letter are one record, so a crash neither loses nor doubles one. What is not fired is on record as
 *   skipped, with the reason. With the run (or its actor) its jobs are over.
 */
import { actorOf } from '../../actors/index.ts';
import { type Timetable, timetableFor } from '../../cron/index.ts';
import { counted } from '../../kernel/counted.ts';
import { type ActorName, isoTime } from '../../kernel/index.ts';
import { unread } from '../../mailbox/index.ts';
import { Draft } from '../draft.ts';
import type { Happening } from '../inbox.ts';
import { CRON_LOOK_MS, RUN_SLOTS_COUNTED_MAX } from '../limits.ts';
import type { Live } from '../live.ts';
import type { RunJobFact } from '../run-jobs.ts';
import type { RunState } from '../state.ts';
import { mayRun } from './roster.ts';

export function timetableOfJob(live: Pick<Live, 'jobs'>, job: RunJobFact): Timetable {
  let known = live.jobs.timetables.get(job.name);
  if (known?.of !== job.timing) {
    known = { of: job.timing, timetable: timetableFor(job.timing, live.jobs.zones) };
    live.jobs.timetables.set(job.name, known);
  }
  return known.timetable;
}

/** What is due next wakes nobody but the supervisor; null when it is waited for already, or nothing is. */
export function planJobs(state: RunState, live: Live, happening: Happening): Draft | null {
  if (!live.jobs.dirty || live.halting !== null || state.run.ended !== null) return null;
  live.jobs.dirty = false;
  let next: number | null = null;
  for (const job of state.jobs.values()) {
    if (job.durable) continue;
    const at = timetableOfJob(live, job).next(job.cursor);
    if (at !== null && (next === null || at < next)) next = at;
  }
  if (next === null) return null;
  // Timers know nothing of a clock that is set, or of sleep: it is looked at again and again.
  const ms = Math.min(Math.max(0, next - happening.now), CRON_LOOK_MS);
  const at = happening.monotonicMs + ms;
  if (live.jobs.at !== null && live.jobs.at <= at) return null;
  live.jobs.at = at;
  return new Draft(state, happening).effect({ type: 'jobs.later', ms });
}

export function jobsDue(state: RunState, live: Live, happening: Happening): Draft {
  const draft = new Draft(state, happening).about('msg');
  live.jobs.at = null;
  live.jobs.dirty = true;
  if (live.halting !== null || live.full !== null || state.run.ended !== null) return draft;
  for (const job of state.jobs.values()) if (!job.durable) fireDue(draft, live, job);
  return draft;
}

function fireDue(draft: Draft, live: Live, job: RunJobFact): void {
  const { state, happening } = draft;
  const { now } = happening;
  const { name } = job;
  const timetable = timetableOfJob(live, job);
  let at = timetable.next(job.cursor);
  if (at === null) {
    draft.cron({ type: 'cron.ended', name, reason: 'it is never due again' });
    return;
  }
  if (at > now) return;
  const facts = actorOf(state.actors, job.actor);
  if (facts === null || !mayRun(state, facts, null)) {
    draft.cron({ type: 'cron.ended', name, reason: `${job.actor}, whom it was for, is stopped` });
    return;
  }
  const [first] = [at];
  let [newest, before, missed] = [at, at, 0];
  for (at = timetable.next(at); at !== null && at <= now; at = timetable.next(at)) {
    [before, newest, missed] = [newest, at, missed + 1];
    if (missed >= RUN_SLOTS_COUNTED_MAX) break;
  }
  const skip = (from: number, until: number, why: { count: number; reason: string }): void => {
    draft.cron({ type: 'cron.skipped', name, slot: isoTime(from), until: isoTime(until), ...why });
  };
  if (missed > 0) skip(first, before, { count: missed, reason: MISSED });
  if (waits(state, job.actor, name)) {
    skip(newest, newest, { count: 1, reason: 'overlap: the one before is not taken in yet' });
    return;
  }
  const slot = isoTime(newest);
  draft.cron({ type: 'cron.fired', name, slot });
  const more = missed === 0 ? '' : ` (${counted(missed, 'time')} before it missed)`;
  const text = `Your job ${name} is due${more}: ${job.prompt}`;
  const to = job.actor;
  draft.send(
    { to, lane: 'normal', type: 'cron.fired', body: { text, job: name, slot } },
    draft.sender(to),
  );
  live.mailDirty.add(to);
}

const MISSED = 'missed: nobody was there to fire it; the newest is fired instead';

function waits(state: RunState, actor: ActorName, job: string): boolean {
  return unread(state.mail, actor).some(
    ({ type, body }) => type === 'cron.fired' && body['job'] === job,
  );
}

/** It has not finished and is not idle for want of work: something will wake it. */
export function isWaitingForJob(state: RunState, name: ActorName): boolean {
  return [...state.jobs.values()].some(({ actor, durable }) => actor === name && !durable);
}
