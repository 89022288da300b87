/**
 * Recurring jobs: when they are due, and what becomes of each slot. Pure: clock, journal and effects are the supervisor's.
 *
 * cron-parser reads expressions and says which days fit; zones are the platform's; nights of the change, intervals, bounds,
 * overlap and what was missed are decided here (C1–C9).
 */
export { localTime, momentOf } from './moment.ts';
export { type Timetable, type Timing, timetableOf, within, Zones } from './timetable.ts';
