/**
 * The prompt cache as the API has it: what stood before a mark is kept; a later request reads the longest kept prefix
 * that ends at one of its marks or up to 20 blocks before it. It is kept from the moment on that the answer begins.
 */
import { createHash } from 'node:crypto';
import { canonical, isJson, type Json } from './answer.ts';
import { messagesOf } from './anthropic-rules.ts';

export interface CacheUse {
  readonly input: number;
  readonly read: number;
  readonly write: number;
  /** The answer begins. */
  readonly keep: () => void;
}

const LOOKBACK = 20;

export class PromptCache {
  readonly #kept = new Set<string>();

  use(body: Json): CacheUse {
    const digest = createHash('sha256').update(String(body['model']));
    let tokens = 0;
    const prefixes: { key: string; tokens: number; marked: boolean }[] = [];
    for (const block of blocksOf(body)) {
      const text = canonical(block);
      digest.update(text);
      tokens += Math.ceil(text.length / 4);
      const marked = block['cache_control'] !== undefined;
      prefixes.push({ key: digest.copy().digest('hex'), tokens, marked });
    }
    let read = 0;
    let marked = 0;
    for (const [at, prefix] of prefixes.entries()) {
      if (!prefix.marked) continue;
      marked = prefix.tokens;
      const near = prefixes.slice(Math.max(0, at - LOOKBACK), at + 1);
      const hit = near.findLast((one) => this.#kept.has(one.key));
      read = Math.max(read, hit?.tokens ?? 0);
    }
    const keep = (): void => {
      for (const prefix of prefixes) if (prefix.marked) this.#kept.add(prefix.key);
    };
    const write = Math.max(0, marked - read);
    return { input: tokens - Math.max(marked, read), read, write, keep };
  }
}

/** Tools, system, messages: the order in which they are kept. */
function blocksOf(body: Json): Json[] {
  const { system, tools } = body;
  const list = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
  const messages = messagesOf(body).flatMap(({ role, content }) =>
    content.map((block): Json => ({ role, ...block })),
  );
  return [...list(tools), ...list(system), ...messages];
}
