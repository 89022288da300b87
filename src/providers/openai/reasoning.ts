/**
 * What a model thinks, taken out of what it says: some servers have a field for it (each another), some leave it in the
 * text between `<think>` and `</think>`. It is shown and not kept, for most servers refuse it in a history.
 */

const OPEN = '<think>';
const CLOSE = '</think>';

export interface Heard {
  readonly text: string;
  readonly thought: string;
}

/** Text of a stream in which a leading `<think>` part may come in pieces. */
export class ThinkFilter {
  #state: 'start' | 'inside' | 'text' = 'start';
  #held = '';

  take(piece: string): Heard {
    if (this.#state === 'text') return { text: piece, thought: '' };
    this.#held += piece;
    if (this.#state === 'start') {
      const begun = this.#held.trimStart();
      if (OPEN.startsWith(begun)) return NOTHING;
      if (!begun.startsWith(OPEN)) return this.#release();
      this.#state = 'inside';
      this.#held = begun.slice(OPEN.length);
    }
    const end = this.#held.indexOf(CLOSE);
    if (end >= 0) {
      const thought = this.#held.slice(0, end);
      this.#held = this.#held.slice(end + CLOSE.length).trimStart();
      const { text } = this.#release();
      return { text, thought };
    }
    // The tail may be the beginning of the end.
    const safe = Math.max(0, this.#held.length - CLOSE.length);
    const thought = this.#held.slice(0, safe);
    this.#held = this.#held.slice(safe);
    return { text: '', thought };
  }

  /** What is left when the stream ends; an unclosed thought is a thought. */
  end(): Heard {
    const held = this.#held;
    this.#held = '';
    if (this.#state === 'inside') return { text: '', thought: held };
    return { text: held, thought: '' };
  }

  #release(): Heard {
    this.#state = 'text';
    const text = this.#held;
    this.#held = '';
    return { text, thought: '' };
  }
}

const NOTHING: Heard = { text: '', thought: '' };

/** The thought in a delta or message, whatever its server calls it. */
export function thoughtIn(delta: ReadonlyMap<string, unknown>): string {
  for (const key of ['reasoning_content', 'reasoning', 'thinking']) {
    const value = delta.get(key);
    if (typeof value === 'string' && value !== '') return value;
  }
  const details = delta.get('reasoning_details');
  if (!Array.isArray(details)) return '';
  return details
    .map((one: unknown) => {
      const part = new Map<string, unknown>(
        typeof one === 'object' && one !== null ? Object.entries(one) : [],
      );
      const text = part.get('text') ?? part.get('summary');
      return typeof text === 'string' ? text : '';
    })
    .join('');
}
