/** Bounds of the scheduler. */

/** How far ahead a slot is looked for: the 29th of February that is a fifth Monday comes every 28 years, or 40 over 2100. */
export const SEARCH_YEARS_MAX = 50;
/** A zone's rules are looked up a year at a time; so many years of one zone are kept. */
export const ZONE_YEARS_MAX = 64;
/** The shortest interval of `every`, and the longest. */
export const EVERY_MIN_MS = 1_000;
export const EVERY_MAX_MS: number = 10 * 366 * 86_400_000;
/** What a slot may be put off at random. */
export const JITTER_MAX_MS = 86_400_000;
/** Entries of history that are kept of each job. */
export const HISTORY_MAX = 200;
/** Slots of a job that may wait for one to end, and the most that `all(max)` may be; more are skipped. */
export const QUEUE_MAX = 20;
/** A slot that is noticed later than this was missed. */
export const LATE_MS = 60_000;
/** Missed slots of a job are counted as far as this. */
export const COUNTED_MAX = 100_000;
/** A clock that is set back further is believed: its slots come again, unless they are in the history. */
export const CLOCK_BACK_MAX_MS = 86_400_000;
/** Quarantined records that are told. */
export const BROKEN_MAX = 100;
/** Names of jobs. */
export const JOBS_MAX = 20_000;
