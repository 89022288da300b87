/** Bounds of the socket: what a broken or hostile client can cost. */
export const IPC_LIMITS = {
  /** One message, in bytes: long mail fits. */
  lineMax: 4_194_304,
  connectionsMax: 64,
  /** Requests of one connection that run at once; past it the socket is not read. */
  pendingMax: 64,
  batchMax: 100,
  /** Bytes that wait for a client that does not read; past it the connection is dropped. */
  unsentMax: 16_777_216,
  /** While this much is unsent, events of a subscription wait in its queue. */
  unsentSoft: 262_144,
  subscriptionsMax: 32,
  /** A connection that has not said `hello` by then is dropped. */
  helloMs: 5_000,
} as const;
