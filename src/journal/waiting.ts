/** One record on its way to the disk. */
import type { TroupeError } from '../kernel/index.ts';
import type { Level, RecordBody } from './record.ts';
import { FRAME_BYTES_MAX } from './record.ts';

/** Whether a record may use up the reserve; `last`: also what is kept of it for the last word. */
export type Reserved = boolean | 'last';

export interface Waiting {
  /** 0 until its place in the order is given. */
  seq: number;
  /** Null: the journal's own. */
  body: RecordBody | null;
  /** Null: the head of a new segment, whose text depends on the chain. */
  text: string | null;
  /** Not to be written before; null when there is nothing to wait for (any more). */
  after: Promise<RecordBody | null> | null;
  readonly cost: number;
  readonly level: Exclude<Level, 'memory'>;
  readonly reserved: Reserved;
  /** Known once it is in a batch: its crc, and where it ends in the batch. */
  crc: number;
  end: number;
  /** Settled while somebody waits to know where it lies. */
  place: RecordPlace | null;
  watched: boolean;
  readonly resolve: () => void;
  readonly reject: (error: TroupeError) => void;
  readonly durable: Promise<void>;
}

/** Where the log stands right behind a record. */
export interface RecordPlace {
  readonly segment: number;
  readonly offset: number;
  /** Lines before `offset`. */
  readonly lines: number;
  readonly crc: number;
}

export interface WaitingParts {
  readonly body: RecordBody | null;
  readonly text: string | null;
  readonly level: Waiting['level'];
  readonly reserved: Reserved;
  readonly after?: Promise<RecordBody | null> | undefined;
}

export function makeWaiting(parts: WaitingParts): Waiting {
  let resolve: () => void = () => undefined;
  let reject: (error: TroupeError) => void = () => undefined;
  const durable = new Promise<void>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  // Who does not watch `durable` learns of a failed disk from `failed`.
  durable.catch(() => undefined);
  const { body, text, level, reserved, after = null } = parts;
  after?.catch(() => undefined);
  const cost = (text?.length ?? 0) + FRAME_BYTES_MAX;
  const place = { crc: 0, end: 0, place: null, watched: false };
  return { seq: 0, body, text, after, cost, level, reserved, ...place, resolve, reject, durable };
}
