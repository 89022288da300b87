/**
 * The chain of records, line by line: which are intact, where the chain breaks and where it fits again. Pure: bytes in,
 * verdicts out; `walk.ts` feeds it from files, recovery, readers and the doctor act on what it says.
 *
 * Invariants:
 *   J4  A record is intact when its crc fits the crc of the record before (J2) and its seq is the next one.
 *   J5  Damage at or below the watermark (the highest `d` of any intact record) is named, never swallowed: the scan
 *       goes on at the next record whose crc fits what the damaged line stored, or what its bytes give.
 *   J6  Damage above the watermark at the end of the last segment is a torn tail: never acknowledged, so nothing after
 *       it counts, intact or not.
 */
import { crc32 } from './crc32.ts';
import type { RecordView } from './record.ts';
import {
  CR,
  findStart,
  findTrailerEnd,
  LF,
  readPrefix,
  readTrailer,
  TRAILER_BYTES,
} from './record.ts';
import type { SegmentHead } from './segment.ts';
import { parseSegmentHead } from './segment.ts';

export type DamageCause =
  /** The bytes are no record: cut, overwritten, foreign. */
  | 'format'
  /** A record whose crc does not fit its bytes, or not the record before. */
  | 'checksum'
  /** A line that ends without its line feed. */
  | 'incomplete'
  /** Records that are in no file: a segment is gone, or lines were taken out. */
  | 'missing';

export interface Damage {
  readonly file: string;
  /** From 1, where the damage begins. */
  readonly line: number;
  readonly offset: number;
  readonly bytes: number;
  readonly cause: DamageCause;
  /** The records lost, both included; `toSeq` is `fromSeq - 1` when it cost none. */
  readonly fromSeq: number;
  readonly toSeq: number;
}

export interface TornTail {
  readonly file: string;
  readonly line: number;
  readonly offset: number;
  readonly fromSeq: number;
  /** Intact records in it, which follow the break. */
  readonly records: number;
}

/** Called in the order of the log. */
export interface ScanSink {
  record(view: RecordView): void;
  damage(damage: Damage): void;
  /** Each intact head of a segment, before its record; may throw to refuse the journal. */
  head(head: SegmentHead, file: string): void;
}

interface OpenDamage {
  readonly file: string;
  readonly line: number;
  readonly offset: number;
  readonly cause: DamageCause;
  readonly fromSeq: number;
  /** Crc of the last intact record before it. */
  readonly crcBefore: number;
  bytes: number;
  /** Highest seq that a damaged line may have carried. */
  seqGuess: number;
}

/** A line whose content may be proven by the next one, since only its crc field is damaged. */
interface Candidate {
  readonly view: RecordView;
  readonly crc: number;
}

type Held =
  | { readonly kind: 'record'; readonly view: RecordView }
  | { readonly kind: 'damage'; readonly damage: Damage; readonly crcBefore: number };

export class Scanner {
  /** Crc of the last intact record, seq of the next one: where a writer would go on. */
  crc = 0;
  next = 1;
  /** The highest `d` of an intact record. */
  watermark = 0;
  /** Lines that end with CR LF. */
  crlfLines = 0;
  file = '';
  /** Some bytes of `file` are no intact record. */
  fileDamaged = false;
  line = 1;
  offset = 0;
  #sink: ScanSink;
  #salvageStartsMax: number;
  #adopt: boolean;
  #open: OpenDamage | null = null;
  #stored = -1;
  #recomputed = -1;
  #candidate: Candidate | null = null;
  /** From the first damage that is still above the watermark. */
  #held: Held[] = [];
  #unterminated = false;

  /** `adopt`: the first segment is not the journal's first, so its head says where the chain stands. */
  constructor(sink: ScanSink, options: { salvageStartsMax: number; adopt: boolean }) {
    this.#sink = sink;
    this.#salvageStartsMax = options.salvageStartsMax;
    this.#adopt = options.adopt;
  }

  beginSegment(file: string): void {
    this.file = file;
    this.fileDamaged = false;
    this.line = 1;
    this.offset = 0;
  }

  /** Right behind a record that is known to be intact and durable. */
  enter(at: { next: number; crc: number; lines: number; offset: number }): void {
    this.#adopt = false;
    this.next = at.next;
    this.crc = at.crc;
    this.watermark = at.next - 1;
    this.line = at.lines + 1;
    this.offset = at.offset;
  }

  /** Takes every complete line; returns the number of bytes that were. */
  push(bytes: Uint8Array): number {
    let start = 0;
    for (;;) {
      const lf = bytes.indexOf(LF, start);
      if (lf < 0) return start;
      this.#takeLine(bytes, start, lf);
      this.offset += lf + 1 - start;
      this.line += 1;
      start = lf + 1;
    }
  }

  /** Bytes that belong to no line of a legal length. */
  pushJunk(length: number): void {
    this.#break('format', length, this.offset);
    this.offset += length;
  }

