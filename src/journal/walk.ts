/** Feeds a `Scanner` from a file, a window at a time, so that no segment is held in memory as a whole. */
import type { JournalLimits } from './limits.ts';
import type { Scanner } from './scan.ts';
import type { Source } from './source.ts';

export class Walk {
  /** Where the first line that was not taken begins. */
  position: number;
  /** After `end`: the bytes behind the last line feed. */
  rest: Uint8Array = new Uint8Array(0);
  #source: Pick<Source, 'read'>;
  #limits: JournalLimits;
  #readAhead: boolean;
  /** Read and not taken: the beginning of a line. */
  #carry: Uint8Array = NONE;
  #ahead: Promise<Uint8Array> | null = null;

  /** `readAhead`: the next window is read while this one is scanned; for a file that nobody writes. */
  constructor(
    source: Pick<Source, 'read'>,
    limits: JournalLimits,
    options: { position?: number; readAhead?: boolean } = {},
  ) {
    this.position = options.position ?? 0;
    this.#readAhead = options.readAhead ?? false;
    this.#source = source;
    this.#limits = limits;
  }

  /** Reads one window; `end`: there was no more when it looked. May be called again when the file has grown. */
  async step(scanner: Scanner): Promise<'more' | 'end'> {
    const { windowBytes, lineBytesMax } = this.#limits;
    const at = this.position + this.#carry.length;
    const window = await (this.#ahead ?? this.#source.read(at, windowBytes));
    const full = window.length === windowBytes;
    this.#ahead = full && this.#readAhead ? this.#startRead(at + windowBytes) : null;
    const bytes = this.#carry.length === 0 ? window : joined(this.#carry, window);
    const taken = scanner.push(bytes);
    this.position += taken;
    if (!full) {
      // What is left may be cut and written anew before the next look.
      this.#carry = NONE;
      this.rest = bytes.subarray(taken);
      return 'end';
    }
    this.#carry = bytes.subarray(taken);
    if (this.#carry.length > lineBytesMax) {
      scanner.pushJunk(this.#carry.length);
      this.position += this.#carry.length;
      this.#carry = NONE;
    }
    return 'more';
  }

  #startRead(at: number): Promise<Uint8Array> {
    const read = this.#source.read(at, this.#limits.windowBytes);
    // Whoever takes the next step meets the error.
    read.catch(() => undefined);
    return read;
  }
}

const NONE: Uint8Array = new Uint8Array(0);

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

/** The file from where the scanner stands in it to its end; returns the bytes behind the last line feed. */
export async function walkFile(
  source: Source,
  scanner: Scanner,
  limits: JournalLimits,
): Promise<Uint8Array> {
  const walk = new Walk(source, limits, { position: scanner.offset, readAhead: true });
  while ((await walk.step(scanner)) === 'more');
  if (!source.whole) scanner.pushJunk(1);
  return walk.rest;
}
