/**
 * Room `client`: calls to a running supervisor. This index stays free of Node, for the browser; the socket half is
 * `client/socket.ts` and is imported by name.
 */
export type { CallOptions, Client } from './client.ts';
export { type Link, type LinkOptions, makeLink } from './link.ts';
