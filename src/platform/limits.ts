/** Every bound of room `platform`. */

/** Node's timers hold 31 bits. */
export const TIMER_MS_MAX: number = 2 ** 31 - 1;

/** After the end of a captured command: how long its pipes may stay open in the hands of a stray before they are cut. */
export const DRAIN_MS: number = 250;
