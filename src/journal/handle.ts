/** What the holder of an open journal can do with it. `writer.ts` keeps the promises. */
import type { TroupeError } from '../kernel/index.ts';
import type { RecordBody } from './record.ts';
import type { RecoveryReport } from './recovery.ts';

export interface Appended {
  /** Known at once; void when `durable` rejects. */
  readonly seq: number;
  /** Resolves, in order, when the record and its directory entry are on stable storage. May be left unobserved. */
  readonly durable: Promise<void>;
}

export interface AppendOptions {
  /** May use up the reserve when the disk is full: for the records that tell of it. */
  readonly reserved?: boolean;
}

export interface Journal {
  readonly report: RecoveryReport;
  /** The seq that the next record gets, unless the journal's own records (`seg`, `seal`) come between. */
  readonly nextSeq: number;
  readonly durableSeq: number;
  /** Throws `journal/closed`, `/failed`, `/full`, `/record-too-large`, `/overloaded`; else it is queued, in order. */
  append(body: RecordBody, options?: AppendOptions): Appended;
  /** Resolves, once, on fail-stop; the process then exits 75. Never rejects. */
  readonly failed: Promise<TroupeError>;
  /** Everything appended so far is durable; rejects when it can't be. */
  flush(): Promise<void>;
  /** Idempotent. Takes no more records, writes what waits and a final `seal`; never rejects for a failed disk. */
  close(options?: { readonly seal?: boolean }): Promise<void>;
}
