/**
 * Lines out of chunks of bytes: LF only (U+2028 is text), bounded. Bytes are kept as bytes until a line is whole, so a
 * character that is split over two chunks stays whole.
 */

export type Line = { readonly kind: 'line'; readonly text: string } | LineFault;
type LineFault = { readonly kind: 'too-long' } | { readonly kind: 'not-utf8' };

export interface LineSplitter {
  /** Whole lines of what came so far, without empty ones. Nothing comes after a `too-long`. */
  push(chunk: Uint8Array): Line[];
}

const LF = 0x0a;

export function makeLineSplitter(lineMax: number): LineSplitter {
  let kept: Uint8Array[] = [];
  let size = 0;
  let broken = false;
  const decoder = new TextDecoder('utf-8', { fatal: true });

  const take = (last: Uint8Array): Line => {
    const whole = kept.length === 0 ? last : Buffer.concat([...kept, last]);
    kept = [];
    size = 0;
    try {
      return { kind: 'line', text: decoder.decode(whole) };
    } catch {
      return { kind: 'not-utf8' };
    }
  };

  return {
    push(chunk: Uint8Array): Line[] {
      const lines: Line[] = [];
      let start = 0;
      while (!broken && start < chunk.length) {
        const end = chunk.indexOf(LF, start);
        const piece = chunk.subarray(start, end === -1 ? chunk.length : end);
        if (size + piece.length > lineMax) {
          broken = true;
          lines.push({ kind: 'too-long' });
        } else if (end === -1) {
          kept.push(piece);
          size += piece.length;
          break;
        } else {
          const line = take(piece);
          if (line.kind !== 'line' || line.text.trim() !== '') lines.push(line);
          start = end + 1;
        }
      }
      return lines;
    },
  };
}
