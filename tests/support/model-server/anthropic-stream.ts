/** An answer as events of the Messages API. Text and arguments come in pieces, with a ping between. */
import type { Json, ModelAnswer } from './answer.ts';
import { messagesOf, signThinking } from './anthropic-rules.ts';
import type { CacheUse } from './prompt-cache.ts';

export interface Ids {
  next(prefix: string): string;
}

const STOPS = {
  length: 'max_tokens',
  refusal: 'refusal',
  pause: 'pause_turn',
  overflow: 'model_context_window_exceeded',
} as const;

export function anthropicFrames(
  request: Json,
  answer: ModelAnswer,
  known: { readonly cache: CacheUse; readonly ids: Ids },
): string[] {
  const { cache, ids } = known;
  const blocks = blocksOf(request, answer, ids);
  const output = Math.ceil(JSON.stringify(answer).length / 4);
  const usage = {
    input_tokens: cache.input,
    cache_read_input_tokens: cache.read,
    cache_creation_input_tokens: cache.write,
    output_tokens: 1,
  };
  const stop = answer.stop === undefined ? stopOf(answer) : STOPS[answer.stop];
  const details =
    answer.stop === 'refusal' ? { stop_details: { type: 'refusal', category: 'cyber' } } : {};
  return [
    frame({
      type: 'message_start',
      message: {
        id: ids.next('msg'),
        type: 'message',
        role: 'assistant',
        model: request['model'],
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    }),
    frame({ type: 'ping' }),
    ...blocks.flatMap((block, index) => blockFrames(block, index)),
    frame({
      type: 'message_delta',
      delta: { stop_reason: stop, stop_sequence: null, ...details },
      usage: { output_tokens: output },
    }),
    frame({ type: 'message_stop' }),
  ];
}

function stopOf(answer: ModelAnswer): string {
  return (answer.calls ?? []).length > 0 ? 'tool_use' : 'end_turn';
}

export function frame(event: Json): string {
  return `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`;
}

interface WireBlock {
  readonly start: Json;
  readonly deltas: readonly Json[];
}

function blocksOf(request: Json, answer: ModelAnswer, ids: Ids): WireBlock[] {
  const blocks: WireBlock[] = [];
  if (answer.thinking !== undefined) {
    const messages = messagesOf(request);
    const last = messages.at(-1);
    const resumed = last?.role === 'assistant';
    const before = resumed
      ? { at: messages.length - 1, blocks: last.content }
      : { at: messages.length, blocks: [] };
    const signature = signThinking(request, before, answer.thinking);
    blocks.push({
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...pieces(answer.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature },
      ],
    });
  }
  if (answer.text !== undefined) {
    blocks.push({
      start: { type: 'text', text: '' },
      deltas: pieces(answer.text).map((text) => ({ type: 'text_delta', text })),
    });
  }
  for (const { tool, input, raw } of answer.calls ?? []) {
    const json = raw ?? JSON.stringify(input);
    blocks.push({
      start: { type: 'tool_use', id: ids.next('toolu_01server'), name: tool, input: {} },
      deltas: ['', ...pieces(json)].map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      })),
    });
  }
  return blocks;
}

function blockFrames({ start, deltas }: WireBlock, index: number): string[] {
  return [
    frame({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => frame({ type: 'content_block_delta', index, delta })),
    frame({ type: 'content_block_stop', index }),
  ];
}

/** Of about 20 characters, and not more than 40 of them. */
export function pieces(text: string): string[] {
  const size = Math.max(20, Math.ceil(text.length / 40));
  const found: string[] = [];
  for (let at = 0; at < text.length; at += size) found.push(text.slice(at, at + size));
  return found;
}