  /** The bytes after the last line feed of a segment; true when they end in a whole record that only misses its own. */
  pushUnterminated(bytes: Uint8Array): boolean {
    if (bytes.length === 0) return false;
    const nextBefore = this.next;
    this.#unterminated = true;
    this.#takeLine(bytes, 0, bytes.length);
    this.#unterminated = false;
    this.offset += bytes.length;
    const whole = this.#open === null && this.next > nextBefore;
    if (whole) this.line += 1;
    return whole;
  }

  /** A segment that is not the last one: what is damaged in it stays damaged. */
  endSegment(): void {
    this.#release(Number.POSITIVE_INFINITY);
  }

  /** The last segment is packed: it was whole when that was done, so what is damaged in it stays damaged. */
  endPacked(): void {
    this.endSegment();
    this.beginSegment('');
  }

  /** Whether the scan stands behind damage of which it is not decided yet what it is. */
  get undecided(): boolean {
    return this.#open !== null || this.#held.length > 0;
  }

  /** The last segment is read. After a torn tail, `crc` and `next` stand before it. */
  endLast(): TornTail | null {
    const first = this.#held[0];
    const open = this.#open;
    if (first?.kind === 'damage') return this.#cut(first.damage, first.crcBefore);
    if (open === null) return null;
    if (open.file === this.file) return this.#cut(open, open.crcBefore);
    // The segment before ends in damage and this one has nothing intact: the seqs lost can only be guessed.
    this.#closeDamage(open.seqGuess);
    this.next = open.seqGuess + 1;
    return null;
  }

