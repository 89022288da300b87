/**
 * Lines out of chunks of bytes: LF only (U+2028 is text), bounded. Bytes are kept as bytes until a line is whole, so a
 * character that is split over two chunks stays whole; and in one buffer, so that a line that comes a byte at a time costs
 * no more than its length. What is past the bound is counted by nobody and kept by nobody.
 */

export type Line = { readonly kind: 'line'; readonly text: string } | LineFault;
type LineFault = { readonly kind: 'too-long' } | { readonly kind: 'not-utf8' };

export interface LineSplitter {
  /** Only when `next` has given null. */
  push(chunk: Uint8Array): void;
  /** The next whole line, without empty ones; null: it needs more. Nothing comes after a `too-long`. */
  next(lineMax: number): Line | null;
}

const LF = 0x0a;
/** A buffer that has grown past this is given back with its line. */
const KEEP_BYTES = 65_536;

export function makeLineSplitter(): LineSplitter {
  let held = Buffer.allocUnsafe(1_024);
  let size = 0;
  let chunk: Uint8Array | null = null;
  let start = 0;
  let broken = false;
  const decoder = new TextDecoder('utf-8', { fatal: true });

  const keep = (piece: Uint8Array): void => {
    if (size + piece.length > held.length) {
      const larger = Buffer.allocUnsafe(Math.max(held.length * 2, size + piece.length));
      held.copy(larger, 0, 0, size);
      held = larger;
    }
    held.set(piece, size);
    size += piece.length;
  };
  const decode = (bytes: Uint8Array): Line => {
    try {
      return { kind: 'line', text: decoder.decode(bytes) };
    } catch {
      return { kind: 'not-utf8' };
    }
  };
  const take = (last: Uint8Array): Line => {
    if (size === 0) return decode(last);
    keep(last);
    const line = decode(held.subarray(0, size));
    size = 0;
    if (held.length > KEEP_BYTES) held = Buffer.allocUnsafe(1_024);
    return line;
  };

  return {
    push(next: Uint8Array): void {
      if (broken) return;
      chunk = next;
      start = 0;
    },
    next(lineMax: number): Line | null {
      while (chunk !== null && !broken) {
        const end = chunk.indexOf(LF, start);
        const piece = chunk.subarray(start, end === -1 ? chunk.length : end);
        if (size + piece.length > lineMax) {
          broken = true;
          chunk = null;
          held = Buffer.alloc(0);
          return { kind: 'too-long' };
        }
        if (end === -1) {
          keep(piece);
          chunk = null;
          return null;
        }
        start = end + 1;
        const line = take(piece);
        if (line.kind !== 'line' || line.text.trim() !== '') return line;
      }
      return null;
    },
  };
}
