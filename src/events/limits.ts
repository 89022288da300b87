/** Named bounds of the room. */

/** Characters of one string in the data of an event; what is longer is cut, and says so. */
export const TEXT_MAX = 2_000;
/** Events that wait for one subscriber. */
export const QUEUE_MAX = 1_000;
/** A known secret that is shorter would redact ordinary words. */
export const SECRET_MIN = 6;
/** Rounds in which a replay that is overtaken by what happens meanwhile may try to catch up. */
export const CATCH_UP_ROUNDS = 10;