  #cut(damage: Damage | OpenDamage, crcBefore: number): TornTail {
    const records = this.#held.filter((item) => item.kind === 'record').length;
    this.#held = [];
    this.#open = null;
    this.crc = crcBefore;
    this.next = damage.fromSeq;
    const { file, line, offset, fromSeq } = damage;
    return { file, line, offset, fromSeq, records };
  }

  #takeLine(bytes: Uint8Array, start: number, lineEnd: number): void {
    let end = lineEnd;
    if (bytes[end - 1] === CR && end > start) {
      end -= 1;
      this.crlfLines += 1;
    }
    if (this.line === 1 && this.#takeHead(bytes, start, end)) return;
    if (this.#open === null && end - start > TRAILER_BYTES) {
      const prefix = readPrefix(bytes, start, end);
      if (prefix !== null && prefix.s === this.next) {
        const stored = readTrailer(bytes, end);
        const contentEnd = end - TRAILER_BYTES;
        if (stored >= 0 && stored === crc32(bytes, start, contentEnd, this.crc)) {
          this.#accept({ s: prefix.s, d: prefix.d, bytes, start, end: contentEnd }, stored);
          return;
        }
      }
    }
    this.#salvage(bytes, start, end);
  }

  /** A segment's head carries its seed, so the chain can be entered there whatever came before. */
  #takeHead(bytes: Uint8Array, start: number, end: number): boolean {
    const prefix = readPrefix(bytes, start, end);
    const stored = readTrailer(bytes, end);
    if (prefix === null || stored < 0) return false;
    const view = { s: prefix.s, d: prefix.d, bytes, start, end: end - TRAILER_BYTES };
    const head = parseSegmentHead(view);
    if (head === null || stored !== crc32(bytes, start, view.end, head.prev)) return false;
    this.#sink.head(head, this.file);
    if (this.#adopt) {
      this.#adopt = false;
      this.next = prefix.s;
      this.crc = head.prev;
    }
    if (prefix.s < this.next) return false;
    if (this.#open === null && (prefix.s > this.next || head.prev !== this.crc)) {
      this.#break('missing', 0, this.offset);
    }
    this.#accept(view, stored);
    return true;
  }

  /** Looks for intact records inside a line that is not one: glued lines, junk before or behind, a lost place. */
  #salvage(bytes: Uint8Array, start: number, end: number): void {
    let rest = start;
    let tries = 0;
    let from = start;
    while (from < end && tries < this.#salvageStartsMax) {
      const at = findStart(bytes, from, end);
      if (at < 0) break;
      tries += 1;
      const found = this.#fit(bytes, at, end);
      if (found === null) {
        from = at + 1;
        continue;
      }
      if (at > rest) this.#break('format', at - rest, this.offset + rest - start);
      this.#acceptFitting(found);
      rest = found.view.end + TRAILER_BYTES;
      from = rest;
    }
    if (rest >= end && rest > start) return;
    this.#breakLine(bytes, { start: rest, end, offset: this.offset + rest - start });
  }

  /** The record that starts at `at`, when its crc fits one of the seeds that may be right here. */
  #fit(bytes: Uint8Array, at: number, end: number): Candidate | null {
    const prefix = readPrefix(bytes, at, end);
    if (prefix === null || prefix.s < this.next) return null;
    const seeds = this.#seeds(prefix.s);
    for (let to = findTrailerEnd(bytes, at, end); to >= 0; to = findTrailerEnd(bytes, to, end)) {
      const stored = readTrailer(bytes, to);
      const contentEnd = to - TRAILER_BYTES;
      for (const seed of seeds) {
        if (crc32(bytes, at, contentEnd, seed) !== stored) continue;
        const view = { s: prefix.s, d: prefix.d, bytes, start: at, end: contentEnd };
        return { view, crc: stored };
      }
    }
    return null;
  }

  #seeds(seq: number): number[] {
    const seeds: number[] = [];
    if (seq === this.next) seeds.push(this.crc);
    if (this.#open !== null) {
      if (this.#stored >= 0) seeds.push(this.#stored);
      if (this.#recomputed >= 0) seeds.push(this.#recomputed);
    }
    return seeds;
  }

  #acceptFitting(found: Candidate): void {
    const candidate = this.#candidate;
    const { view } = found;
    if (candidate !== null && view.s === candidate.view.s + 1) {
      // Proven by this record's chain: only the crc field of the line before is damaged.
      const proven = crc32(view.bytes, view.start, view.end, candidate.crc) === found.crc;
      if (proven) this.#accept(candidate.view, candidate.crc);
    }
    this.#accept(view, found.crc);
  }

  #breakLine(bytes: Uint8Array, part: { start: number; end: number; offset: number }): void {
    const { start, end, offset } = part;
    const first = this.#open === null;
    const prefix = readPrefix(bytes, start, end);
    const stored = readTrailer(bytes, end);
    const seed = first || this.#stored < 0 ? this.crc : this.#stored;
    const contentEnd = end - TRAILER_BYTES;
    const whole = contentEnd > start;
    const recomputed = whole ? crc32(bytes, start, contentEnd, seed) : -1;
    this.#break(this.#causeOf(prefix !== null && stored >= 0), Math.max(1, end - start), offset);
    this.#stored = stored;
    this.#recomputed = recomputed;
    this.#candidate = null;
    if (prefix === null) return;
    const open = this.#open;
    if (open !== null && prefix.s > open.seqGuess && prefix.s < open.seqGuess + 1_000_000) {
      open.seqGuess = prefix.s;
    }
    if (first && whole && prefix.s === this.next) {
      const copy = bytes.slice(start, contentEnd);
      const view = { s: prefix.s, d: prefix.d, bytes: copy, start: 0, end: copy.length };
      this.#candidate = { view, crc: recomputed };
    }
  }

  #causeOf(framed: boolean): DamageCause {
    if (framed) return 'checksum';
    return this.#unterminated ? 'incomplete' : 'format';
  }

  /** Begins damage at `offset`, or extends the one that is open. */
  #break(cause: DamageCause, length: number, offset: number): void {
    if (length > 0) this.fileDamaged = true;
    if (this.#open !== null) {
      this.#open.bytes += length;
      if (length > 0) this.#open.seqGuess += 1;
      return;
    }
    const { file, line, next, crc } = this;
    const seqGuess = length > 0 ? next : next - 1;
    const place = { file, line, offset, cause, fromSeq: next, bytes: length };
    this.#open = { ...place, crcBefore: crc, seqGuess };
    this.#stored = -1;
    this.#recomputed = -1;
    this.#candidate = null;
  }

  #accept(view: RecordView, crc: number): void {
    if (view.d > this.watermark) this.watermark = view.d;
    if (this.#open !== null) this.#closeDamage(view.s - 1);
    this.crc = crc;
    this.next = view.s + 1;
    if (this.#held.length === 0) {
      this.#sink.record(view);
      return;
    }
    const copy = view.bytes.slice(view.start, view.end);
    const kept = { s: view.s, d: view.d, bytes: copy, start: 0, end: copy.length };
    this.#held.push({ kind: 'record', view: kept });
    this.#release(this.watermark);
  }

  #closeDamage(toSeq: number): void {
    const open = this.#open;
    if (open === null) return;
    this.#open = null;
    const { file, line, offset, bytes, cause, fromSeq } = open;
    const damage: Damage = { file, line, offset, bytes, cause, fromSeq, toSeq };
    const torn = open.file === this.file && isLoss(damage) && fromSeq > this.watermark;
    if (this.#held.length === 0 && !torn) this.#sink.damage(damage);
    else this.#held.push({ kind: 'damage', damage, crcBefore: open.crcBefore });
  }

  /** Gives out what is held, up to the first damage above `watermark`. */
  #release(watermark: number): void {
    let given = 0;
    for (const item of this.#held) {
      if (item.kind === 'record') this.#sink.record(item.view);
      else if (isLoss(item.damage) && item.damage.fromSeq > watermark) break;
      else this.#sink.damage(item.damage);
      given += 1;
    }
    if (given > 0) this.#held = this.#held.slice(given);
  }
}

function isLoss(damage: Damage): boolean {
  return damage.toSeq >= damage.fromSeq;
}
