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
/** Waits of one request for a provider that does not answer; each ends with so many tries. */
export const DOWN_ROUNDS_MAX = 32;
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

/** Share of a model's window that one answer may take. */
export const ANSWER_WINDOW_SHARE = 0.25;
/** A token of a model that has not counted anything yet; what it counts takes the place of this. */
export const TOKENS_PER_BYTE = 0.3;
/** Of a summary: tokens, share of the window, bytes in the record. */
export const SUMMARY_TOKENS_MAX = 4000;
export const SUMMARY_WINDOW_SHARE = 0.1;
export const SUMMARY_BYTES_MAX: number = 32 * 1024;
export const WORDS_PER_TOKEN = 0.6;
/** Share of the window that the turns take that are told to who sums them up. */
export const TOLD_WINDOW_SHARE = 0.6;
/** What is left of a result of which head and tail are shown, about. */
export const BYTES_PER_CUT_RESULT = 1100;
/** A compaction leaves at most that share, or it is not worth its price. */
export const SHRINK_MIN = 0.75;
/** Compactions after which a model that still finds the request too long is believed. */
export const COMPACTIONS_IN_A_ROW = 3;
/** What is kept, as shares of the window, mildest first: newest turns, older letters, and how long one result may be. */
export const KEEP: readonly {
  readonly turns: number;
  readonly letters: number;
  readonly results: number;
}[] = [
  { turns: 0.25, letters: 0.2, results: 0.15 },
  { turns: 0, letters: 0.1, results: 0.1 },
  { turns: 0, letters: 0.05, results: 0 },
];
/** A window that is learnt from a refusal is at least that share of what it was held for: some refusals have other causes. */
export const WINDOW_LEARNT_MIN = 0.02;
/** Share of the window that is planned with: what came since the model last counted is only estimated. */
export const ESTIMATE_SLACK = 0.97;

/** Of a request's digest, in a record. */
export const MARK_CHARS = 16;
/** A longer system prompt is not kept beside its answer, its digest is. */
export const MARKED_SYSTEM_CHARS_MAX = 40_000;
/** How long a replayed request waits for a letter that its recording took in. */
export const LETTER_WAIT_MS = 600_000;
/** What is put aside for the input of a request, as a multiple of what it is held for: an estimate may be too small. */
export const INPUT_MARGIN = 1.15;
/** Of an answer that broke off, for what of it was paid. */
export const CHARS_PER_TOKEN = 4;
