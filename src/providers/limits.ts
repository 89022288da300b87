/** Bounds of the room `providers`. */

/** Characters of one streamed piece of a scripted text. */
export const PIECE_CHARS = 24;
/** Longest delay that a script may ask for. */
export const DELAY_MS_MAX = 600_000;
/** Problems shown of one broken script. */
export const PROBLEMS_MAX = 20;
/** Characters of what was there, quoted in the message of an unmatched turn. */
export const QUOTE_CHARS = 120;
/** For usage that a script does not state. */
export const CHARS_PER_TOKEN = 4;
