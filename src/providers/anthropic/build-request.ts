/**
 * A request of the Messages API. Pure. What repeats from request to request is the same text in the same place, so that
 * the provider's cache finds it: system prompt and tools never change, messages are only added to. What actors of one
 * profile share stands before what is their own, in blocks that end where the shared part does.
 *
 * Invariants
 * - L1 What it builds is accepted: roles alternate from a user message on, results come first and answer the calls of
 *   the message before, no block is empty, the last message is the user's.
 * - L16 All kept blocks or none (`kept-blocks.ts`).
 * - L17 At most four cache marks: one behind what is shared of system and tools, one at the end, and two at multiples of
 *   15 blocks, which stay where they are while the conversation grows. While it is shorter than that, the second of these
 *   is behind the part that all of a profile share, whatever they found where they work.
 */
import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  MessageParam,
  TextBlockParam,
  Tool,
} from '@anthropic-ai/sdk/resources/messages';
import type { ProviderSettings } from '../../config/index.ts';
import type { Message, ProviderRequest, UserBlock } from '../../protocol/index.ts';
import { wireInput, wireName } from '../call-input.ts';
import { CACHE_MARKS_MAX, CACHE_STEP } from '../limits.ts';
import { Digest, keptOf } from './kept-blocks.ts';

export interface BuiltRequest {
  readonly params: MessageCreateParamsStreaming;
  /** Digest of all that the answer will stand behind. */
  readonly prefix: string;
}

type WireMessage = { readonly role: 'user' | 'assistant'; readonly content: ContentBlockParam[] };

/** `said`: what the model has said already of this answer, when it paused. */
export function buildRequest(
  request: ProviderRequest,
  settings: ProviderSettings,
  said: readonly ContentBlockParam[] = [],
): BuiltRequest {
  const head = { system: request.system, tools: wireTools(request) };
  const { messages, prefix } = wireMessages(request, JSON.stringify(head));
  if (said.length > 0) messages.push({ role: 'assistant', content: [...said] });
  const system = systemBlocks(request);
  if (settings.cache) mark({ system, tools: head.tools, messages });
  return {
    prefix,
    params: {
      model: request.model,
      max_tokens: Math.min(request.maxTokens, settings.maxTokens ?? request.maxTokens),
      ...(system.length === 0 ? {} : { system }),
      ...(head.tools.length === 0 ? {} : { tools: head.tools }),
      messages,
      ...(settings.thinking === 'default' ? {} : { thinking: { type: settings.thinking } }),
      ...(settings.effort === null ? {} : { output_config: { effort: settings.effort } }),
      stream: true,
    },
  };
}

/** Cut where the shared parts end. */
function systemBlocks({ system, shared = [] }: ProviderRequest): TextBlockParam[] {
  const ends = [...shared, system.length];
  const texts = ends.map((end, at) => system.slice(ends[at - 1] ?? 0, end));
  return texts
    .filter((text) => text.trim() !== '')
    .map((text): TextBlockParam => ({ type: 'text', text }));
}

function wireTools(request: ProviderRequest): Tool[] {
  return request.tools.map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: { ...parameters, type: 'object' as const },
  }));
}

/** What stands where a conversation would end in the model's own words: the API does not finish sentences. */
const GO_ON = '(go on)';
const NO_OUTPUT = '(no output)';
const NO_ANSWER = '(no answer)';

function wireMessages(
  request: ProviderRequest,
  head: string,
): { readonly messages: WireMessage[]; readonly prefix: string } {
  const kept = chain(request, head, true);
  return kept ?? chain(request, head, false) ?? { messages: [], prefix: '' };
}

/** Null: with the kept blocks in it the request would not be the one that they were made from. */
function chain(
  request: ProviderRequest,
  head: string,
  keep: boolean,
): { messages: WireMessage[]; prefix: string } | null {
  const digest = new Digest();
  digest.add(head);
  const messages: WireMessage[] = [];
  for (const message of request.messages) {
    const kept = keep ? keptOf(message) : null;
    if (kept !== null && (kept.model !== request.model || kept.prefix !== digest.value))
      return null;
    const wire = wireMessage(message, keep);
    messages.push(wire);
    digest.add(JSON.stringify(wire));
  }
  if (messages.at(-1)?.role !== 'user') {
    const wire: WireMessage = { role: 'user', content: [{ type: 'text', text: GO_ON }] };
    messages.push(wire);
    digest.add(JSON.stringify(wire));
  }
  return { messages, prefix: digest.value };
}

