/** Bounds of this room; each is told in the message that enforces it. */

/** Ends by the worker or its gates when a spec does not say (`attempts`). */
export const ATTEMPTS_DEFAULT = 2;
/** Reworks after a merge conflict; the next conflict fails the task. */
export const CONFLICTS_MAX = 3;
/** Deaths of the supervisor that a task survives; the next one fails it. */
export const INTERRUPTIONS_MAX = 20;
/** Tasks in one graph. */
export const TASKS_MAX = 50_000;
/** Cycles printed by one validation. */
export const CYCLES_SHOWN_MAX = 10;
/** Names of one validation for which near matches are looked up: each lookup costs the graph. */
export const NEAR_LOOKUPS_MAX = 20;
