/**
 * The one writer of a journal: group commit. Everything queued while one sync runs goes into the next batch; there is no
 * timer and no commit delay, so one sender pays nothing for it and many share each sync.
 *
 * Invariants:
 *   J8   `durable` resolves in order, and only after the sync of the batch (and of a new segment's directory entry); of
 *        an `os` record after the write. A segment is left only when it is synced, so no hole can come before its end.
 *   J9   A failed sync or an unexplained write error is fail-stop: nothing more is written, everything waiting rejects,
 *        and no sync is ever tried again. So is a segment that went from its folder, or that somebody else changed.
 *   J10  A full disk leaves no part of a batch behind: it is cut off again, what waits rejects with `journal/full`, and
 *        the seqs are given out anew. The reserve is spent only for records that ask for it, after one that it was
 *        there for; it is made before the first of them.
 *   J21  A record that names something (`after`) is written when that is durable; order stays.
 *   J11  After `sealIdleMs` of quiet a `seal` record covers the last batch, so that rot in it can't pass for a torn tail.
 */
import type { Clock, Files, TroupeError } from '../kernel/index.ts';
import { invariant } from '../kernel/index.ts';
import { Batch, utf8Length } from './batch.ts';
import * as errors from './errors.ts';
import type { Appended, AppendOptions, Journal, LiveRecord } from './handle.ts';
import type { JournalLimits } from './limits.ts';
import { findPlace } from './place.ts';
import type { RecordBody } from './record.ts';
import { encodeBody, FRAME_BYTES_MAX } from './record.ts';
import type { RecoveryReport } from './recovery.ts';
import type { Reserve } from './reserve.ts';
import { isFull } from './reserve.ts';
import type { SnapshotStore } from './snapshot.ts';
import type { Tail } from './tail.ts';
import type { RecordPlace, Reserved, Waiting, WaitingParts } from './waiting.ts';
import { makeWaiting } from './waiting.ts';

/** Where recovery ended and writing begins. */
export interface WriterStart {
  readonly tail: Tail;
  readonly crc: number;
  readonly next: number;
  readonly sealed: boolean;
}

export interface WriterDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly directory: string;
  readonly name: string;
  readonly limits: JournalLimits;
  readonly reserve: Reserve;
  readonly snapshots: SnapshotStore;
  readonly report: RecoveryReport;
}

const OWN_KINDS = new Set(['seg', 'seal', 'fwd']);
const SEAL: WaitingParts = { body: null, text: '"k":"seal"', level: 'durable', reserved: false };
const HEAD: WaitingParts = { body: null, text: null, level: 'durable', reserved: false };

export class Writer implements Journal {
  readonly report: RecoveryReport;
  readonly failed: Promise<TroupeError>;
  #deps: WriterDeps;
  #tail: Tail;
  #crc: number;
  #nextSeq: number;
  /** Written, and synced; between them lie `os` records. */
  #writtenSeq: number;
  #durableSeq: number;
  #queue: Waiting[] = [];
  #queuedCost = 0;
  #listeners: Set<(record: LiveRecord) => void> = new Set();
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
  #lookedMs: number;
  #stop: AbortController = new AbortController();
  #tailBytes: number;

  constructor(deps: WriterDeps, start: WriterStart) {
    this.#deps = deps;
    this.report = deps.report;
    this.#tail = start.tail;
    this.#crc = start.crc;
    this.#nextSeq = start.next;
    this.#writtenSeq = start.next - 1;
    this.#durableSeq = start.next - 1;
    this.#planned = start.tail.size;
    this.#headPlanned = this.#planned > 0;
    this.#sealed = start.sealed;
    this.#activeMs = deps.clock.monotonicMs();
    this.#segmentSinceMs = this.#activeMs;
    this.#lookedMs = this.#activeMs;
    this.failed = new Promise((resolve) => {
      this.#tellFailed = resolve;
    });
    this.#tailBytes = deps.report.bytes;
    this.#armSeal();
  }

  get full(): Promise<TroupeError> {
    return this.#deps.reserve.given;
  }

  get tailBytes(): number {
    return this.#tailBytes;
  }

  get nextSeq(): number {
    return this.#nextSeq;
  }

  get durableSeq(): number {
    return this.#durableSeq;
  }

  get queuedBytes(): number {
    return this.#queuedCost;
  }

