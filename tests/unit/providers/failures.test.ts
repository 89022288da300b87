import { afterEach, describe, expect, test } from 'vitest';
import type { ProviderEvent } from '../../../src/protocol/index.ts';
import type { Fault } from '../../support/model-server/server.ts';
import { type Dialect, endOf, failureOf, KEY, Lines, settingsOf } from './line.ts';

const lines = new Lines();
afterEach(() => lines.close());

const TEXT = { text: 'a whole answer, long enough to be cut in the middle of it' };

interface Case {
  readonly fault: Fault;
  readonly code: string;
  readonly retryable: boolean;
  readonly data?: Readonly<Record<string, unknown>>;
}

const status = (
  code: number,
  headers: Readonly<Record<string, string>> = {},
  error = {},
): Fault => ({
  kind: 'status',
  status: code,
  headers,
  body: { type: 'error', error: { type: 'x', message: `it is ${code}`, ...error } },
});

const BOTH: Readonly<Record<string, Case>> = {
  'a busy minute': {
    fault: status(429, { 'retry-after': '7' }),
    code: 'rate-limited',
    retryable: true,
    data: { status: 429, retryAfterMs: 7000 },
  },
  'a busy minute, in milliseconds': {
    fault: status(429, { 'retry-after-ms': '1500', 'retry-after': '9' }),
    code: 'rate-limited',
    retryable: true,
    data: { retryAfterMs: 1500 },
  },
  'a busy minute, as a date': {
    fault: status(503, { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }),
    code: 'overloaded',
    retryable: true,
    data: { retryAfterMs: 30_000 },
  },
  'a quota that comes back in hours': {
    fault: status(429, { 'retry-after': '7200' }),
    code: 'quota',
    retryable: false,
    data: { resetAt: '2026-01-01T02:00:00.000Z' },
  },
  'a weekly limit': {
    fault: status(
      429,
      { 'anthropic-ratelimit-unified-reset': '1767300000' },
      { message: 'You have hit your weekly limit' },
    ),
    code: 'quota',
    retryable: false,
    data: { resetAt: '2026-01-01T20:40:00.000Z' },
  },
  'no money left': { fault: status(402), code: 'quota', retryable: false },
  'credit too low, as a bad request': {
    fault: status(400, {}, { message: 'Your credit balance is too low to access the API' }),
    code: 'quota',
    retryable: false,
  },
  overloaded: { fault: status(529), code: 'overloaded', retryable: true },
  'out of order': { fault: status(500), code: 'server-error', retryable: true },
  'out of order, and asks not to try again': {
    fault: status(500, { 'x-should-retry': 'false' }),
    code: 'server-error',
    retryable: false,
  },
  'a request that took too long': { fault: status(408), code: 'timeout', retryable: true },
  'a conflict': { fault: status(409), code: 'conflict', retryable: true },
  'a wrong key': { fault: status(401), code: 'auth', retryable: false },
  'a forbidden model': { fault: status(403), code: 'no-access', retryable: false },
  'no such model': { fault: status(404), code: 'no-such-model', retryable: false },
  'a bad request': { fault: status(400), code: 'bad-request', retryable: false },
  'a conversation that is too long': {
    fault: status(413),
    code: 'context-overflow',
    retryable: false,
  },
  'too long, in words': {
    fault: status(400, {}, { message: 'prompt is too long: 9 tokens > 8 maximum' }),
    code: 'context-overflow',
    retryable: false,
  },
  'a page of a proxy': {
    fault: { kind: 'status', status: 502, body: '<html>Bad Gateway</html>' },
    code: 'server-error',
    retryable: true,
  },
  'a connection that breaks before the answer': {
    fault: { kind: 'cut', afterBytes: 0 },
    code: 'network',
    retryable: true,
  },
  'a connection that breaks in the answer': {
    fault: { kind: 'cut', afterBytes: 300 },
    code: 'network',
    retryable: true,
  },
  'a stream without its end': {
    fault: { kind: 'short', afterBytes: 300 },
    code: 'cut',
    retryable: true,
  },
};

