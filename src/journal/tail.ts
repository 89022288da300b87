/** The end of the log: the segment that is being written, and how the next one is begun. */
import type { Files } from '../kernel/index.ts';
import { FORMAT_VERSION, headBody, OpenSegment } from './segment.ts';
import type { RecordPlace, Waiting } from './waiting.ts';

export interface TailParts {
  readonly files: Files;
  readonly directory: string;
  readonly name: string;
  readonly log: string;
  /** Null: the first batch creates segment `nextSegment`. */
  readonly segment: OpenSegment | null;
  /** Lines in it. */
  readonly lines: number;
  readonly nextSegment: number;
}

export class Tail {
  #parts: TailParts;
  #segment: OpenSegment | null;
  #next: number;
  #lines: number;

  constructor(parts: TailParts) {
    this.#parts = parts;
    this.#segment = parts.segment;
    this.#next = parts.nextSegment;
    this.#lines = parts.lines;
  }

  get log(): string {
    return this.#parts.log;
  }

  /** Bytes that belong to whole batches. */
  get size(): number {
    return this.#segment?.size ?? 0;
  }

  /** The body of the head that the next segment gets. */
  headText(prev: number, atMs: number): string {
    const { log, name } = this.#parts;
    const open = this.#segment;
    // An empty segment that recovery or a full disk left takes the head; else a new one.
    const segment = open !== null && open.size === 0 ? open.segment : this.#next;
    return headBody({ version: FORMAT_VERSION, log, name, segment, prev }, atMs);
  }

  /** The segment that takes a batch which begins with a head or not. */
  async target(withHead: boolean): Promise<OpenSegment> {
    const open = this.#segment;
    if (open !== null && (!withHead || open.size === 0)) return open;
    const { files, directory } = this.#parts;
    const created = await OpenSegment.create({ files, directory, segment: this.#next });
    this.#segment = created;
    this.#next += 1;
    await open?.close();
    return created;
  }

  /** `look`: rejects also when what was written is no longer where it should be. */
  async sync(look: boolean): Promise<void> {
    const segment = this.#segment;
    const [there] = await Promise.all([look ? segment?.isThere() : true, segment?.sync()]);
    if (there === false) throw new Error('the segment was removed or changed by somebody else');
  }

  /** Takes away what a failed write left. */
  async rollBack(): Promise<void> {
    await this.#segment?.rollBack();
  }

  async close(): Promise<void> {
    await this.#segment?.close();
  }

  /** A batch is written: tells those records that are watched where they lie. */
  settle(done: readonly Waiting[], batchBytes: number): void {
    if (done[0]?.text === null) this.#lines = 0;
    const start = this.size - batchBytes;
    for (const item of done) {
      this.#lines += 1;
      if (item.watched) item.place = this.#placed(start + item.end, item.crc);
    }
  }

  /** Where the log ends; null before its first segment. */
  end(crc: number): RecordPlace | null {
    return this.#segment === null ? null : this.#placed(this.size, crc);
  }

  #placed(offset: number, crc: number): RecordPlace {
    return { segment: this.#segment?.segment ?? 0, offset, lines: this.#lines, crc };
  }
}
