/**
 * Room `control`: the commands and queries that every front end uses. Queries read the journals beside the writer,
 * whether or not a supervisor runs; commands check everything before they write anything.
 */
export type { EventFeed, LiveControl } from './live.ts';