describe.each(['anthropic', 'openai'] as const)('%s', (dialect) => {
  test.each(Object.entries(BOTH))('%s', async (_name, { fault, code, retryable, data }) => {
    const { server, ask } = await lines.open(dialect, { answer: () => TEXT });
    server.faults.push(fault);
    const failed = failureOf(await ask());
    expect(failed).toMatchObject({ code: `providers/${code}`, retryable });
    if (data !== undefined) expect(failed.data).toMatchObject(data);
    expect(failed.message).toMatch(/^(anthropic|openai)\//);
    // The line is as good as new for the next request.
    expect(endOf(await ask()).content).toEqual([{ type: 'text', text: TEXT.text }]);
  });

  test('errors inside of a stream have no status, and are told by what they say', async () => {
    const { server, ask } = await lines.open(dialect, { answer: () => TEXT });
    for (const [type, code, retryable] of [
      ['overloaded_error', 'overloaded', true],
      ['api_error', 'server-error', true],
      ['rate_limit_error', 'rate-limited', true],
      ['invalid_request_error', 'bad-request', false],
      ['something_new', 'server-error', true],
    ] as const) {
      server.faults.push({ kind: 'event', afterFrames: 3, error: { type, message: 'inside' } });
      const failed = failureOf(await ask());
      expect(failed).toMatchObject({ code: `providers/${code}`, retryable });
      expect(failed.message).toContain('inside');
    }
  });

  test('a stream that is no JSON is an error of the line', async () => {
    const { server, ask } = await lines.open(dialect, { answer: () => TEXT });
    server.faults.push({ kind: 'malformed' });
    expect(failureOf(await ask()).retryable).toBe(true);
  });

  test('L14: silence ends in the named time: before the first byte, and after some', async () => {
    const config = 'timeout: 20s, idle_timeout: 5s';
    const { server, clock, ask } = await lines.open(dialect, { answer: () => TEXT, config });
    for (const [afterBytes, ms, code] of [
      [0, 20_000, 'providers/timeout'],
      [200, 5000, 'providers/stalled'],
    ] as const) {
      server.faults.push({ kind: 'stall', afterBytes });
      const began = clock.monotonicMs();
      const asked = ask();
      await server.stalled();
      const failed = failureOf(await clock.runUntil(asked));
      expect(failed).toMatchObject({ code, retryable: true });
      const took = clock.monotonicMs() - began;
      expect(took).toBeGreaterThanOrEqual(ms);
      expect(took).toBeLessThan(ms * 2);
      expect(clock.pending).toBe(0);
    }
  });

  test('L6: an abort ends a stream at once, silent or not, and hangs up', async () => {
    const { server, clock, ask } = await lines.open(dialect, { answer: () => TEXT });
    for (const afterBytes of [0, 200]) {
      server.faults.push({ kind: 'stall', afterBytes });
      const stop = new AbortController();
      const asked = ask({}, stop.signal);
      await server.stalled();
      stop.abort(new Error('stop'));
      expect((await asked).at(-1)).toEqual({ type: 'aborted' });
    }
    const before = new AbortController();
    before.abort(new Error('stop'));
    expect(await ask({}, before.signal)).toEqual([{ type: 'aborted' }]);
    expect(clock.pending).toBe(0);
  });

  test('a server that is not there is named, with where its address is from', async () => {
    const { server, ask } = await lines.open(dialect, { answer: () => TEXT });
    const { origin } = server;
    await lines.close();
    const failed = failureOf(await ask());
    expect(failed).toMatchObject({ code: 'providers/network', retryable: true });
    expect(failed.message).toContain(`no connection to ${origin}`);
    expect(failed.hint).toContain('/u');
  });

  test('arguments may be huge, but not without end', async () => {
    const content = 'x'.repeat(2_000_000);
    const answers = [content, 'x'.repeat(9_000_000)];
    const answer = () => ({ calls: [{ tool: 'grep', input: { content: answers.shift() } }] });
    const { ask } = await lines.open(dialect, { answer });
    expect(endOf(await ask()).content).toMatchObject([{ name: 'grep', input: { content } }]);
    expect(failureOf(await ask()).message).toContain('larger than any answer may be');
  });

  test('L13: a redirect is not followed with the key', async () => {
    const { server, ask } = await lines.open(dialect, { answer: () => TEXT });
    const other = await lines.open(dialect, { answer: () => TEXT });
    server.faults.push({ kind: 'redirect', to: `${other.server.origin}/v1/messages` });
    expect(failureOf(await ask()).code).toBe('providers/network');
    expect(other.server.seen).toEqual([]);
    expect(other.server.rejections).toEqual([]);
  });

  test('L20: a key is in no event, even when the server repeats it', async () => {
    const { server, ask, warnings } = await lines.open(dialect, {
      answer: () => TEXT,
      key: 'another-key-altogether',
      config: 'headers: { x-secret: hidden-header-value }',
    });
    server.faults.push(status(400, {}, { message: `bad key ${KEY}, header hidden-header-value` }));
    const events: ProviderEvent[] = [...(await ask()), ...(await ask())];
    const shown = JSON.stringify([events, warnings]);
    expect(shown).toContain('[secret]');
    expect(shown).not.toContain(KEY);
    expect(shown).not.toContain('hidden-header-value');
    expect(events).toHaveLength(2);
  });
});

test('a key of one provider is never sent to another', async () => {
  const open = async (dialect: Dialect) => lines.open(dialect, { answer: () => TEXT });
  const anthropic = await open('anthropic');
  const openai = await open('openai');
  await anthropic.ask();
  await openai.ask();
  const { secrets } = settingsOf('', { ANTHROPIC_API_KEY: 'one-key', OPENAI_API_KEY: 'two-key' });
  expect(secrets['anthropic']).toEqual({ key: 'one-key', headers: {} });
  expect(secrets['openai']).toEqual({ key: 'two-key', headers: {} });
  expect(JSON.stringify(openai.server.seen[0]?.headers)).not.toContain('x-api-key');
});
