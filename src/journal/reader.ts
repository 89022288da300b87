/**
 * Reading beside a writer: no lock, no repair. A `Cursor` takes what is there and can go on later; it ignores an
 * incomplete last line and what may be a torn tail.
 */
import type { Files } from '../kernel/index.ts';
import { systemCode } from '../kernel/index.ts';
import type { JournalLimits } from './limits.ts';
import { withDefaults } from './limits.ts';
import { readHeadOf } from './place.ts';
import type { RecordHead, RecordView, StoredRecord } from './record.ts';
import { readHead, tryReadRecord } from './record.ts';
import type { Damage, ScanSink } from './scan.ts';
import { Scanner } from './scan.ts';
import type { HeadExpectation, SegmentHead } from './segment.ts';
import { checkHead, isBase, isPacked, listSegments, segmentOf } from './segment.ts';
import type { Source } from './source.ts';
import { openSource } from './source.ts';
import { Walk } from './walk.ts';

export interface ReadJournalOptions {
  readonly files: Files;
  readonly directory: string;
  /** First seq wanted; default 1. */
  readonly from?: number | undefined;
  /** Decides on the head, without JSON.parse. */
  readonly select?: ((head: RecordHead) => boolean) | undefined;
  /** Damage below the watermark, in its place in the order. */
  readonly onGap?: ((gap: Damage) => void) | undefined;
  readonly limits?: Partial<JournalLimits> | undefined;
}

/**
 * Every intact record from `from` on, in order, the journal's own (`seg`, `seal`) included; none when there is no
 * journal. Rejects `journal/newer-version` and `journal/foreign`.
 */
export async function* readJournal(options: ReadJournalOptions): AsyncGenerator<StoredRecord> {
  const cursor = new Cursor(options);
  try {
    yield* cursor.drain();
  } finally {
    await cursor.close();
  }
}

export class Cursor implements ScanSink {
  #options: ReadJournalOptions;
  #limits: JournalLimits;
  #from: number;
  #expected: HeadExpectation;
  #scanner: Scanner;
  #file: string | null = null;
  #source: Source | null = null;
  #walk: Walk | null = null;
  #ready: StoredRecord[] = [];
  #lost = false;
  /** The last segment is packed and read: there is no more. */
  #ended = false;

  constructor(options: ReadJournalOptions) {
    this.#options = options;
    this.#limits = withDefaults(options.limits);
    this.#from = options.from ?? 1;
    this.#expected = { directory: options.directory, log: null, name: null };
    this.#scanner = new Scanner(this, { ...this.#limits, adopt: false });
  }

  /** The seq after the last record that was passed. */
  get next(): number {
    return this.#from;
  }

  /** The file no longer continues where this cursor stands, or it stands behind undecided damage: start a new one. */
  get lost(): boolean {
    return this.#lost || this.#scanner.undecided;
  }

  /** Size of the file it stands in, for telling whether anything changed. */
  async size(): Promise<number> {
    return this.#source === null ? -1 : await this.#source.size();
  }

  record(view: RecordView): void {
    // A record that was carried forward keeps its seq; the head of what carries it would step over that.
    const base = isBase(this.#file ?? '');
    const head = base ? readHead(view) : null;
    if (base && head?.k === 'seg') return;
    const seq = head?.s ?? view.s;
    if (seq < this.#from) return;
    this.#from = seq + 1;
    const { select } = this.#options;
    if (select !== undefined && !select(head ?? readHead(view))) return;
    const record = tryReadRecord(view);
    if (record !== null) this.#ready.push(record);
  }

  damage(damage: Damage): void {
    if (Math.max(damage.fromSeq, damage.toSeq) >= this.#from) this.#options.onGap?.(damage);
  }

  head(head: SegmentHead, file: string): void {
    const error = checkHead(head, file, this.#expected);
    if (error !== null) throw error;
  }

  /** What there is now. */
  async *drain(): AsyncGenerator<StoredRecord> {
    if (this.#file === null && !(await this.#start())) return;
    if ((await this.size()) < (this.#walk?.position ?? 0)) {
      this.#lost = true;
      return;
    }
    do {
      yield* this.#toEnd();
    } while (await this.#nextSegment());
    yield* this.#takeReady();
  }

  async close(): Promise<void> {
    const source = this.#source;
    this.#source = null;
    await source?.close();
  }

  async *#toEnd(): AsyncGenerator<StoredRecord> {
    for (;;) {
      const more = this.#ended ? 'end' : await this.#walk?.step(this.#scanner);
      yield* this.#takeReady();
      if (more !== 'more') return;
    }
  }

  #takeReady(): StoredRecord[] {
    const ready = this.#ready;
    this.#ready = [];
    return ready;
  }

  /** At the newest segment that begins at or before `from`. */
  async #start(): Promise<boolean> {
    const names = await listSegments(this.#options.files, this.#options.directory);
    for (let index = names.length - 1; index > 0; index -= 1) {
      const file = names[index] ?? '';
      if (this.#from > 1 && (await this.#firstSeq(file)) <= this.#from) {
        this.#scanner = new Scanner(this, { ...this.#limits, adopt: true });
        return await this.#enter(file);
      }
    }
    const first = names[0];
    return first !== undefined && (await this.#enter(first));
  }

  /** Infinity when the head is not intact. */
  async #firstSeq(file: string): Promise<number> {
    const source = await this.#open(file);
    try {
      const found = source === null ? null : await readHeadOf(source, this.#limits);
      return found?.firstSeq ?? Number.POSITIVE_INFINITY;
    } finally {
      await source?.close();
    }
  }

  async #enter(file: string): Promise<boolean> {
    const source = await this.#open(file);
    if (source === null) return false;
    // Whatever was before, a base says where the chain stands.
    if (isBase(file)) this.#scanner = new Scanner(this, { ...this.#limits, adopt: true });
    this.#source = source;
    this.#file = file;
    this.#ended = false;
    this.#walk = new Walk(source, this.#limits);
    this.#scanner.beginSegment(file);
    return true;
  }

  /** Null when it went; one that was packed just now is read packed. */
  async #open(file: string): Promise<Source | null> {
    for (const name of isPacked(file) ? [file] : [file, `${file}.gz`]) {
      try {
        return await openSource(this.#options.files, this.#path(name));
      } catch (error) {
        if (systemCode(error) !== 'ENOENT') throw error;
      }
    }
    return null;
  }

  /** Goes on to the next segment; the one before gets no more, so its rest is read and judged first. */
  async #nextSegment(): Promise<boolean> {
    const current = segmentOf(this.#file ?? '') ?? 0;
    const names = await listSegments(this.#options.files, this.#options.directory);
    const following = names.find((name) => (segmentOf(name) ?? 0) > current);
    if (this.#walk === null || this.#ended) return false;
    const packed = isPacked(this.#file ?? '');
    if (following === undefined && !packed) return false;
    while ((await this.#walk.step(this.#scanner)) === 'more');
    if (this.#source?.whole === false) this.#scanner.pushJunk(1);
    this.#scanner.pushUnterminated(this.#walk.rest);
    if (following === undefined) {
      this.#ended = true;
      this.#scanner.endPacked();
      this.#scanner.endLast();
      return false;
    }
    this.#scanner.endSegment();
    await this.close();
    return await this.#enter(following);
  }

  #path(file: string): string {
    return `${this.#options.directory}/${file}`;
  }
}
