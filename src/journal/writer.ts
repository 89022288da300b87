/**
 * The one writer of a journal: group commit. Everything queued while one sync runs goes into the next batch; there is no
 * timer and no commit delay, so one sender pays nothing for it and many share each sync.
 *
 * Invariants:
 *   J8   `durable` resolves in order, and only after the sync of the batch (and of a new segment's directory entry).
 *   J9   A failed sync or an unexplained write error is fail-stop: nothing more is written, everything waiting rejects,
 *        and no sync is ever tried again.
 *   J10  A full disk leaves no part of a batch behind: it is cut off again, what waits rejects with `journal/full`, and
 *        the seqs are given out anew. The reserve is spent only for records that ask for it.
 *   J11  After `sealIdleMs` of quiet a `seal` record covers the last batch, so that rot in it can't pass for a torn tail.
 */
import type { Clock, Files, TroupeError } from '../kernel/index.ts';
import { invariant } from '../kernel/index.ts';
import { Batch, utf8Length } from './batch.ts';
import * as errors from './errors.ts';
import type { Appended, AppendOptions, Journal } from './handle.ts';
import type { JournalLimits } from './limits.ts';
import type { RecordBody } from './record.ts';
import { encodeBody, FRAME_BYTES_MAX } from './record.ts';
import type { RecoveryReport } from './recovery.ts';
import type { Reserve } from './reserve.ts';
import { isFull } from './reserve.ts';
import { FORMAT_VERSION, headBody, OpenSegment } from './segment.ts';

/** Where recovery ended and writing begins. */
export interface WriterStart {
  readonly log: string;
  readonly crc: number;
  readonly next: number;
  /** Null: the first batch creates segment `nextSegment`. */
  readonly segment: OpenSegment | null;
  readonly nextSegment: number;
  readonly sealed: boolean;
}

export interface WriterDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly directory: string;
  readonly name: string;
  readonly limits: JournalLimits;
  readonly reserve: Reserve;
  readonly report: RecoveryReport;
}

interface Waiting {
  readonly seq: number;
  /** Null: the head of a new segment, whose text depends on the chain. */
  readonly text: string | null;
  readonly cost: number;
  readonly reserved: boolean;
  readonly resolve: () => void;
  readonly reject: (error: TroupeError) => void;
  readonly durable: Promise<void>;
}

const OWN_KINDS = new Set(['seg', 'seal']);
const SEAL_TEXT = '"k":"seal"';

export class Writer implements Journal {
  readonly report: RecoveryReport;
  readonly failed: Promise<TroupeError>;
  #deps: WriterDeps;
  #log: string;
  #segment: OpenSegment | null;
  #nextSegment: number;
  #crc: number;
  #nextSeq: number;
  #durableSeq: number;
  #queue: Waiting[] = [];
  #queuedCost = 0;
  /** Bytes the newest segment will have once the queue is written; counted in characters until then. */
  #planned: number;
  #headPlanned: boolean;
  #segmentSinceMs: number;
  #batch: Batch = new Batch();
  #running = false;
  #failure: TroupeError | null = null;
  #tellFailed: (error: TroupeError) => void = () => undefined;
  #fullUntilMs = Number.NEGATIVE_INFINITY;
  #closing: Promise<void> | null = null;
  #sealed: boolean;
  #sealing = false;
  #activeMs: number;
  #stop: AbortController = new AbortController();

  constructor(deps: WriterDeps, start: WriterStart) {
    this.#deps = deps;
    this.report = deps.report;
    this.#log = start.log;
    this.#segment = start.segment;
    this.#nextSegment = start.nextSegment;
    this.#crc = start.crc;
    this.#nextSeq = start.next;
    this.#durableSeq = start.next - 1;
    this.#planned = start.segment?.size ?? 0;
    this.#headPlanned = this.#planned > 0;
    this.#sealed = start.sealed;
    this.#activeMs = deps.clock.monotonicMs();
    this.#segmentSinceMs = this.#activeMs;
    this.failed = new Promise((resolve) => {
      this.#tellFailed = resolve;
    });
    this.#armSeal();
  }

  get nextSeq(): number {
    return this.#nextSeq;
  }

  get durableSeq(): number {
    return this.#durableSeq;
  }

