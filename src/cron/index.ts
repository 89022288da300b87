/**
 * Recurring jobs: when they are due, and what becomes of each slot. Pure: clock, journal and effects are the supervisor's.
 *
 * cron-parser reads expressions and says which days fit; zones are the platform's; nights of the change, intervals, bounds,
 * overlap and what was missed are decided here (C1–C8).
 */
export {
  applyCron,
  applyDamaged,
  type CronBook,
  cronKey,
  emptyBook,
  type JobFacts,
} from './book.ts';
export {
  decideDue,
  decideNext,
  decideTrigger,
  dueAt,
  type Entry,
  ended,
  type Verdict,
} from './decide.ts';
export { DueHeap } from './heap.ts';
export { readJob, timetableFor } from './job.ts';
export { CLOCK_BACK_MAX_MS, HISTORY_MAX, JOBS_MAX } from './limits.ts';
export { localTime, momentOf } from './moment.ts';
export { type JobWish, newJob } from './new-job.ts';
export { cronRows, historyRow } from './rows.ts';
export { type Timetable, timetableOf, within, Zones } from './timetable.ts';
export { webhookRefusal } from './webhook.ts';
