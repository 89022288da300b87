/**
 * What the Messages API turns down, as a function of the request alone. In two points stricter than the real one: roles
 * must alternate (it would join neighbours), and results must be exactly those that were asked for.
 */
import { createHash } from 'node:crypto';
import {
  bad,
  canonical,
  isBlank,
  isJson,
  type Json,
  type Rejection,
  unknownKey,
} from './answer.ts';

const TOP = [
  'model',
  'max_tokens',
  'messages',
  'system',
  'tools',
  'stream',
  'thinking',
  'output_config',
  'tool_choice',
  'cache_control',
  'metadata',
];
const BLOCK_KEYS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text', 'cache_control'],
  tool_use: ['type', 'id', 'name', 'input', 'cache_control'],
  tool_result: ['type', 'tool_use_id', 'content', 'is_error', 'cache_control'],
  thinking: ['type', 'thinking', 'signature'],
  redacted_thinking: ['type', 'data'],
};
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'tool_result'],
  assistant: ['text', 'tool_use', 'thinking', 'redacted_thinking'],
};

export interface AnthropicRules {
  readonly contextTokens: number;
  readonly outputTokensMax: number;
}

export const ANTHROPIC_RULES: AnthropicRules = {
  contextTokens: 1_000_000,
  outputTokensMax: 128_000,
};

export function checkAnthropic(body: unknown, rules: AnthropicRules): Rejection | null {
  if (!isJson(body)) return bad('the body is no JSON object');
  for (const key of ['temperature', 'top_p', 'top_k']) {
    if (key in body) return bad(`${key}: sampling parameters are not supported`);
  }
  const extra = unknownKey(body, TOP);
  if (extra !== null) return bad(`${extra}: Extra inputs are not permitted`);
  return (
    checkHead(body, rules) ??
    checkTools(body) ??
    checkMessages(body) ??
    checkPairs(body) ??
    checkCacheMarks(body) ??
    checkThinking(body) ??
    checkSize(body, rules)
  );
}

function checkHead(body: Json, rules: AnthropicRules): Rejection | null {
  const { model, max_tokens: max, thinking, tool_choice: choice, system } = body;
  if (isBlank(model)) return bad('model: Field required');
  if (typeof max !== 'number' || !Number.isInteger(max) || max < 1) {
    return bad('max_tokens: Input should be greater than or equal to 1');
  }
  if (max > rules.outputTokensMax) return bad(`max_tokens: ${max} > ${rules.outputTokensMax}`);
  if (isJson(thinking) && !['adaptive', 'between_tools'].includes(String(thinking['type']))) {
    return bad(`thinking.type: "${String(thinking['type'])}" is not supported by this model`);
  }
  if (isJson(choice) && !['auto', 'none'].includes(String(choice['type']))) {
    return bad('tool_choice: forced tool use is not supported by this model');
  }
  if (system === undefined) return null;
  const blocks = Array.isArray(system) ? system : [{ type: 'text', text: system }];
  const empty = blocks.length === 0 || blocks.some((one) => isJson(one) && isBlank(one['text']));
  return empty ? bad('system: text content blocks must be non-empty') : null;
}

function checkTools(body: Json): Rejection | null {
  const { tools = [] } = body;
  if (!Array.isArray(tools)) return bad('tools: Input should be a valid list');
  const names = new Set<unknown>();
  for (const [at, tool] of tools.entries()) {
    if (!isJson(tool)) return bad(`tools.${at}: Input should be an object`);
    const extra = unknownKey(tool, [
      'name',
      'description',
      'input_schema',
      'cache_control',
      'type',
    ]);
    if (extra !== null) return bad(`tools.${at}.${extra}: Extra inputs are not permitted`);
    const { name, input_schema: schema } = tool;
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(name))) return bad(`tools.${at}.name: bad name`);
    if (names.has(name)) return bad('tools: Tool names must be unique.');
    names.add(name);
    if (!isJson(schema) || schema['type'] !== 'object') {
      return bad(`tools.${at}.input_schema.type: Input should be 'object'`);
    }
  }
  return null;
}

type Message = { readonly role: string; readonly content: readonly Json[] };

/** As it is checked: text as one block. */
export function messagesOf(body: Json): Message[] {
  const { messages } = body;
  return (Array.isArray(messages) ? messages : []).filter(isJson).map((message) => {
    const { content } = message;
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    return {
      role: String(message['role']),
      content: (Array.isArray(blocks) ? blocks : []).filter(isJson),
    };
  });
}

function checkMessages(body: Json): Rejection | null {
  if (!Array.isArray(body['messages']) || body['messages'].length === 0) {
    return bad('messages: at least one message is required');
  }
  const messages = messagesOf(body);
  if (messages[0]?.role !== 'user') return bad('messages: first message must use the "user" role');
  if (messages.at(-1)?.role !== 'user') {
    return bad('This model does not support assistant message prefill.');
  }
  for (const [at, { role, content }] of messages.entries()) {
    const allowed = ALLOWED[role];
    if (allowed === undefined)
      return bad(`messages.${at}.role: Input should be 'user' or 'assistant'`);
    if (messages[at - 1]?.role === role) return bad(`messages.${at}: roles must alternate`);
    if (content.length === 0)
      return bad(`messages.${at}: all messages must have non-empty content`);
    for (const [index, block] of content.entries()) {
      const problem = checkBlock(block, allowed);
      if (problem !== null) return bad(`messages.${at}.content.${index}${problem}`);
    }
    if (role === 'assistant' && String(content.at(-1)?.['type']).includes('thinking')) {
      return bad(`messages.${at}: The final block in an assistant message cannot be \`thinking\`.`);
    }
  }
  return null;
}