  append(body: RecordBody, options: AppendOptions = {}): Appended {
    const { directory } = this.#deps;
    if (this.#failure !== null) throw this.#failure;
    if (this.#closing !== null) throw errors.closed(directory);
    invariant(!OWN_KINDS.has(body.k), `J7: records of kind "${body.k}" are written by the journal`);
    const { level = 'durable', after } = options;
    const text = encodeBody(body, level);
    this.#checkSize(body.k, text);
    if (level === 'memory') {
      this.#tell({ ...body, s: 0, d: this.#durableSeq, l: level });
      return { seq: 0, durable: Promise.resolve() };
    }
    const reserved = options.reserved ?? false;
    this.#checkRoom(reserved);
    const { seq, durable } = this.#enqueue({ body, text, level, reserved, after });
    return { seq, durable };
  }

  subscribe(listener: (record: LiveRecord) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async writeSnapshot(state: Uint8Array, seq: number): Promise<void> {
    invariant(
      seq > 0 && seq < this.#nextSeq,
      `J15: there is no record ${seq} to take a snapshot of`,
    );
    const { directory, name, snapshots } = this.#deps;
    const before = this.#tailBytes;
    try {
      const place = await this.#placeOf(seq);
      await snapshots.write(state, { ...place, seq, log: this.#tail.log, name });
      this.#tailBytes -= before;
    } catch (error) {
      throw errors.snapshot(directory, error);
    }
  }

  /** Makes a new journal exist: its first segment, with its head. */
  async create(): Promise<void> {
    if (!this.#headPlanned) await this.#enqueueHead().durable;
  }

  async flush(): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    await this.#queue.at(-1)?.durable;
    if (this.#writtenSeq > this.#durableSeq) await this.#enqueue(SEAL).durable;
  }

  close(options?: { readonly seal?: boolean }): Promise<void> {
    this.#closing ??= this.#close(options?.seal !== false);
    return this.#closing;
  }

  async #close(seal: boolean): Promise<void> {
    this.#stop.abort();
    await this.#drained();
    if (seal && !this.#sealed && this.#failure === null) {
      this.#enqueue(SEAL);
      await this.#drained();
    }
    try {
      await this.#tail.close();
      await this.#deps.reserve.release();
    } catch (error) {
      // What was promised is durable or already rejected; the disk's last word is for whoever listens.
      this.#failStop('close', error);
    }
  }

  async #drained(): Promise<void> {
    while (this.#queue.length > 0) await this.#queue.at(-1)?.durable.catch(() => undefined);
  }

  #checkSize(kind: string, text: string): void {
    const max = this.#deps.limits.lineBytesMax;
    if (text.length * 3 + FRAME_BYTES_MAX <= max) return;
    const bytes = utf8Length(text) + FRAME_BYTES_MAX;
    if (bytes > max) throw errors.recordTooLarge(kind, { bytes, max });
  }

  #checkRoom(reserved: Reserved): void {
    const { directory, limits, clock } = this.#deps;
    if (this.#queuedCost > limits.queueBytesMax) {
      throw errors.overloaded(directory, this.#queuedCost);
    }
    if (reserved === false && clock.monotonicMs() < this.#fullUntilMs)
      throw errors.full(directory, undefined);
  }

  #enqueue(parts: WaitingParts): Waiting {
    const item = makeWaiting(parts);
    this.#queuedCost += item.cost;
    const { limits, clock } = this.#deps;
    const now = clock.monotonicMs();
    this.#activeMs = now;
    const aged = now - this.#segmentSinceMs >= limits.segmentAgeMsMax;
    if (!this.#headPlanned || this.#planned >= limits.segmentBytesMax || aged) this.#enqueueHead();
    if (item.level === 'durable') this.#sealed = item.text === SEAL.text;
    return this.#push(item);
  }

  #enqueueHead(): Waiting {
    this.#headPlanned = true;
    this.#planned = 0;
    this.#segmentSinceMs = this.#deps.clock.monotonicMs();
    const head = makeWaiting(HEAD);
    this.#queuedCost += head.cost;
    return this.#push(head);
  }

  #push(item: Waiting): Waiting {
    item.seq = this.#nextSeq;
    this.#nextSeq += 1;
    this.#queue.push(item);
    this.#planned += item.cost;
    this.#tailBytes += item.cost;
    this.#start();
    return item;
  }

  #start(): void {
    if (this.#running) return;
    this.#running = true;
    queueMicrotask(() => void this.#run());
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
    await this.#wait();
    if (!(await this.#deps.reserve.allows(this.#hasReserved()))) return this.#rejectFull(undefined);
    const count = this.#encode();
    const leaves = this.#queue[0]?.text === null && this.#writtenSeq > this.#durableSeq;
    if (leaves && !(await this.#sync())) return;
    if (!(await this.#write())) return;
    const batch = this.#queue.slice(0, count);
    const synced = batch.some((item) => item.level === 'durable');
    if (synced && !(await this.#sync())) return;
    this.#settle(batch, synced);
  }

  /** J21: for what the next record names. */
  async #wait(): Promise<void> {
    const head = this.#queue[0];
    if (head === undefined || head.after === null) return;
    const instead = await head.after;
    head.after = null;
    if (instead === null) return;
    head.text = encodeBody(instead, head.level);
    head.body = instead;
    this.#checkSize(instead.k, head.text);
  }

  /** J9: the one try. */
  async #sync(): Promise<boolean> {
    try {
      const now = this.#deps.clock.monotonicMs();
      const look = now - this.#lookedMs >= this.#deps.limits.presenceMs;
      if (look) this.#lookedMs = now;
      await this.#tail.sync(look);
      return true;
    } catch (error) {
      this.#failStop('fdatasync', error);
      return false;
    }
  }

  /** Fills the batch from the head of the queue; returns how many records it holds. */
  #encode(): number {
    const { limits, clock } = this.#deps;
    const batch = this.#batch;
    batch.begin(this.#crc);
    let count = 0;
    for (const item of this.#queue) {
      if (count === limits.batchRecordsMax) break;
      // A head begins the next segment, so it begins a batch.
      if ((item.text === null || item.after !== null) && count > 0) break;
      const text = item.text ?? this.#tail.headText(this.#crc, clock.now());
      batch.add({ seq: item.seq, durable: this.#durableSeq }, text);
      if (batch.length > limits.batchBytesMax && count > 0) {
        batch.undo();
        break;
      }
      item.crc = batch.crc;
      item.end = batch.length;
      count += 1;
    }
    return count;
  }

  /** True: the batch is written, and not yet durable; false: it could not be, and all is rejected. */
  async #write(): Promise<boolean> {
    try {
      const segment = await this.#tail.target(this.#queue[0]?.text === null);
      segment.write(this.#batch.bytes);
      return true;
    } catch (error) {
      if (!isFull(error)) {
        this.#failStop('write', error);
        return false;
      }
      return this.#writeFull(error);
    }
  }

  async #writeFull(cause: unknown): Promise<boolean> {
    try {
      await this.#tail.rollBack();
      const { reserve } = this.#deps;
      const last = this.#queue.some((item) => item.reserved === 'last');
      if (this.#hasReserved() && (await reserve.giveBack(cause, last))) {
        return await this.#write();
      }
    } catch (error) {
      this.#failStop('truncate', error);
      return false;
    }
    this.#rejectFull(cause);
    return false;
  }

  #hasReserved(): boolean {
    return this.#queue.some((item) => item.reserved !== false);
  }

  #settle(done: readonly Waiting[], synced: boolean): void {
    this.#queue.splice(0, done.length);
    this.#crc = this.#batch.crc;
    for (const item of done) this.#queuedCost -= item.cost;
    if (!this.#queue.some((item) => item.text === null)) {
      this.#planned = this.#tail.size + this.#queuedCost;
    }
    this.#fullUntilMs = Number.NEGATIVE_INFINITY;
    const durableBefore = this.#durableSeq;
    this.#writtenSeq = done.at(-1)?.seq ?? this.#writtenSeq;
    if (synced) this.#durableSeq = this.#writtenSeq;
    this.#tail.settle(done, this.#batch.length);
    for (const item of done) item.resolve();
    if (this.#listeners.size > 0) this.#announce(done, durableBefore);
  }

  #announce(done: readonly Waiting[], d: number): void {
    for (const { body, seq, level } of done) {
      if (body === null) continue;
      this.#tell({ ...body, s: seq, d, ...(level === 'durable' ? {} : { l: level }) });
    }
  }

  #tell(record: LiveRecord): void {
    for (const listener of this.#listeners) listener(record);
  }

  /** Right behind record `seq`, once that is durable. */
  async #placeOf(seq: number): Promise<RecordPlace> {
    const waiting = this.#queue[seq - (this.#queue[0]?.seq ?? seq)];
    if (waiting?.seq === seq) {
      waiting.watched = true;
      await waiting.durable;
      if (seq > this.#durableSeq) await this.flush();
      if (waiting.place !== null) return waiting.place;
    }
    if (seq > this.#durableSeq) await this.flush();
    const end = seq === this.#writtenSeq ? this.#tail.end(this.#crc) : null;
    return end ?? (await findPlace({ ...this.#deps, seq }));
  }

  /** J10: the queue goes as a whole, since the seqs behind a hole could not be kept. */
  #rejectFull(cause: unknown): void {
    const { clock, limits, directory } = this.#deps;
    this.#fullUntilMs = clock.monotonicMs() + limits.fullRetryMs;
    this.#nextSeq = this.#writtenSeq + 1;
    this.#planned = this.#tail.size;
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
        else this.#enqueue(SEAL);
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    } finally {
      this.#sealing = false;
    }
  }
}
