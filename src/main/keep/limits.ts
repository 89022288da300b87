/** Limits of the parent of a supervisor. */

/** So many deaths in this time, and it is not started again. */
export const KEEP_INTENSITY = 8;
export const KEEP_PERIOD_MS: number = 10 * 60_000;
/** Before it is started again: doubled with each death, of which half is by chance. */
export const KEEP_BACKOFF_MS = 500;
export const KEEP_BACKOFF_MAX_MS = 30_000;
/** For the supervisor to go down when the parent was asked to end; then it is killed. */
export const KEEP_DOWN_MS = 60_000;
/** Between two looks at a supervisor that is no child of this parent. */
export const KEEP_LOOK_MS = 500;
/** Of each log: bytes, and older files beside it. */
export const LOG_BYTES_MAX: number = 4 * 1024 * 1024;
export const LOG_FILES = 3;
