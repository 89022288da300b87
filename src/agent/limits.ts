/** Bounds of the room `agent`. */

/** Asked of a provider at most for one answer. */
export const ANSWER_TOKENS_MAX = 16_000;
/** Further tries of a model call that failed for a passing reason, and the first wait; it doubles. */
export const RETRIES_MAX = 8;
export const RETRY_WAIT_MS = 1000;
export const RETRY_WAIT_MAX_MS = 60_000;
/** Further tries while another model could stand in, and how long that one then goes first. */
export const RETRIES_WITH_STAND_IN = 2;
export const STAND_IN_MS = 300_000;
/** A provider that asks to be left alone for longer is not waited for. */
export const RETRY_AFTER_MAX_MS = 300_000;
/** The same call with the same result, so many times in a row, is a loop. */
export const SAME_CALLS_MAX = 8;
/** Of AGENTS.md and its kin in the system prompt, all together; about a quarter as many tokens. */
export const CONTEXT_CHARS_MAX = 32_000;
/** Files that those import, one in the other. */
export const IMPORT_DEPTH_MAX = 3;
/** Folders that are looked into for them. */
export const CONTEXT_FOLDERS_MAX = 24;
