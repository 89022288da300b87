import { afterEach, describe, expect, test } from 'vitest';
import type { ModelAnswer } from '../../support/model-server/answer.ts';
import type { OpenAiManner } from '../../support/model-server/openai-stream.ts';
import { afterwards, brief, endOf, failureOf, KEY, Lines, user } from './line.ts';

const lines = new Lines();
afterEach(() => lines.close());

const ANSWER: ModelAnswer = {
  thinking: 'let me think about all of this for a while',
  text: 'I look first, then I say what I have seen.',
  calls: [
    { tool: 'read_file', input: { path: 'a/long/path/to/a/file.ts' } },
    { tool: 'list_tasks', input: {} },
    { tool: 'grep', input: { pattern: 'y'.repeat(100) } },
  ],
};
const CONTENT = [
  'I look first, then I say what I have seen.',
  { read_file: { path: 'a/long/path/to/a/file.ts' } },
  { list_tasks: {} },
  { grep: { pattern: 'y'.repeat(100) } },
];

const MANNERS: Readonly<Record<string, OpenAiManner>> = {
  'as in the book': {},
  'every call has number 0': { index: 'zero' },
  'calls have no number': { index: 'none' },
  'calls have neither number nor id': { index: 'none', ids: 'none' },
  'calls have number 0 and no id': { index: 'zero', ids: 'none' },
  'all calls have the same id': { ids: 'same' },
  'same id, number 0': { ids: 'same', index: 'zero' },
  'arguments come in one piece': { argumentsIn: 'one-chunk' },
  'arguments come as an object': { argumentsIn: 'object' },
  'arguments are encoded twice': { argumentsIn: 'twice-encoded' },
  'the name comes with each piece': { nameAgain: true },
  'the reason to end is "stop"': { finish: 'stop' },
  'no reason to end, but [DONE]': { finish: 'none' },
  'no [DONE]': { done: 'missing' },
  'no line end after [DONE]': { done: 'no-newline' },
  'CRLF and comments': { lineEnd: '\r\n', comments: true },
  'usage with the last part': { usage: 'with-last' },
  'thought in `reasoning`': { thinkingIn: 'reasoning' },
  'thought in `reasoning_details`': { thinkingIn: 'reasoning_details' },
  'thought between tags in the text': { thinkingIn: 'think-tags' },
  'does not stream': { noStream: true },
};

describe('one answer, whatever the server’s manners', () => {
  for (const [name, manner] of Object.entries(MANNERS)) {
    test(name, async () => {
      const answers = [ANSWER, ANSWER, { text: 'done' }];
      const { server, ask } = await lines.open('openai', {
        answer: () => answers.shift() ?? {},
        manner,
      });
      const first = endOf(await ask());
      expect(brief(first.content)).toEqual(CONTENT);
      expect(first.stop).toBe('calls');
      expect(first.usage.inputTokens).toBeGreaterThan(0);
      // Its own history is accepted; what it thought is not in it, and no id is used twice.
      const messages = [user('hello'), ...afterwards(first)];
      const second = endOf(await ask({ messages }));
      expect(brief(second.content)).toEqual(CONTENT);
      const third = endOf(await ask({ messages: [...messages, ...afterwards(second)] }));
      expect(third).toMatchObject({ stop: 'end', content: [{ type: 'text', text: 'done' }] });
      expect(server.rejections).toEqual([]);
      expect(JSON.stringify(server.seen.at(-1)?.body)).not.toContain('think about');
    });
  }
});

test('what was thought is shown, and sent back only where a server wants it', async () => {
  const { server, ask } = await lines.open('openai', {
    answer: () => ANSWER,
    openai: { reasoningAllowed: true },
    config: 'echo_reasoning: true',
  });
  const events = await ask();
  const thought = events.flatMap((event) => (event.type === 'thinking' ? [event.delta] : []));
  expect(thought.join('')).toBe(ANSWER.thinking);
  await ask({ messages: [user('hello'), ...afterwards(endOf(events))] });
  expect(server.rejections).toEqual([]);
  expect(JSON.stringify(server.seen.at(-1)?.body)).toContain('"reasoning_content":"let me think');
});

