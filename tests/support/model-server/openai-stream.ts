/** An answer as a stream of Chat Completions, in the manner of one server or another. */
import type { Json, ModelAnswer, ModelCall } from './answer.ts';
import { type Ids, pieces } from './anthropic-stream.ts';

/** How this server differs from the one in the book. */
export interface OpenAiManner {
  /** Every call has number 0, or none. */
  readonly index?: 'zero' | 'none';
  readonly ids?: 'none' | 'same';
  readonly argumentsIn?: 'one-chunk' | 'object' | 'twice-encoded';
  /** The name of a call comes again with each piece. */
  readonly nameAgain?: boolean;
  readonly finish?: 'stop' | 'tool_calls' | 'none';
  readonly usage?: 'none' | 'with-last';
  readonly done?: 'missing' | 'no-newline';
  readonly lineEnd?: '\r\n';
  readonly comments?: boolean;
  readonly thinkingIn?: 'reasoning_content' | 'reasoning' | 'reasoning_details' | 'think-tags';
  /** Answers with one JSON object, whatever was asked for. */
  readonly noStream?: boolean;
}

export function openAiFrames(
  request: Json,
  answer: ModelAnswer,
  known: { readonly manner: OpenAiManner; readonly ids: Ids },
): string[] {
  const { manner, ids } = known;
  const end = manner.lineEnd ?? '\n';
  const id = ids.next('chatcmpl');
  const chunk = (delta: Json, more: Json = {}): string => {
    const choice = { index: 0, delta, finish_reason: null, ...more };
    const body = {
      id,
      object: 'chat.completion.chunk',
      model: request['model'],
      choices: [choice],
    };
    return `data: ${JSON.stringify(body)}${end}${end}`;
  };
  const deltas = [
    { role: 'assistant', content: '' },
    ...thinkingDeltas(answer, manner),
    ...pieces(answer.text ?? '').map((content) => ({ content })),
    ...(answer.calls ?? []).flatMap((call, index) => callDeltas(call, { index, manner, ids })),
  ];
  const frames = deltas.map((delta) => chunk(delta));
  const finish = manner.finish === 'none' ? null : (manner.finish ?? finishOf(answer));
  const last = usageOf(request, answer);
  const withLast = manner.usage === 'with-last';
  frames.push(
    `data: ${JSON.stringify({ id, choices: [{ index: 0, delta: {}, finish_reason: finish }], ...(withLast ? { usage: last } : {}) })}${end}${end}`,
  );
  if (manner.usage === undefined) {
    frames.push(`data: ${JSON.stringify({ id, choices: [], usage: last })}${end}${end}`);
  }
  if (manner.done === 'no-newline') frames.push('data: [DONE]');
  else if (manner.done === undefined) frames.push(`data: [DONE]${end}${end}`);
  if (manner.comments !== true) return frames;
  return frames.flatMap((one) => [`: PROCESSING${end}${end}`, one]);
}

export function openAiBody(
  request: Json,
  answer: ModelAnswer,
  known: { manner: OpenAiManner; ids: Ids },
): Json {
  const calls = (answer.calls ?? []).map((call) => ({
    id: known.ids.next('call'),
    type: 'function',
    function: { name: call.tool, arguments: argumentsOf(call, known.manner) },
  }));
  const message = {
    role: 'assistant',
    content: answer.text ?? null,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const choices = [{ index: 0, message, finish_reason: finishOf(answer) }];
  return {
    id: known.ids.next('chatcmpl'),
    object: 'chat.completion',
    choices,
    usage: usageOf(request, answer),
  };
}

function finishOf(answer: ModelAnswer): string {
  if (answer.stop === 'length') return 'length';
  if (answer.stop === 'refusal') return 'content_filter';
  return (answer.calls ?? []).length > 0 ? 'tool_calls' : 'stop';
}

function usageOf(request: Json, answer: ModelAnswer): Json {
  return {
    prompt_tokens: Math.ceil(JSON.stringify(request['messages']).length / 4),
    completion_tokens: Math.ceil(JSON.stringify(answer).length / 4),
    prompt_tokens_details: { cached_tokens: 0 },
  };
}

function thinkingDeltas(answer: ModelAnswer, manner: OpenAiManner): Json[] {
  const { thinking } = answer;
  if (thinking === undefined) return [];
  const { thinkingIn = 'reasoning_content' } = manner;
  if (thinkingIn === 'think-tags') {
    return pieces(`<think>${thinking}</think>\n\n`).map((content) => ({ content }));
  }
  return pieces(thinking).map((text) =>
    thinkingIn === 'reasoning_details'
      ? { reasoning_details: [{ type: 'reasoning.text', text }] }
      : { [thinkingIn]: text },
  );
}

function argumentsOf(call: ModelCall, manner: OpenAiManner): unknown {
  const json = call.raw ?? JSON.stringify(call.input);
  if (manner.argumentsIn === 'object') return call.input;
  return manner.argumentsIn === 'twice-encoded' ? JSON.stringify(json) : json;
}

function callDeltas(
  call: ModelCall,
  at: { index: number; manner: OpenAiManner; ids: Ids },
): Json[] {
  const { manner, ids } = at;
  const number = manner.index === 'none' ? {} : { index: manner.index === 'zero' ? 0 : at.index };
  const id = manner.ids === 'same' ? 'call_0' : ids.next('call');
  const named = manner.ids === 'none' ? {} : { id };
  const whole = argumentsOf(call, manner);
  const parts =
    typeof whole === 'string' && manner.argumentsIn !== 'one-chunk' ? pieces(whole) : [whole];
  const [first, ...rest] = parts;
  const again = manner.nameAgain === true ? { name: call.tool } : {};
  return [
    {
      tool_calls: [
        {
          ...number,
          ...named,
          type: 'function',
          function: { name: call.tool, arguments: first ?? '' },
        },
      ],
    },
    ...rest.map((piece) => ({
      tool_calls: [{ ...number, function: { ...again, arguments: piece } }],
    })),
  ];
}
