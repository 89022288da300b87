import { afterEach, expect, test } from 'vitest';
import type { Message } from '../../../src/protocol/index.ts';
import type { ModelAnswer } from '../../support/model-server/answer.ts';
import { afterwards, brief, endOf, failureOf, KEY, Lines, makeRequest, user } from './line.ts';

const lines = new Lines();
afterEach(() => lines.close());

const ANSWER: ModelAnswer = {
  thinking: 'what is there to do',
  text: 'I look first.',
  calls: [
    { tool: 'read_file', input: { path: 'a' } },
    { tool: 'grep', input: { pattern: 'x'.repeat(90) } },
  ],
};

test('an answer streams in, with its calls, its thought beside it, and what it cost', async () => {
  const { server, ask } = await lines.open('anthropic', { answer: () => ANSWER });
  const events = await ask();
  const end = endOf(events);
  expect(brief(end.content)).toEqual([
    'I look first.',
    { read_file: { path: 'a' } },
    { grep: { pattern: 'x'.repeat(90) } },
  ]);
  expect(end.stop).toBe('calls');
  expect(end.usage).toMatchObject({ cacheReadTokens: 0, estimated: false });
  expect(end.usage.cacheWriteTokens).toBeGreaterThan(0);
  const { inputTokens, cacheWriteTokens, outputTokens } = end.usage;
  const dollars = (inputTokens * 2 + cacheWriteTokens * 2.5 + outputTokens * 10) / 1e6;
  expect(end.usage.costUsd).toBeCloseTo(dollars, 12);
  expect(events.filter((event) => event.type === 'text').length).toBeGreaterThan(0);
  expect(events.filter((event) => event.type === 'call')).toHaveLength(2);
  expect(events.find((event) => event.type === 'thinking')).toBeDefined();
  const { headers = {}, body = {} } = server.seen[0] ?? {};
  expect(headers['authorization']).toBe(`Bearer ${KEY}`);
  expect(headers['x-api-key']).toBeUndefined();
  for (const key of ['temperature', 'top_p', 'tool_choice', 'thinking']) {
    expect(body).not.toHaveProperty(key);
  }
  expect(body).toMatchObject({ stream: true, max_tokens: 1000 });
});

