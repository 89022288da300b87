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

/** Null: none, or nothing that this version understands. */
export function keptOf(message: Message): Kept | null {
  if (message.role !== 'assistant') return null;
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

/** A digest of texts in order; not for secrets. */
export class Digest {
  #high = 0xdeadbeef;
  #low = 0x41c6ce57;

  add(text: string): void {
    let high = this.#high;
    let low = this.#low;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      high = Math.imul(high ^ code, 2654435761);
      low = Math.imul(low ^ code, 1597334677);
    }
    this.#high =
      Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    this.#low =
      Math.imul(low ^ (low >>> 16), 2246822507) ^
      Math.imul(this.#high ^ (this.#high >>> 13), 3266489909);
  }

  get value(): string {
    return `${(this.#high >>> 0).toString(36)}.${(this.#low >>> 0).toString(36)}`;
  }
}