function checkBlock(block: Json, allowed: readonly string[]): string | null {
  const type = String(block['type']);
  const keys = BLOCK_KEYS[type];
  if (keys === undefined || !allowed.includes(type))
    return `: a block of type "${type}" is not allowed here`;
  const extra = unknownKey(block, keys);
  if (extra !== null) return `.${extra}: Extra inputs are not permitted`;
  if (type === 'text' && isBlank(block['text'])) {
    return ': text content blocks must contain non-whitespace text';
  }
  if (type === 'tool_use') {
    if (!/^[a-zA-Z0-9_-]+$/.test(String(block['id']))) return '.id: String should match pattern';
    if (!/^[a-zA-Z0-9_-]{1,200}$/.test(String(block['name'])))
      return '.name: String should match pattern';
    if (!isJson(block['input'])) return '.input: Input should be an object';
  }
  if (type === 'tool_result' && isBlank(block['content'])) return '.content: must not be empty';
  return null;
}

function checkPairs(body: Json): Rejection | null {
  const messages = messagesOf(body);
  const seen = new Set<string>();
  let uses = false;
  for (const [at, { role, content }] of messages.entries()) {
    const open = idsOf(messages[at - 1], 'tool_use', 'id');
    const given = idsOf(messages[at], 'tool_result', 'tool_use_id');
    if (role === 'assistant') {
      for (const id of idsOf(messages[at], 'tool_use', 'id')) {
        uses = true;
        if (seen.has(id)) return bad('messages: `tool_use` ids must be unique');
        seen.add(id);
      }
      continue;
    }
    for (const id of given) {
      if (!open.includes(id)) {
        return bad(
          `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}`,
        );
      }
    }
    if (new Set(given).size < given.length) return bad('each tool_use must have a single result');
    const missing = open.filter((id) => !given.includes(id));
    if (missing.length > 0) {
      return bad(
        `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks: ${missing.join(', ')}`,
      );
    }
    const firstOther = content.findIndex((block) => block['type'] !== 'tool_result');
    const lastResult = content.findLastIndex((block) => block['type'] === 'tool_result');
    if (firstOther >= 0 && lastResult > firstOther)
      return bad('tool_result blocks must come first');
  }
  const { tools = [] } = body;
  const hasTools = Array.isArray(tools) && tools.length > 0;
  return uses && !hasTools ? bad('Requests which include `tool_use` must define tools') : null;
}

function idsOf(message: Message | undefined, type: string, key: string): string[] {
  return (message?.content ?? [])
    .filter((one) => one['type'] === type)
    .map((one) => String(one[key]));
}

function checkCacheMarks(body: Json): Rejection | null {
  const { system, tools } = body;
  const lists = [system, tools, ...messagesOf(body).map((one) => one.content)];
  const blocks = lists.flatMap((one): unknown[] => (Array.isArray(one) ? one : []));
  const marks = blocks.filter(isJson).filter((one) => one['cache_control'] !== undefined);
  if (marks.length > 4)
    return bad(`A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`);
  const odd = marks.some(
    ({ cache_control: mark }) => !isJson(mark) || mark['type'] !== 'ephemeral',
  );
  return odd ? bad('cache_control.type: Input should be "ephemeral"') : null;
}

/** A signature names its model, its thought and all that stood before it. */
export function signThinking(
  body: Json,
  before: { at: number; blocks: readonly Json[] },
  thinking: string,
): string {
  const { at, blocks } = before;
  const prefix = canonical({
    system: body['system'] ?? null,
    tools: body['tools'] ?? null,
    messages: messagesOf(body).slice(0, at),
    blocks,
  });
  const hash = createHash('sha256').update(`${String(body['model'])}\n${thinking}\n${prefix}`);
  return `sig_${hash.digest('base64url')}`;
}

function checkThinking(body: Json): Rejection | null {
  for (const [at, { content }] of messagesOf(body).entries()) {
    for (const [index, block] of content.entries()) {
      if (block['type'] !== 'thinking') continue;
      const before = { at, blocks: content.slice(0, index) };
      const right = signThinking(body, before, String(block['thinking']));
      if (block['signature'] !== right) {
        return bad(
          `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block: it belongs to another model or conversation`,
        );
      }
    }
  }
  return null;
}

function checkSize(body: Json, rules: AnthropicRules): Rejection | null {
  const tokens = Math.ceil(JSON.stringify(body).length / 4);
  if (tokens <= rules.contextTokens) return null;
  return bad(`prompt is too long: ${tokens} tokens > ${rules.contextTokens} maximum`);
}