test('L16: a thought goes back exactly as it came, to its model and behind its conversation', async () => {
  const { server, ask } = await lines.open('anthropic', { answer: () => ANSWER });
  const messages: Message[] = [user('hello')];
  for (let turn = 0; turn < 4; turn += 1) {
    messages.push(...afterwards(endOf(await ask({ messages }))));
  }
  expect(server.rejections).toEqual([]);
  const last = JSON.stringify(server.seen.at(-1)?.body);
  expect(last.match(/"signature":"sig_/g)).toHaveLength(3);
});

test('L16: with another model or a changed conversation, all thoughts are left out', async () => {
  const { server, ask } = await lines.open('anthropic', { answer: () => ANSWER });
  const messages: Message[] = [user('hello')];
  for (let turn = 0; turn < 2; turn += 1) {
    messages.push(...afterwards(endOf(await ask({ messages }))));
  }
  const withThoughts = (): number =>
    JSON.stringify(server.seen.at(-1)?.body).match(/"type":"thinking"/g)?.length ?? 0;
  await ask({ messages, model: 'claude-opus-5-5' });
  expect(withThoughts()).toBe(0);
  await ask({ messages: [user('hello!'), ...messages.slice(1)] });
  expect(withThoughts()).toBe(0);
  await ask({ messages, system: 'You are somebody else.' });
  expect(withThoughts()).toBe(0);
  await ask({ messages, tools: makeRequest().tools.slice(0, 2) });
  expect(withThoughts()).toBe(0);
  // Only the newer half of the conversation is left.
  await ask({ messages: [user('go on'), ...messages.slice(3)] });
  expect(withThoughts()).toBe(0);
  await ask({ messages });
  expect(withThoughts()).toBe(2);
  // An answer of another kind of model in between has no thoughts, and takes none away.
  const foreign: Message = { role: 'assistant', content: [{ type: 'text', text: 'hm' }] };
  const longer = [...messages, foreign, user('and now?')];
  const end = endOf(await ask({ messages: longer }));
  expect(withThoughts()).toBe(2);
  await ask({ messages: [...longer, ...afterwards(end)] });
  expect(withThoughts()).toBe(3);
  expect(server.rejections).toEqual([]);
});

test('L17: the cache is read up to where the last request ended, however long it grows', async () => {
  let calls = 1;
  const answer = (): ModelAnswer => ({
    text: 'on',
    calls: Array.from({ length: calls }, () => ({ tool: 'grep', input: { path: 'a' } })),
  });
  const { server, ask } = await lines.open('anthropic', { answer });
  const messages: Message[] = [user('hello')];
  let before = 0;
  for (let turn = 0; turn < 40; turn += 1) {
    calls = turn % 7 === 6 ? 15 : 1 + (turn % 3);
    const end = endOf(await ask({ messages }));
    const { cacheReadTokens, cacheWriteTokens, inputTokens } = end.usage;
    expect(cacheReadTokens, `turn ${turn}`).toBe(before);
    expect(inputTokens, `turn ${turn}`).toBe(0);
    before = cacheReadTokens + cacheWriteTokens;
    messages.push(...afterwards(end));
  }
  expect(server.rejections).toEqual([]);
  expect(messages.length).toBe(81);
});

test('a paused turn is sent back as it is and becomes one answer', async () => {
  const parts: ModelAnswer[] = [
    { thinking: 'first', text: 'One.', stop: 'pause' },
    { thinking: 'second', text: 'Two.', calls: [{ tool: 'grep', input: {} }] },
    { text: 'Three.' },
  ];
  const { server, ask } = await lines.open('anthropic', { answer: () => parts.shift() ?? {} });
  const end = endOf(await ask());
  expect(brief(end.content)).toEqual(['One.', 'Two.', { grep: {} }]);
  expect(server.seen).toHaveLength(2);
  expect(endOf(await ask({ messages: [user('hello'), ...afterwards(end)] })).stop).toBe('end');
  expect(JSON.stringify(server.seen.at(-1)?.body)).toContain('"second"');
  expect(server.rejections).toEqual([]);
});

test('each way to end has its name: refused, cut, overflown', async () => {
  const answers: ModelAnswer[] = [
    { text: 'I would', calls: [{ tool: 'grep', input: {} }], stop: 'refusal' },
    { text: 'half', calls: [{ tool: 'grep', input: {}, raw: '{"path": "a' }], stop: 'length' },
    { thinking: 'only thinking', stop: 'length' },
    { stop: 'overflow' },
  ];
  const { server, ask } = await lines.open('anthropic', { answer: () => answers.shift() ?? {} });
  const refused = endOf(await ask());
  expect(refused).toMatchObject({ stop: 'refusal', meta: { refusal: 'cyber' } });
  expect(brief(refused.content)).toEqual(['I would']);
  const cut = endOf(await ask());
  expect(cut.stop).toBe('length');
  // What can not be read is text: no tool takes it, and the model is told.
  expect(brief(cut.content)).toEqual(['half', { grep: '{"path": "a' }]);
  const thought = endOf(await ask({ messages: [user('hello'), ...afterwards(cut)] }));
  expect(thought).toMatchObject({ stop: 'length', content: [] });
  const overflow = failureOf(await ask({ messages: [user('hello'), ...afterwards(thought)] }));
  expect(overflow).toMatchObject({ code: 'providers/context-overflow', retryable: false });
  expect(server.rejections).toEqual([]);
});

test('a gateway gets x-api-key, the older version and its headers, and no Bearer', async () => {
  const { server, ask } = await lines.open('anthropic', {
    answer: () => ({ text: 'ok' }),
    keyIn: 'x-api-key',
    config: 'auth: x-api-key, headers: { x-team: blue }, cache: false, max_tokens: 77',
  });
  expect(endOf(await ask()).stop).toBe('end');
  const { headers = {}, body = {} } = server.seen[0] ?? {};
  expect(headers).toMatchObject({
    'x-api-key': KEY,
    'anthropic-version': '2023-06-01',
    'x-team': 'blue',
  });
  expect(headers['authorization']).toBeUndefined();
  expect(JSON.stringify(body)).not.toContain('cache_control');
  expect(body['max_tokens']).toBe(77);
});

test('thinking and effort are what the config says', async () => {
  const config = 'thinking: adaptive, effort: high';
  const { server, ask } = await lines.open('anthropic', { answer: () => ({ text: 'ok' }), config });
  await ask();
  expect(server.seen[0]?.body).toMatchObject({
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
  });
});

test('tokens of a request are counted by the provider', async () => {
  const { server, chosen } = await lines.open('anthropic', { answer: () => ({}) });
  const count = chosen.provider.countTokens;
  const request = makeRequest({ model: chosen.model, messages: [user('x'.repeat(4000))] });
  expect(await count?.(request, new AbortController().signal)).toBeGreaterThan(1000);
  expect(server.seen).toEqual([]);
});

test('nothing of the SDK reads the environment or writes to stdout', async () => {
  const { server, ask, warnings } = await lines.open('anthropic', {
    answer: () => ({ text: 'ok' }),
  });
  const written: string[] = [];
  const original = process.stdout.write.bind(process.stdout);
  process.stdout.write = (chunk: string | Uint8Array) => {
    written.push(String(chunk));
    return true;
  };
  try {
    server.faults.push({ kind: 'malformed' });
    expect(failureOf(await ask()).retryable).toBe(true);
  } finally {
    process.stdout.write = original;
  }
  expect(written.filter((one) => one.includes('nthropic'))).toEqual([]);
  expect(warnings.length).toBeGreaterThan(0);
});