  append(body: RecordBody, options?: AppendOptions): Appended {
    const { directory, limits, clock } = this.#deps;
    if (this.#failure !== null) throw this.#failure;
    if (this.#closing !== null) throw errors.closed(directory);
    invariant(!OWN_KINDS.has(body.k), `J7: records of kind "${body.k}" are written by the journal`);
    const text = encodeBody(body);
    this.#checkSize(body.k, text);
    if (this.#queuedCost > limits.queueBytesMax) {
      throw errors.overloaded(directory, this.#queuedCost);
    }
    const reserved = options?.reserved === true;
    if (!reserved && clock.monotonicMs() < this.#fullUntilMs)
      throw errors.full(directory, undefined);
    const { seq, durable } = this.#enqueue(text, reserved);
    return { seq, durable };
  }

  /** Makes a new journal exist: its first segment, with its head. */
  async create(): Promise<void> {
    if (!this.#headPlanned) await this.#enqueueHead().durable;
  }

  async flush(): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    await this.#queue.at(-1)?.durable;
  }

  close(options?: { readonly seal?: boolean }): Promise<void> {
    this.#closing ??= this.#close(options?.seal !== false);
    return this.#closing;
  }

  async #close(seal: boolean): Promise<void> {
    this.#stop.abort();
    await this.#drained();
    if (seal && !this.#sealed && this.#failure === null) {
      this.#enqueue(SEAL_TEXT, false);
      await this.#drained();
    }
    try {
      await this.#segment?.close();
      if (this.#deps.reserve.present) await this.#deps.reserve.release();
    } catch (error) {
      // What was promised is durable or already rejected; the disk's last word is for whoever listens.
      this.#failStop('close', error);
    }
  }

  async #drained(): Promise<void> {
    const last = this.#queue.at(-1)?.durable;
    await last?.catch(() => undefined);
  }

  #checkSize(kind: string, text: string): void {
    const max = this.#deps.limits.lineBytesMax;
    if (text.length * 3 + FRAME_BYTES_MAX <= max) return;
    const bytes = utf8Length(text) + FRAME_BYTES_MAX;
    if (bytes > max) throw errors.recordTooLarge(kind, { bytes, max });
  }

  #enqueue(text: string, reserved: boolean): Waiting {
    const { limits, clock } = this.#deps;
    const now = clock.monotonicMs();
    this.#activeMs = now;
    const aged = now - this.#segmentSinceMs >= limits.segmentAgeMsMax;
    if (!this.#headPlanned || this.#planned >= limits.segmentBytesMax || aged) this.#enqueueHead();
    this.#sealed = text === SEAL_TEXT;
    return this.#push(text, reserved);
  }

  #enqueueHead(): Waiting {
    this.#headPlanned = true;
    this.#planned = 0;
    this.#segmentSinceMs = this.#deps.clock.monotonicMs();
    return this.#push(null, false);
  }

  #push(text: string | null, reserved: boolean): Waiting {
    let resolve: () => void = () => undefined;
    let reject: (error: TroupeError) => void = () => undefined;
    const durable = new Promise<void>((fulfil, refuse) => {
      resolve = fulfil;
      reject = refuse;
    });
    // Who does not watch `durable` learns of a failed disk from `failed`.
    durable.catch(() => undefined);
    const seq = this.#nextSeq;
    this.#nextSeq += 1;
    const cost = (text?.length ?? 0) + FRAME_BYTES_MAX;
    const item: Waiting = { seq, text, cost, reserved, resolve, reject, durable };
    this.#queue.push(item);
    this.#queuedCost += cost;
    this.#planned += cost;
    if (!this.#running) {
      this.#running = true;
      queueMicrotask(() => void this.#run());
    }
    return item;
  }

  async #run(): Promise<void> {
    try {
      while (this.#queue.length > 0 && this.#failure === null) await this.#commit();
    } catch (error) {
      this.#failStop('commit', error);
    } finally {
      this.#running = false;
    }
    this.#activeMs = this.#deps.clock.monotonicMs();
    this.#armSeal();
  }

  /** One batch: one write, one sync. */
  async #commit(): Promise<void> {
    const { reserve } = this.#deps;
    if (reserve.missing && !this.#queue.some((item) => item.reserved)) {
      // Else the next records would eat the space that the reserve gave back.
      if (!(await reserve.restore())) return this.#rejectFull(undefined);
    }
    const count = this.#encode();
    const segment = await this.#write();
    if (segment === null) return;
    try {
      await segment.sync();
    } catch (error) {
      this.#failStop('fdatasync', error);
      return;
    }
    this.#settle(count, segment);
  }

