/** The same providers against a mock server that others wrote: what both servers take is less likely to be our own idea. */
import { LLMock } from '@copilotkit/aimock';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asCallId } from '../../../src/kernel/index.ts';
import type { Message, ProviderEvent, ProviderRequest } from '../../../src/protocol/index.ts';
import { type ChosenProvider, providerFor } from '../../../src/providers/index.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import {
  afterwards,
  brief,
  type Dialect,
  endOf,
  failureOf,
  makeRequest,
  settingsOf,
  user,
} from './line.ts';

const mock = new LLMock({ port: 0, host: '127.0.0.1', chunkSize: 7 });
let address = '';
beforeAll(async () => {
  mock.onToolResult('cal_1', { content: 'I have read it.' });
  mock.onTurn(1, 'look', { content: 'I have read it.' });
  mock.onMessage('look', {
    content: 'I look.',
    reasoning: 'hm, a file',
    toolCalls: [{ name: 'read_file', arguments: JSON.stringify({ path: 'a.ts' }) }],
  });
  mock.onMessage('hello', { content: 'Hello, too.' });
  address = await mock.start();
});
afterAll(() => mock.stop());

function choose(dialect: Dialect): ChosenProvider {
  const base = dialect === 'anthropic' ? address : `${address}/v1`;
  const { models, secrets } = settingsOf(
    `providers: { ${dialect}: { base_url: "${base}", api_key: test-key } }`,
  );
  let calls = 0;
  return providerFor(`${dialect}/${dialect === 'anthropic' ? 'claude-sonnet-5-5' : 'gpt-5'}`, {
    clock: new VirtualClock(),
    callId: () => {
      calls += 1;
      return asCallId(`cal_${calls}`);
    },
    scripts: {},
    access: {
      settings: models,
      secrets,
      fetch: (input, init) => fetch(input, init),
      onWarn: () => undefined,
    },
  });
}

async function ask(
  chosen: ChosenProvider,
  parts: Partial<ProviderRequest>,
): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = [];
  const request = makeRequest({ model: chosen.model, ...parts });
  for await (const event of chosen.provider.stream(request, new AbortController().signal)) {
    events.push(event);
  }
  return events;
}

describe.each(['anthropic', 'openai'] as const)('%s', (dialect) => {
  test('text, calls and their results', async () => {
    const chosen = choose(dialect);
    const hello = endOf(await ask(chosen, { messages: [user('hello')] }));
    expect(hello).toMatchObject({ stop: 'end', content: [{ type: 'text', text: 'Hello, too.' }] });
    const messages: Message[] = [user('look')];
    const events = await ask(chosen, { messages });
    const look = endOf(events);
    expect(look.stop).toBe('calls');
    expect(brief(look.content)).toEqual(['I look.', { read_file: { path: 'a.ts' } }]);
    const thought = events.flatMap((event) => (event.type === 'thinking' ? [event.delta] : []));
    expect(thought.join('')).toBe('hm, a file');
    const end = endOf(await ask(chosen, { messages: [...messages, ...afterwards(look)] }));
    expect(brief(end.content)).toEqual(['I have read it.']);
  });

  test('errors by their status', async () => {
    const chosen = choose(dialect);
    for (const [status, code] of [
      [429, 'rate-limited'],
      [500, 'server-error'],
      [401, 'auth'],
    ] as const) {
      mock.nextRequestError(status, { message: `it is ${status}` });
      const failed = failureOf(await ask(chosen, { messages: [user('hello')] }));
      expect(failed.code).toBe(`providers/${code}`);
      expect(failed.message).toContain(`it is ${status}`);
    }
  });
});
