/** Named bounds of the room. */

/** Characters of one string in the data of an event; what is longer is cut, and says so. */
export const TEXT_MAX = 2_000;
/** Events that wait for one subscriber. */
export const QUEUE_MAX = 1_000;
/** A known secret that is shorter would redact ordinary words. */
export const SECRET_MIN = 6;
/** Rounds in which a replay that is overtaken by what happens meanwhile may try to catch up. */
export const CATCH_UP_ROUNDS = 10;
/** Known secrets that are looked for; the first ones of a process. */
export const KNOWN_MAX = 200;
/** Characters between the two lines of a private key. */
export const PEM_MAX = 65_536;
/** Characters of a stream that stay in view, and that one word of it may have before it is given on. */
export const STREAM_WINDOW = 8_192;
/** Values that were told to be secrets by their names, and are looked for beside them. */
export const ECHOES_MAX = 20;
/** Kinds of events whose receivers are known by heart. */
export const MATCHING_MAX = 4_096;