  /** Fills the batch from the head of the queue; returns how many records it holds. */
  #encode(): number {
    const { limits, clock, name } = this.#deps;
    const batch = this.#batch;
    batch.begin(this.#crc);
    let count = 0;
    for (const item of this.#queue) {
      if (count === limits.batchRecordsMax) break;
      // A head begins the next segment, so it begins a batch.
      if (item.text === null && count > 0) break;
      const text = item.text ?? this.#headText(name, clock.now());
      batch.add({ seq: item.seq, durable: this.#durableSeq }, text);
      if (batch.length > limits.batchBytesMax && count > 0) {
        batch.undo();
        break;
      }
      count += 1;
    }
    return count;
  }

  #headText(name: string, atMs: number): string {
    const segment = this.#segmentForHead();
    const head = { version: FORMAT_VERSION, log: this.#log, name, segment, prev: this.#crc };
    return headBody(head, atMs);
  }

  /** An empty segment that recovery or a full disk left takes the head; else a new one. */
  #segmentForHead(): number {
    const open = this.#segment;
    return open !== null && open.size === 0 ? open.segment : this.#nextSegment;
  }

  /** The segment that now holds the batch, not yet durable; null when it could not be written and all is rejected. */
  async #write(): Promise<OpenSegment | null> {
    try {
      const segment = await this.#segmentForBatch();
      segment.write(this.#batch.bytes);
      return segment;
    } catch (error) {
      if (!isFull(error)) {
        this.#failStop('write', error);
        return null;
      }
      return this.#writeFull(error);
    }
  }

  async #segmentForBatch(): Promise<OpenSegment> {
    const open = this.#segment;
    const needsHead = this.#queue[0]?.text === null;
    if (open !== null && (!needsHead || open.size === 0)) return open;
    const { files, directory } = this.#deps;
    const created = await OpenSegment.create({ files, directory, segment: this.#nextSegment });
    this.#segment = created;
    this.#nextSegment += 1;
    await open?.close();
    return created;
  }

  async #writeFull(cause: unknown): Promise<OpenSegment | null> {
    const { reserve } = this.#deps;
    try {
      await this.#segment?.rollBack();
      if (reserve.present && this.#queue.some((item) => item.reserved)) {
        await reserve.release();
        return await this.#write();
      }
    } catch (error) {
      this.#failStop('truncate', error);
      return null;
    }
    this.#rejectFull(cause);
    return null;
  }

  #settle(count: number, segment: OpenSegment): void {
    const done = this.#queue.splice(0, count);
    this.#crc = this.#batch.crc;
    for (const item of done) this.#queuedCost -= item.cost;
    if (!this.#queue.some((item) => item.text === null)) {
      this.#planned = segment.size + this.#queuedCost;
    }
    this.#fullUntilMs = Number.NEGATIVE_INFINITY;
    this.#durableSeq = done.at(-1)?.seq ?? this.#durableSeq;
    for (const item of done) item.resolve();
  }

  /** J10: the queue goes as a whole, since the seqs behind a hole could not be kept. */
  #rejectFull(cause: unknown): void {
    const { clock, limits, directory } = this.#deps;
    this.#fullUntilMs = clock.monotonicMs() + limits.fullRetryMs;
    this.#nextSeq = this.#durableSeq + 1;
    this.#planned = this.#segment?.size ?? 0;
    this.#headPlanned = this.#planned > 0;
    // A seal that found no room is not tried again until there is something new to cover.
    this.#sealed = true;
    this.#rejectAll(errors.full(directory, cause));
  }

  #failStop(what: string, cause: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = errors.failed(this.#deps.directory, what, cause);
    this.#stop.abort();
    this.#rejectAll(this.#failure);
    this.#tellFailed(this.#failure);
  }

  #rejectAll(error: TroupeError): void {
    const rejected = this.#queue;
    this.#queue = [];
    this.#queuedCost = 0;
    for (const item of rejected) item.reject(error);
  }

  /** One sleeper at a time, whatever the traffic. */
  #armSeal(): void {
    if (this.#sealed || this.#sealing || this.#closing !== null || this.#failure !== null) return;
    this.#sealing = true;
    void this.#sealWhenIdle();
  }

  async #sealWhenIdle(): Promise<void> {
    const { clock, limits } = this.#deps;
    try {
      while (!this.#stop.signal.aborted && !this.#sealed) {
        const leftMs = this.#activeMs + limits.sealIdleMs - clock.monotonicMs();
        if (leftMs > 0) await clock.sleep(leftMs, this.#stop.signal);
        else if (this.#running) return;
        else this.#enqueue(SEAL_TEXT, false);
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    } finally {
      this.#sealing = false;
    }
  }
}
