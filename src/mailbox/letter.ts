/** An unread or dead envelope as a mailbox holds it. */
import type { Envelope } from '../protocol/envelope.ts';

/** Bulk mail of one sender with one `body.key`: the last one stands for all. */
export interface Coalesced {
  /** Position of the one that stands for the others. */
  head: number;
  /** Positions that will be seen with it, rising. */
  readonly members: Set<number>;
}

export interface Letter {
  readonly envelope: Envelope;
  readonly bytes: number;
  readonly atMs: number;
  readonly coalesced: Coalesced | null;
}
