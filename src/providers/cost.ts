/** From counted tokens to `Usage`. What nobody counted, or nobody has a price for, is marked as an estimate. */
import type { Price } from '../config/index.ts';
import type { ContentBlock, ProviderRequest, Usage } from '../protocol/index.ts';
import { CHARS_PER_TOKEN } from './limits.ts';

export interface Tokens {
  /** Without those of the cache. */
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** `tokens` null: the provider told nothing, so they are estimated from the text. */
export function usageFor(
  tokens: Tokens | null,
  price: Price | null,
  texts: { readonly request: ProviderRequest; readonly content: readonly ContentBlock[] },
): Usage {
  const counted = tokens ?? {
    input: estimateTokens(texts.request),
    output: Math.ceil(JSON.stringify(texts.content).length / CHARS_PER_TOKEN),
    cacheRead: 0,
    cacheWrite: 0,
  };
  return {
    inputTokens: counted.input,
    outputTokens: counted.output,
    cacheReadTokens: counted.cacheRead,
    cacheWriteTokens: counted.cacheWrite,
    costUsd: price === null ? 0 : costOf(counted, price),
    estimated: tokens === null || price === null,
  };
}

function estimateTokens(request: ProviderRequest): number {
  const { system, tools, messages } = request;
  const chars = system.length + JSON.stringify(tools).length + JSON.stringify(messages).length;
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

function costOf(tokens: Tokens, price: Price): number {
  const perMillion =
    tokens.input * price.input +
    tokens.output * price.output +
    tokens.cacheRead * price.cacheRead +
    tokens.cacheWrite * price.cacheWrite;
  return perMillion / 1_000_000;
}
