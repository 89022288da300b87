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

/** Until the first byte of an answer, and between two of them, when the config says nothing. */
export const FIRST_BYTE_MS = 180_000;
export const IDLE_MS = 90_000;
/** A provider that wants to be left alone for longer has a used-up quota, not a busy minute. */
export const RETRY_AFTER_MAX_MS = 300_000;
/** Characters of a provider's message that are shown. */
export const MESSAGE_CHARS = 1000;
/** Bytes read of an error's body, or of an answer that is no stream. */
export const BODY_BYTES_MAX: number = 32 * 1024 * 1024;
/** Characters of one answer, all its parts together. */
export const ANSWER_CHARS_MAX = 8_000_000;
/** Characters of a tool's name, as the strictest API takes it. */
export const NAME_CHARS_MAX = 64;
/** Times that a paused turn is sent back to go on. */
export const PAUSES_MAX = 8;
/** The API takes so many marks; one is for the system prompt with the tools. */
export const CACHE_MARKS_MAX = 4;
/** Blocks between two marks: the API looks back 20 for an older one. */
export const CACHE_STEP = 15;
/** A key shorter than this is no key, and taking it out of a message would only garble it. */
export const SECRET_CHARS_MIN = 6;
