/** Limits of the room. */

/** How long a view waits for a supervisor that went away to be there again, and how often it looks. */
export const RECONNECT_MS: number = 5 * 60_000;
export const RECONNECT_LOOK_MS = 300;
/** For the last events of a run that is over. */
export const END_SEEN_MS = 2_000;
/** For a supervisor to check and begin a run. */
export const START_MS = 120_000;
/** What `down` gives running work when nobody says, and what it waits beyond that before it uses force. */
export const DOWN_MS = 30_000;
export const DOWN_SLACK_MS = 15_000;
/** Between two looks whether a process is gone, and how long is looked after it said that it ends. */
export const GONE_LOOK_MS = 50;
export const GONE_MS = 30_000;
