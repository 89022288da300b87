/** What a strict server of Chat Completions turns down, as a function of the request alone. */
import { bad, isBlank, isJson, type Json, type Rejection, unknownKey } from './answer.ts';

const TOP = [
  'model',
  'messages',
  'tools',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'reasoning_effort',
];
const KEYS: Readonly<Record<string, readonly string[]>> = {
  system: ['role', 'content'],
  user: ['role', 'content'],
  assistant: ['role', 'content', 'tool_calls'],
  tool: ['role', 'content', 'tool_call_id'],
};

export interface OpenAiRules {
  readonly contextTokens: number;
  /** Some servers want what the model thought back; all others refuse it. */
  readonly reasoningAllowed: boolean;
  readonly streamOptions: boolean;
}

export const OPENAI_RULES: OpenAiRules = {
  contextTokens: 1_000_000,
  reasoningAllowed: false,
  streamOptions: true,
};

export function checkOpenAi(body: unknown, rules: OpenAiRules): Rejection | null {
  if (!isJson(body)) return bad('the body is no JSON object');
  const extra = unknownKey(body, TOP);
  if (extra !== null) return bad(`Unrecognized request argument supplied: ${extra}`);
  if (isBlank(body['model'])) return bad('you must provide a model parameter');
  const { stream_options: options, stream } = body;
  if (options !== undefined && (stream !== true || !rules.streamOptions)) {
    return bad("The 'stream_options' parameter is only allowed when 'stream' is enabled.");
  }
  const max = body['max_tokens'] ?? body['max_completion_tokens'];
  if (typeof max !== 'number' || !Number.isInteger(max) || max < 1)
    return bad('max_tokens is too small');
  const problem = checkTools(body) ?? checkMessages(body, rules) ?? checkCalls(body);
  if (problem !== null) return problem;
  const tokens = Math.ceil(JSON.stringify(body).length / 4);
  return tokens > rules.contextTokens
    ? bad(
        `This model's maximum context length is ${rules.contextTokens} tokens, you requested ${tokens}`,
      )
    : null;
}

function checkTools(body: Json): Rejection | null {
  const { tools } = body;
  if (tools === undefined) return null;
  if (!Array.isArray(tools) || tools.length === 0) return bad('[] is too short - tools');
  const names = new Set<unknown>();
  for (const tool of tools as unknown[]) {
    const fn = isJson(tool) && tool['type'] === 'function' ? tool['function'] : null;
    if (!isJson(fn) || unknownKey(fn, ['name', 'description', 'parameters']) !== null) {
      return bad('a tool is { type: "function", function: { name, description, parameters } }');
    }
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(fn['name']))) return bad('bad name of a function');
    if (names.has(fn['name'])) return bad('names of functions must be unique');
    names.add(fn['name']);
    const { parameters } = fn;
    if (!isJson(parameters) || parameters['type'] !== 'object') return bad('parameters: no object');
  }
  return null;
}

/** The messages that are objects. */
export function openAiMessages(body: Json): Json[] {
  const { messages } = body;
  return (Array.isArray(messages) ? messages : []).filter(isJson);
}

function checkMessages(body: Json, rules: OpenAiRules): Rejection | null {
  const messages = openAiMessages(body);
  if (messages.length === 0) return bad('[] is too short - messages');
  for (const [at, message] of messages.entries()) {
    const role = String(message['role']);
    const keys = [...(KEYS[role] ?? []), ...(rules.reasoningAllowed ? ['reasoning_content'] : [])];
    if (KEYS[role] === undefined) return bad(`messages[${at}].role: "${role}" is no role`);
    const extra = unknownKey(message, keys);
    if (extra !== null) return bad(`messages[${at}]: unknown field ${extra}`);
    if (role === 'system' && at > 0) return bad('a system message stands first');
    const { content, tool_calls: calls } = message;
    if (role === 'assistant' && content === null) {
      if (!Array.isArray(calls)) return bad(`messages[${at}]: content or tool_calls is required`);
    } else if (isBlank(content)) return bad(`messages[${at}].content: must not be empty`);
    if (calls !== undefined && (!Array.isArray(calls) || calls.length === 0)) {
      return bad(`[] is too short - messages[${at}].tool_calls`);
    }
  }
  if (messages.at(-1)?.['role'] === 'assistant') return bad('the last message is the assistant’s');
  return null;
}

function checkCalls(body: Json): Rejection | null {
  const seen = new Set<string>();
  let open: string[] = [];
  for (const [at, message] of openAiMessages(body).entries()) {
    if (message['role'] === 'tool') {
      const id = String(message['tool_call_id']);
      if (!open.includes(id)) {
        return bad(
          `messages[${at}]: 'tool' must be a response to a preceding message with 'tool_calls'`,
        );
      }
      open = open.filter((one) => one !== id);
      continue;
    }
    if (open.length > 0) {
      return bad(
        `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': ${open.join(', ')}`,
      );
    }
    const calls: readonly unknown[] = Array.isArray(message['tool_calls'])
      ? message['tool_calls']
      : [];
    for (const call of calls) {
      const problem = checkCall(call, seen);
      if (problem !== null) return bad(`messages[${at}].tool_calls: ${problem}`);
      if (isJson(call)) open.push(String(call['id']));
    }
  }
  return open.length > 0 ? bad(`calls without a result: ${open.join(', ')}`) : null;
}

function checkCall(call: unknown, seen: Set<string>): string | null {
  if (!isJson(call) || call['type'] !== 'function' || !isJson(call['function']))
    return 'no function';
  const id = call['id'];
  if (typeof id !== 'string' || id === '' || id.length > 40) return 'bad id';
  if (seen.has(id)) return `id ${id} is used twice`;
  seen.add(id);
  const { name, arguments: text } = call['function'];
  if (!/^[a-zA-Z0-9_-]{1,200}$/.test(String(name))) return 'bad name';
  try {
    if (typeof text === 'string' && isJson(JSON.parse(text))) return null;
  } catch {
    return 'arguments are no JSON';
  }
  return 'arguments are no object';
}
