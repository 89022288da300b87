/** Bounds of the socket: what a broken or hostile client can cost. */
export const IPC_LIMITS = {
  /** One message, in bytes: long mail fits. */
  lineMax: 4_194_304,
  /** The same before `hello`: a stranger is given room for a token, and no more. */
  helloLineMax: 4_096,
  /** Clients that have said `hello`. */
  clientsMax: 256,
  /** Connections that have not; a new one takes the place of the oldest. */
  strangersMax: 32,
  /** Requests of one connection that run at once; past it the socket is not read. */
  pendingMax: 64,
  batchMax: 100,
  /** Levels of arrays and objects in one message. */
  depthMax: 64,
  /** Bytes of one answer, or of a batch of answers. */
  resultMax: 8_388_608,
  /** Bytes that wait for a client that does not read; past it the connection is dropped. */
  unsentMax: 16_777_216,
  /** While this much is unsent, events of a subscription wait in its queue and no request is taken. */
  unsentSoft: 262_144,
  /** Subscriptions of one connection, and of all. */
  subscriptionsMax: 32,
  subscriptionsInAllMax: 2_048,
  /** A connection that has not said `hello` by then is dropped. */
  helloMs: 5_000,
  /** How long the last words to a connection that is being closed may take. */
  lastWordsMs: 500,
  /** Events that happen within it go to their subscribers in one piece. */
  flushMs: 20,
  flushEvents: 256,
  /** Tokens for actors that are good at a time. */
  actorTokensMax: 256,
  /** What the wire carried: rows that are kept, characters of their parameters, and bytes past which none are kept. */
  traceRows: 1_000,
  traceBytes: 65_536,
  traceParams: 2_048,
} as const;
