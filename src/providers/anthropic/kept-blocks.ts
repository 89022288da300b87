/**
 * Blocks of an answer that mean something to the model alone (thinking), kept beside the answer's content as they came.
 * The API takes them back only from the model that made them and behind the same conversation.
 *
 * Invariants
 * - L16 A request holds all kept blocks exactly as they came, or none: one that does not fit takes all others with it.
 */
import type { Message } from '../../protocol/index.ts';

export interface KeptBlock {
  /** Index in the answer's content that it stands before. */
  readonly at: number;
  readonly block: Readonly<Record<string, unknown>> & { readonly type: string };
}

/** `meta.anthropic` of an answer. */
export interface Kept {
  readonly model: string;
  /** Digest of the request that the answer was made from. */
  readonly prefix: string;
  readonly blocks: readonly KeptBlock[];
}

/** Null: none, nothing that this version understands, or a message that was moved by a compaction. */
export function keptOf(message: Message): Kept | null {
  if (message.role !== 'assistant' || message.moved === true) return null;
  const meta = message.meta?.['anthropic'];
  if (typeof meta !== 'object' || meta === null || !('blocks' in meta)) return null;
  const { blocks } = meta;
  const fits =
    'model' in meta &&
    typeof meta.model === 'string' &&
    'prefix' in meta &&
    typeof meta.prefix === 'string' &&
    Array.isArray(blocks) &&
    blocks.length > 0;
  return fits ? (meta as Kept) : null;
}

/** A digest of texts in order; not for secrets. Whole conversations go through it before each request. */
export class Digest {
  // Small integers, for the engine's sake: beyond 31 bits the loop is several times slower.
  #high = 0xdeadbeef | 0;
  #low = 0x41c6ce57;

  add(text: string): void {
    const [high, low] = mix(text, this.#high, this.#low);
    this.#high = high;
    this.#low = low;
  }

  get value(): string {
    return `${(this.#high >>> 0).toString(36)}.${(this.#low >>> 0).toString(36)}`;
  }
}

const PRIME_HIGH = 0x9e3779b1 | 0;
const PRIME_LOW = 0x5f356495;

function mix(text: string, startHigh: number, startLow: number): readonly [number, number] {
  let high = startHigh ^ text.length;
  let low = startLow;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, PRIME_HIGH);
    low = Math.imul(low ^ code, PRIME_LOW);
  }
  return [
    Math.imul(high ^ (high >>> 16), PRIME_LOW) ^ Math.imul(low ^ (low >>> 13), PRIME_HIGH),
    Math.imul(low ^ (low >>> 16), PRIME_LOW) ^ Math.imul(high ^ (high >>> 13), PRIME_HIGH),
  ];
}
