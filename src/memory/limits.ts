/** Bounds of the room `memory`. */

/** Of one note; `memory_append` refuses a longer one. */
export const NOTE_CHARS_MAX = 2_000;
/** Of the file that Troupe keeps: the oldest notes go. Each stands in the journal of its run as well. */
export const KEPT_BYTES_MAX: number = 256 * 1024;
/** Of a file of memory that is read. */
export const FILE_BYTES_MAX: number = 1024 * 1024;
/** In a system prompt, and in an answer of `memory_read`; about a quarter as many tokens. */
export const PROMPT_CHARS_MAX = 6_000;
export const ANSWER_CHARS_MAX = 12_000;
