/** Named bounds of the room. */

/** After force: an actor that is not gone by then can only be ended with the process (a pending read of a FIFO). */
export const FORCE_DEADLINE_MS = 10_000;
/** How often a thread raises its heartbeat while its loop turns. */
export const HEARTBEAT_MS = 1_000;
/** Subagents at once, and subagents that may wait for a thread. */
export const POOL_THREADS_MAX = 4;
export const POOL_QUEUE_MAX = 64;
/** A pool thread without a job ends after this. */
export const POOL_IDLE_MS = 30_000;
