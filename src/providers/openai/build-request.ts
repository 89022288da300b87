/**
 * A request of Chat Completions, in the part that every compatible server understands. Pure.
 *
 * Invariants
 * - L1 What it builds is accepted: each call is followed by its results, one message each, before anything else; no
 *   content is empty; the last message is not the model's; arguments are always the JSON of an object.
 */
import type { ProviderSettings } from '../../config/index.ts';
import type { Message, ProviderRequest } from '../../protocol/index.ts';
import { wireInput, wireName } from '../call-input.ts';

export interface WireCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

export type WireMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly tool_calls?: readonly WireCall[];
      readonly reasoning_content?: string;
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string };

export type WireRequest = Readonly<Record<string, unknown>> & {
  readonly model: string;
  readonly messages: readonly WireMessage[];
};

const GO_ON = '(go on)';
const NO_OUTPUT = '(no output)';
const NO_ANSWER = '(no answer)';

export function buildRequest(request: ProviderRequest, settings: ProviderSettings): WireRequest {
  const messages: WireMessage[] = [];
  if (request.system.trim() !== '') messages.push({ role: 'system', content: request.system });
  for (const message of request.messages) messages.push(...wireMessages(message, settings));
  if (messages.at(-1)?.role === 'assistant') messages.push({ role: 'user', content: GO_ON });
  const maxTokens = Math.min(request.maxTokens, settings.maxTokens ?? request.maxTokens);
  const tools = request.tools.map(({ name, description, parameters }) => ({
    type: 'function',
    function: { name, description, parameters },
  }));
  return {
    model: request.model,
    messages,
    ...(tools.length === 0 ? {} : { tools }),
    [settings.maxTokensField]: maxTokens,
    ...(settings.effort === null ? {} : { reasoning_effort: settings.effort }),
    ...(settings.stream ? { stream: true } : {}),
    ...(settings.stream && settings.streamUsage ? { stream_options: { include_usage: true } } : {}),
  };
}

function wireMessages(message: Message, settings: ProviderSettings): WireMessage[] {
  if (message.role === 'assistant') return [assistant(message, settings)];
  const results = message.content.flatMap((block): WireMessage[] => {
    if (block.type !== 'result') return [];
    const text = block.text.trim() === '' ? NO_OUTPUT : block.text;
    // The form has no word for a failure.
    const content = block.ok ? text : `[failed] ${text}`;
    return [{ role: 'tool', tool_call_id: block.call, content }];
  });
  const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const said = texts.join('\n\n');
  if (said.trim() !== '') return [...results, { role: 'user', content: said }];
  return results.length > 0 ? results : [{ role: 'user', content: GO_ON }];
}

function assistant(
  message: Extract<Message, { role: 'assistant' }>,
  settings: ProviderSettings,
): WireMessage {
  const text = message.content
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n\n');
  const calls = message.content.flatMap((block): WireCall[] => {
    if (block.type !== 'call') return [];
    const { id, name, input } = block;
    return [
      {
        id,
        type: 'function',
        function: { name: wireName(name), arguments: JSON.stringify(wireInput(input)) },
      },
    ];
  });
  const blank = text.trim() === '';
  const reasoning = settings.echoReasoning ? reasoningOf(message.meta) : '';
  return {
    role: 'assistant',
    content: blank ? (calls.length > 0 ? null : NO_ANSWER) : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
  };
}

function reasoningOf(meta: Readonly<Record<string, unknown>> | undefined): string {
  const own = meta?.['openai'];
  if (typeof own !== 'object' || own === null || !('reasoning' in own)) return '';
  return typeof own.reasoning === 'string' ? own.reasoning : '';
}
