/** Feeds a `Scanner` from a file, a window at a time, so that no segment is held in memory as a whole. */
import type { FileHandle } from '../kernel/index.ts';
import type { JournalLimits } from './limits.ts';
import type { Scanner } from './scan.ts';

export class Walk {
  /** Where the first line that was not taken begins. */
  position = 0;
  /** After `end`: the bytes behind the last line feed. */
  rest: Uint8Array = new Uint8Array(0);
  #handle: FileHandle;
  #limits: JournalLimits;
  #want: number;

  constructor(handle: FileHandle, limits: JournalLimits) {
    this.#handle = handle;
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

/** The whole file from its start; returns the bytes behind the last line feed. */
export async function walkFile(
  handle: FileHandle,
  scanner: Scanner,
  limits: JournalLimits,
): Promise<Uint8Array> {
  const walk = new Walk(handle, limits);
  while ((await walk.step(scanner)) === 'more');
  return walk.rest;
}