test('without figures the usage is an estimate; without a price that is said, too', async () => {
  const prices = 'prices: { "openai/*": { input: 1, output: 2 } }';
  const silent = await lines.open('openai', {
    answer: () => ANSWER,
    manner: { usage: 'none' },
    prices,
  });
  const estimated = endOf(await silent.ask()).usage;
  expect(estimated).toMatchObject({ estimated: true });
  expect(estimated.inputTokens).toBeGreaterThan(10);
  expect(estimated.costUsd).toBeGreaterThan(0);
  const priced = await lines.open('openai', { answer: () => ANSWER, prices });
  const usage = endOf(await priced.ask()).usage;
  expect(usage.estimated).toBe(false);
  expect(usage.costUsd).toBeCloseTo((usage.inputTokens + 2 * usage.outputTokens) / 1e6, 12);
  const unpriced = await lines.open('openai', { answer: () => ANSWER });
  expect(endOf(await unpriced.ask()).usage).toMatchObject({ estimated: true, costUsd: 0 });
});

test('L15: arguments that can not be read are never run: they stay text, and go back as an object', async () => {
  const calls = [
    { tool: 'grep', input: {}, raw: '{"path": "a' },
    { tool: 'grep', input: {}, raw: 'path=a' },
    { tool: 'grep', input: {}, raw: '["a"]' },
    { tool: 'grep', input: {}, raw: '{"path":"a"}{"path":"a"}' },
    { tool: 'read_fileread_file', input: { path: 'a' } },
  ];
  const answers: ModelAnswer[] = [{ calls }, { text: 'sorry' }];
  const { server, ask } = await lines.open('openai', { answer: () => answers.shift() ?? {} });
  const end = endOf(await ask());
  expect(brief(end.content)).toEqual([
    { grep: '{"path": "a' },
    { grep: 'path=a' },
    { grep: '["a"]' },
    { grep: { path: 'a' } },
    { read_file: { path: 'a' } },
  ]);
  endOf(await ask({ messages: [user('hello'), ...afterwards(end)] }));
  expect(server.rejections).toEqual([]);
  expect(JSON.stringify(server.seen[1]?.body)).toContain('invalid_arguments');
});

test('an answer that was cut says so, whatever the server calls it', async () => {
  const cut: ModelAnswer = {
    text: 'half',
    calls: [{ tool: 'grep', input: {}, raw: '' }],
    stop: 'length',
  };
  const honest = await lines.open('openai', { answer: () => cut });
  const end = endOf(await honest.ask());
  expect(end.stop).toBe('length');
  expect(brief(end.content)).toEqual(['half', { grep: '' }]);
  const answer: ModelAnswer = { calls: [{ tool: 'grep', input: {}, raw: '{"pa' }] };
  const lying = await lines.open('openai', {
    answer: () => answer,
    manner: { finish: 'tool_calls' },
  });
  expect(brief(endOf(await lying.ask()).content)).toEqual([{ grep: '{"pa' }]);
});

test('the request has what is configured and nothing that a server could refuse', async () => {
  const plain = await lines.open('openai', { answer: () => ({ text: 'ok' }) });
  await plain.ask();
  expect(Object.keys(plain.server.seen[0]?.body ?? {})).toEqual([
    'model',
    'messages',
    'tools',
    'max_tokens',
    'stream',
    'stream_options',
  ]);
  expect(plain.server.seen[0]?.headers['authorization']).toBe(`Bearer ${KEY}`);
  const bare = await lines.open('openai', {
    answer: () => ({ text: 'ok' }),
    openai: { streamOptions: false },
    config:
      'stream: false, stream_usage: false, max_tokens_field: max_completion_tokens, max_tokens: 9',
  });
  expect(endOf(await bare.ask({ tools: [] })).stop).toBe('end');
  expect(bare.server.seen[0]?.body).toEqual({
    model: 'some-model',
    messages: [
      { role: 'system', content: 'You are ada, a teammate of a team.' },
      { role: 'user', content: 'hello' },
    ],
    max_completion_tokens: 9,
  });
  const refused = await lines.open('openai', {
    answer: () => ({}),
    openai: { streamOptions: false },
  });
  expect(failureOf(await refused.ask())).toMatchObject({
    code: 'providers/bad-request',
    retryable: false,
    message: expect.stringContaining('stream_options') as unknown,
  });
});
