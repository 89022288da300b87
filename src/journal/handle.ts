/** What the holder of an open journal can do with it. `writer.ts` keeps the promises. */
import type { TroupeError } from '../kernel/index.ts';
import type { Level, RecordBody } from './record.ts';
import type { RecoveryReport } from './recovery.ts';
import type { Reserved } from './waiting.ts';

export interface Appended {
  /** Known at once, and void when `durable` rejects; of `memory` it is 0. */
  readonly seq: number;
  /** Resolves, in order, when the record has reached its level. May be left unobserved. */
  readonly durable: Promise<void>;
}

export interface AppendOptions {
  /** May use up the reserve when the disk is full: for what was begun, and `last` for the one record that tells of it. */
  readonly reserved?: Reserved;
  /** Default `durable`. Another one stands in the record, as `l`. */
  readonly level?: Level;
  /**
   * What the record names must be durable first: it and all behind it are written after this has resolved, and with that
   * body when it gives one. When it rejects, the journal fails.
   */
  readonly after?: Promise<RecordBody | null> | undefined;
}

/** A record as a live subscriber gets it, when it has reached its level. */
export interface LiveRecord extends RecordBody {
  /** 0 for `memory`. */
  readonly s: number;
  readonly d: number;
}

export interface Journal {
  readonly report: RecoveryReport;
  /** The seq that the next record gets, unless the journal's own records (`seg`, `seal`) come between. */
  readonly nextSeq: number;
  readonly durableSeq: number;
  /** On their way to the disk; past `queueBytesMax` nothing more is taken. */
  readonly queuedBytes: number;
  /** About so many bytes does the next start replay: what came after the newest snapshot. */
  readonly tailBytes: number;
  /** Throws `journal/closed`, `/failed`, `/full`, `/record-too-large`, `/overloaded`; else it is queued, in order. */
  append(body: RecordBody, options?: AppendOptions): Appended;
  /**
   * Every record that reaches its level from now on, in order, without the journal's own; together with what a reader
   * finds up to `durableSeq` there is no gap. `listener` must not throw. Returns its end.
   */
  subscribe(listener: (record: LiveRecord) => void): () => void;
  /**
   * Writes `state`, which must be the fold of all records up to `seq`, so that the next start replays only what comes
   * after. Waits until `seq` is durable; resolves when the snapshot is. Rejects `journal/snapshot`: the journal goes on.
   */
  writeSnapshot(state: Uint8Array, seq: number): Promise<void>;
  /** Resolves, once, on fail-stop; the process then exits 75. Never rejects. */
  readonly failed: Promise<TroupeError>;
  /**
   * Resolves, once, when the disk was full and the reserve was given back for records that may use it: what is accepted
   * from now on is only what must still be said. Never rejects.
   */
  readonly full: Promise<TroupeError>;
  /** Everything appended so far is durable, of whatever level but `memory`; rejects when it can't be. */
  flush(): Promise<void>;
  /** Idempotent. Takes no more records, writes what waits and a final `seal`; never rejects for a failed disk. */
  close(options?: { readonly seal?: boolean }): Promise<void>;
}
