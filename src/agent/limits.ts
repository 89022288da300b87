/** Bounds of the room `agent`. */

/** Asked of a provider at most for one answer. */
export const ANSWER_TOKENS_MAX = 16_000;
/** Further tries of a model call that failed for a passing reason, and the first wait; it doubles. */
export const RETRIES_MAX = 3;
export const RETRY_WAIT_MS = 1000;
/** The same call with the same result, so many times in a row, is a loop. */
export const SAME_CALLS_MAX = 8;
