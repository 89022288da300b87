/** Feeds a `Scanner` from a file, a window at a time, so that no segment is held in memory as a whole. */
import type { JournalLimits } from './limits.ts';
import type { Scanner } from './scan.ts';
import type { Source } from './source.ts';

export class Walk {
  /** Where the first line that was not taken begins. */
  position = 0;
  /** After `end`: the bytes behind the last line feed. */
  rest: Uint8Array = new Uint8Array(0);
  #handle: Pick<Source, 'read'>;
  #limits: JournalLimits;
  #want: number;

  constructor(handle: Pick<Source, 'read'>, limits: JournalLimits, position = 0) {
    this.#handle = handle;
    this.position = position;
    this.#limits = limits;
    this.#want = limits.windowBytes;
  }

  /** Reads one window; `end`: there was no more when it looked. May be called again when the file has grown. */
  async step(scanner: Scanner): Promise<'more' | 'end'> {
    const { windowBytes, lineBytesMax } = this.#limits;
    const want = this.#want;
    const bytes = await this.#handle.read(this.position, want);
    const taken = scanner.push(bytes);
    this.position += taken;
    if (bytes.length < want) {
      this.rest = bytes.subarray(taken);
      return 'end';
    }
    if (taken > 0) {
      this.#want = windowBytes;
    } else if (want <= lineBytesMax) {
      this.#want = want * 2;
    } else {
      scanner.pushJunk(bytes.length);
      this.position += bytes.length;
    }
    return 'more';
  }
}

/** The file from where the scanner stands in it to its end; returns the bytes behind the last line feed. */
export async function walkFile(
  source: Source,
  scanner: Scanner,
  limits: JournalLimits,
): Promise<Uint8Array> {
  const walk = new Walk(source, limits, scanner.offset);
  while ((await walk.step(scanner)) === 'more');
  if (!source.whole) scanner.pushJunk(1);
  return walk.rest;
}
