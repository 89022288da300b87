/**
 * Compaction of the workspace journal when it is opened: what is still live is carried forward into a new base segment,
 * and the segments before it go. Run journals are never compacted, so that replay and audit hold.
 *
 * Invariants:
 *   J18  A record that is carried forward keeps its seq and its body, and the order is kept. The base is whole and durable
 *        before its name makes the older segments void (J16), so a crash leaves the one or the other. Where anything is
 *        damaged nothing is compacted.
 */
import type { Clock, Files } from '../kernel/index.ts';
import { writeAtomic } from './atomic.ts';
import { Batch } from './batch.ts';
import * as errors from './errors.ts';
import { parentOf } from './levels.ts';
import type { JournalLimits } from './limits.ts';
import { readJournal } from './reader.ts';
import type { StoredRecord } from './record.ts';
import { encodeBody, forwardedBody } from './record.ts';
import type { Compaction, Recovered } from './recovery.ts';
import { isFull } from './reserve.ts';
import type { ScanSink } from './scan.ts';
import { Scanner } from './scan.ts';
import { baseFile, FORMAT_VERSION, headBody, listSegments } from './segment.ts';
import { openSource } from './source.ts';
import { walkFile } from './walk.ts';

/** What a record is worth once later ones are there. Own records (`seg`, `seal`) are never asked about. */
export type Worth =
  | { readonly kind: 'keep' }
  | { readonly kind: 'drop' }
  /** Until the next one of this key. */
  | { readonly kind: 'last'; readonly key: string }
  /** Ends the key: neither it nor the one before is needed. */
  | { readonly kind: 'end'; readonly key: string };

export interface CompactOptions {
  /** Pure. Of a kind it does not know it says `keep`. */
  readonly worthOf: (record: StoredRecord) => Worth;
  /** Done when the journal is larger than twice what is live and this; default 256 MiB. */
  readonly slackBytes?: number;
}

const SLACK_BYTES = 256 * 1024 * 1024;

/** Which records are live, gathered while recovery replays them. */
export class LiveSet {
  readonly #worthOf: CompactOptions['worthOf'];
  readonly #kept: Map<number, number> = new Map();
  readonly #byKey: Map<string, number> = new Map();
  #bytes = 0;

  constructor(worthOf: CompactOptions['worthOf']) {
    this.#worthOf = worthOf;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#kept.size;
  }

  has(seq: number): boolean {
    return this.#kept.has(seq);
  }

  note(record: StoredRecord, bytes: number): void {
    if (record.k === 'seg' || record.k === 'seal') return;
    const worth = this.#worthOf(record);
    if (worth.kind === 'drop') return;
    if (worth.kind !== 'keep') {
      const before = this.#byKey.get(worth.key);
      if (before !== undefined) this.#drop(before);
      this.#byKey.delete(worth.key);
      if (worth.kind === 'end') return;
      this.#byKey.set(worth.key, record.s);
    }
    this.#kept.set(record.s, bytes);
    this.#bytes += bytes;
  }

  #drop(seq: number): void {
    this.#bytes -= this.#kept.get(seq) ?? 0;
    this.#kept.delete(seq);
  }
}

export interface CompactDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly directory: string;
  readonly name: string;
  readonly limits: JournalLimits;
}

/** Where writing goes on, in the base; null when there is too little to gain, or no room to do it. */
export async function compact(
  deps: CompactDeps,
  live: LiveSet,
  at: { readonly recovered: Recovered; readonly slackBytes: number | undefined },
): Promise<{ recovered: Recovered; compaction: Compaction } | null> {
  const { files, directory } = deps;
  const { recovered } = at;
  const names = await listSegments(files, directory);
  let bytesBefore = 0;
  for (const name of names) bytesBefore += (await files.stat(`${directory}/${name}`))?.size ?? 0;
  const bound = live.bytes * 2 + (at.slackBytes ?? SLACK_BYTES);
  if (bytesBefore <= bound || recovered.report.gaps.length > 0) return null;
  const base = new Base(deps, recovered);
  try {
    await writeAtomic(files, { directory, name: base.name }, base.content(live));
  } catch (error) {
    if (!isFull(error)) throw error;
    return null;
  }
  for (const name of names) await files.remove(`${directory}/${name}`);
  await files.syncDirectory(directory);
  const compaction = { bytesBefore, bytesAfter: base.bytes, kept: live.size };
  return { recovered: base.recovered(), compaction };
}

/** The new segment while it is made. */
class Base {
  readonly name: string;
  bytes = 0;
  #deps: CompactDeps;
  #start: Recovered;
  #next: number;
  #batch: Batch = new Batch();

  constructor(deps: CompactDeps, start: Recovered) {
    this.#deps = deps;
    this.#start = start;
    this.#next = start.next;
    this.name = baseFile(start.nextSegment);
  }

  content(live: LiveSet): Parameters<typeof writeAtomic>[2] {
    return { parts: this.#parts(live), check: (path) => this.#check(path) };
  }

  recovered(): Recovered {
    const { report, next, nextSegment } = this.#start;
    const lastSeq = this.#next - 1;
    return {
      report: { ...report, segments: 1, lastSeq, watermark: next - 1 },
      crc: this.#batch.crc,
      next: this.#next,
      file: this.name,
      lines: this.#next - next,
      nextSegment: nextSegment + 1,
      sealed: true,
    };
  }

  async *#parts(live: LiveSet): AsyncGenerator<Uint8Array> {
    const { clock, name, limits, files, directory } = this.#deps;
    const { crc, report, nextSegment: segment } = this.#start;
    this.#batch.begin(crc);
    const head = { version: FORMAT_VERSION, log: report.log, name, segment, prev: crc };
    this.#add(headBody(head, clock.now()));
    for await (const record of readJournal({ files, directory, limits })) {
      if (!live.has(record.s) || record.k === 'seg' || record.k === 'seal') continue;
      this.#add(encodeBody(forwardedBody(record)));
      if (this.#batch.length < limits.batchBytesMax) continue;
      yield this.#take();
      this.#batch.begin(this.#batch.crc);
    }
    this.#add('"k":"seal"');
    yield this.#take();
  }

  #add(text: string): void {
    // Every record before the base was durable when recovery ended; the base is so before its name is.
    this.#batch.add({ seq: this.#next, durable: this.#start.next - 1 }, text);
    this.#next += 1;
  }

  #take(): Uint8Array {
    this.bytes += this.#batch.length;
    return this.#batch.bytes;
  }

  /** Reads it back from the disk. */
  async #check(path: string): Promise<void> {
    const { files, limits, directory } = this.#deps;
    let records = 0;
    const sink: ScanSink = {
      record: () => {
        records += 1;
      },
      damage: () => undefined,
      head: () => undefined,
    };
    const scanner = new Scanner(sink, { ...limits, adopt: true });
    scanner.beginSegment(this.name);
    const source = await openSource(files, path);
    try {
      const rest = await walkFile(source, scanner, limits);
      if (rest.length === 0 && records === this.#next - this.#start.next) return;
    } finally {
      await source.close();
    }
    throw errors.failed(parentOf(path) || directory, 'compaction', new Error('it reads otherwise'));
  }
}