function wireMessage(message: Message, keep: boolean): WireMessage {
  if (message.role === 'user') return { role: 'user', content: message.content.map(userBlock) };
  const content = message.content.flatMap((block): ContentBlockParam[] => {
    if (block.type === 'text') return block.text.trim() === '' ? [] : [block];
    const { id, name, input } = block;
    return [{ type: 'tool_use', id, name: wireName(name), input: wireInput(input) }];
  });
  if (content.length === 0) content.push({ type: 'text', text: NO_ANSWER });
  const blocks = keep ? (keptOf(message)?.blocks ?? []) : [];
  // From the last to the first, so that an index still means what it meant.
  for (const { at, block } of blocks.toReversed()) {
    content.splice(Math.min(at, content.length), 0, block as unknown as ContentBlockParam);
  }
  return { role: 'assistant', content };
}

function userBlock(block: UserBlock): ContentBlockParam {
  if (block.type === 'text') {
    return { type: 'text', text: block.text.trim() === '' ? GO_ON : block.text };
  }
  return {
    type: 'tool_result',
    tool_use_id: block.call,
    content: block.text.trim() === '' ? NO_OUTPUT : block.text,
    ...(block.ok ? {} : { is_error: true }),
  };
}

/** L17. Marks are put on copies: the text that is digested has none. */
function mark(parts: {
  readonly system: TextBlockParam[];
  readonly tools: Tool[];
  readonly messages: WireMessage[];
}): void {
  const { system, tools, messages } = parts;
  const places = messages.flatMap((message, at) =>
    message.content.map((_, index) => ({ at, index })),
  );
  const end = places.length - 1;
  const step = Math.floor(end / CACHE_STEP) * CACHE_STEP;
  const wanted = step === 0 ? [end, step] : [end, step, step - CACHE_STEP];
  const own = system.length > 1 ? 1 : 0;
  markHead(system.length > 0 ? system : tools, { own, count: CACHE_MARKS_MAX - wanted.length });
  for (const position of new Set(wanted)) {
    const place = lastMarkable(places.slice(Math.max(0, position - CACHE_STEP + 1), position + 1));
    if (place === null) continue;
    const { content } = messages[place.at] ?? { content: [] };
    const block = content[place.index];
    if (block === undefined) continue;
    content[place.index] = { ...block, cache_control: { type: 'ephemeral' } } as ContentBlockParam;
  }

  function lastMarkable(
    some: readonly { at: number; index: number }[],
  ): (typeof some)[number] | null {
    return (
      some.findLast(({ at, index }) => {
        const type = messages[at]?.content[index]?.type;
        return type === 'text' || type === 'tool_use' || type === 'tool_result';
      }) ?? null
    );
  }
}

/** The own part of a system prompt is the last and short, and lies before the first mark in the messages: it has none. */
function markHead(
  head: TextBlockParam[] | Tool[],
  { own, count }: { readonly own: number; readonly count: number },
): void {
  const end = head.length - own;
  for (let at = Math.max(0, end - (own === 0 ? 1 : count)); at < end; at += 1) {
    const block = head[at];
    if (block !== undefined) head[at] = { ...block, cache_control: { type: 'ephemeral' } };
  }
}

/** For those who count: the same request without what only a stream has. */
export function countParams(built: BuiltRequest): {
  model: string;
  messages: MessageParam[];
  system?: TextBlockParam[];
  tools?: Tool[];
} {
  const { model, messages, system, tools } = built.params;
  return {
    model,
    messages,
    ...(Array.isArray(system) ? { system } : {}),
    ...(tools === undefined ? {} : { tools: tools as Tool[] }),
  };
}
