/** Bounds of the room `sessions`. */

/** What a compaction shows of a result that it cuts. */
export const CUT_HEAD_CHARS = 600;
export const CUT_TAIL_CHARS = 300;
/** Older letters that a compaction keeps whole. */
export const LETTERS_KEPT_MAX = 12;
/** An actor's own notes, as they stand in a compacted conversation. */
export const NOTES_SHOWN_CHARS = 12_000;
/** Output files of earlier calls that are named there. */
export const OUTPUTS_SHOWN_MAX = 12;
/** One part of a turn as it is told to the one who makes a summary: at first, and at least. */
export const TOLD_CHARS_MAX = 4000;
export const TOLD_CHARS_MIN = 250;
/** One line of a summary that no model made. */
export const DIGEST_LINE_CHARS = 240;

/** Of a difference that is shown: lines round it, lines of each side, characters of a line. */
export const DIFF_CONTEXT = 3;
export const DIFF_LINES_MAX = 40;
export const DIFF_LINE_CHARS = 300;
