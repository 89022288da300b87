/**
 * A text that comes in pieces: a secret that is split over two of them is found. A word is given on when it is whole, so what
 * is held back is short; what was given on stays in view, since it may say that the next word is a secret.
 */
import { PEM_MAX, STREAM_WINDOW } from './limits.ts';
import { pemBlocks } from './pem-blocks.ts';
import { type Redactor, without } from './redact.ts';

export interface RedactStream {
  /** What of the text so far may be shown now. */
  push(chunk: string): string;
  /** The rest; the stream begins anew. */
  end(): string;
}

export function makeRedactStream(redactor: Redactor): RedactStream {
  /** Raw: `given` characters of it were given on. */
  let seen = '';
  let given = 0;
  /** In a secret that is longer than the window: all up to its end is dropped. */
  let dropping: RegExp | null = null;

  function give(to: number): string {
    const spans = redactor.spans(seen);
    const shown = without(seen, spans, given, to);
    given = to;
    const past = Math.max(0, given - STREAM_WINDOW);
    seen = seen.slice(past);
    given -= past;
    return shown;
  }

  function push(chunk: string): string {
    let fresh = chunk;
    if (dropping !== null) {
      const rest = seen.slice(given) + fresh;
      const end = rest.search(dropping);
      if (end < 0) {
        // The end may be split, too.
        seen = rest.slice(-16);
        given = 0;
        return '';
      }
      dropping = null;
      seen = '';
      given = 0;
      fresh = rest.slice(end);
    }
    seen += fresh;
    const cut = wholeUpTo();
    const waiting = seen.length - cut;
    // What may become a known value is never longer than that value.
    if (redactor.begins(seen, given) === cut && cut < seen.length)
      return cut > given ? give(cut) : '';
    const max = cut < seen.length && openPem() !== null ? PEM_MAX : STREAM_WINDOW;
    if (waiting <= max) return cut > given ? give(cut) : '';
    return overflow();
  }

  /** What waits is longer than any secret that is known: if one is in it, all of it is taken for that. */
  function overflow(): string {
    const pem = openPem();
    const last = redactor.spans(seen).at(-1);
    const inside = pem !== null || (last !== undefined && last[1] >= seen.length - 1);
    const shown = give(seen.length);
    if (inside) {
      dropping = pem === null ? /\s/ : /-----END /;
      seen = '';
      given = 0;
    }
    return shown;
  }

  const openPem = (): number | null => openPemIn(seen, given);

  function wholeUpTo(): number {
    let word = seen.length;
    while (word > given && !/\s/.test(seen[word - 1] ?? '')) word -= 1;
    return Math.max(given, Math.min(word, openPem() ?? word, redactor.begins(seen, given)));
  }

  return {
    push,
    end() {
      const shown = dropping === null ? give(seen.length) : '';
      seen = '';
      given = 0;
      dropping = null;
      return shown;
    },
  };
}

/** Where a private key begins that has no end yet. */
function openPemIn(seen: string, given: number): number | null {
  const at = seen.lastIndexOf('-----BEGIN ');
  if (at < given || at < 0) return null;
  const block = pemBlocks(seen).at(-1);
  if (block === undefined) return seen.length - at <= 80 ? at : null;
  return block.open ? at : null;
}
