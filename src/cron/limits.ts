/** Bounds of the scheduler. */

/** How far ahead a slot is looked for: the 29th of February that is a fifth Monday comes every 28 years, or 40 over 2100. */
export const SEARCH_YEARS_MAX = 50;
/** A zone's rules are looked up a year at a time; so many years of one zone are kept. */
export const ZONE_YEARS_MAX = 64;
