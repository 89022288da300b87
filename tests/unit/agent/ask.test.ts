import { expect, test } from 'vitest';
import { type AskDeps, type Asked, ask, type ModelChoice, Models } from '../../../src/agent/ask.ts';
import { DOWN_ROUNDS_MAX } from '../../../src/agent/limits.ts';
import { asActorName } from '../../../src/kernel/index.ts';
import {
  type FailureData,
  NO_USAGE,
  type ProviderEvent,
  type ProviderRequest,
  type StopReason,
} from '../../../src/protocol/index.ts';
import { SeededRandom } from '../../../src/testing/index.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';

const REQUEST: ProviderRequest = {
  model: 'of the choice',
  system: '',
  tools: [],
  messages: [],
  maxTokens: 1,
  actor: asActorName('ada'),
  profile: 'p',
  task: null,
};

const answer = (text: string, stop: StopReason = 'end'): ProviderEvent[] => [
  { type: 'text', delta: text },
  { type: 'end', content: [{ type: 'text', text }], stop, usage: NO_USAGE },
];
const broken = (code: string, retryable: boolean, data?: FailureData): ProviderEvent[] => [
  { type: 'text', delta: 'half of' },
  {
    type: 'error',
    code: `providers/${code}`,
    message: code,
    retryable,
    ...(data === undefined ? {} : { data }),
  },
];

/** Models that give these streams, one a request; the last one for ever. */
class World {
  readonly clock = new VirtualClock();
  readonly log: string[] = [];
  readonly models: Models;
  readonly random: SeededRandom | undefined;

  constructor(streams: Readonly<Record<string, ProviderEvent[][]>>, random?: SeededRandom) {
    this.random = random;
    this.models = new Models(
      Object.entries(streams).map(([ref, list]): ModelChoice => {
        const stream = (request: ProviderRequest): AsyncIterable<ProviderEvent> => {
          this.log.push(`${this.clock.monotonicMs()} ask ${request.model}`);
          const next = list.length > 1 ? list.shift() : list[0];
          return (async function* () {
            yield* next ?? [];
          })();
        };
        return { ref, model: ref.slice(2), provider: { name: ref, stream } };
      }),
    );
  }

  ask(
    signal: AbortSignal = new AbortController().signal,
    more: Pick<AskDeps, 'toll'> = {},
  ): Promise<Asked> {
    const { clock, random, models } = this;
    const note = (what: string) => (text: string) => this.log.push(`${what} ${text}`);
    const watchers = { onText: note('text'), onThinking: note('thinking'), onReset: note('reset') };
    const asked = ask({ models, clock, random, ...watchers, ...more }, REQUEST, signal);
    return clock.runUntil(asked);
  }
}

test('L18: a broken stream is begun anew, and watchers are told that what they saw is void', async () => {
  const world = new World({ 'p/a': [broken('overloaded', true), answer('whole')] });
  expect(await world.ask()).toMatchObject({
    kind: 'answer',
    model: 'p/a',
    content: [{ type: 'text', text: 'whole' }],
  });
  expect(world.log).toMatchInlineSnapshot(`
    [
      "0 ask a",
      "text half of",
      "reset overloaded; asked again in 1.0 s",
      "1000 ask a",
      "text whole",
    ]
  `);
});

test('waits grow, are spread, and are never shorter than the provider asks for', async () => {
  const world = new World({ 'p/a': [broken('overloaded', true)] });
  expect(await world.ask()).toMatchObject({
    kind: 'error',
    message: 'overloaded (given up after 9 tries)',
  });
  const times = world.log.flatMap((line) =>
    line.includes(' ask ') ? [Number(line.split(' ')[0])] : [],
  );
  expect(times).toEqual([0, 1000, 3000, 7000, 15_000, 31_000, 63_000, 123_000, 183_000]);
  const told = new World({
    'p/a': [broken('rate-limited', true, { retryAfterMs: 7000 }), answer('ok')],
  });
  await told.ask();
  expect(told.clock.monotonicMs()).toBe(7000);
  const ends = new Set<number>();
  for (let seed = 0; seed < 8; seed += 1) {
    const streams = { 'p/a': [broken('rate-limited', true, { retryAfterMs: 7000 }), answer('ok')] };
    const spread = new World(streams, new SeededRandom(String(seed)));
    await spread.ask();
    const took = spread.clock.monotonicMs();
    expect(took).toBeGreaterThanOrEqual(7000);
    expect(took).toBeLessThanOrEqual(8000);
    ends.add(took);
  }
  expect(ends.size).toBeGreaterThan(4);
});

test('L19: what would fail again is told at once, also when another model could be asked', async () => {
  for (const code of ['auth', 'bad-request', 'no-such-model', 'context-overflow']) {
    const world = new World({ 'p/a': [broken(code, false)], 'p/b': [answer('other')] });
    expect(await world.ask()).toMatchObject({ kind: 'error', code: `providers/${code}` });
    expect(world.log).toEqual(['0 ask a', 'text half of']);
  }
});

test('a provider that wants to be left alone for long is not waited for', async () => {
  const world = new World({ 'p/a': [broken('overloaded', true, { retryAfterMs: 3_600_000 })] });
  expect(await world.ask()).toMatchObject({ kind: 'error', message: 'overloaded' });
  expect(world.clock.monotonicMs()).toBe(0);
});

test('a quota keeps its reset time on the way up', async () => {
  const resetAt = '2026-12-01T00:00:00.000Z';
  const world = new World({
    'p/a': [broken('quota', false, { resetAt })],
    'q/b': [broken('overloaded', true)],
  });
  expect(await world.ask()).toMatchObject({ code: 'providers/quota', data: { resetAt } });
});

test('another model stands in for one that can not be had, and goes first for a while', async () => {
  const world = new World({
    'p/a': [
      broken('overloaded', true),
      broken('overloaded', true),
      broken('overloaded', true),
      answer('back'),
    ],
    'q/b': [answer('stand-in')],
  });
  expect(await world.ask()).toMatchObject({ kind: 'answer', model: 'q/b' });
  expect(await world.ask()).toMatchObject({ kind: 'answer', model: 'q/b' });
  await world.clock.advance(300_000);
  expect(await world.ask()).toMatchObject({ kind: 'answer', model: 'p/a' });
  expect(world.log.filter((line) => !line.startsWith('text'))).toMatchInlineSnapshot(`
    [
      "0 ask a",
      "reset overloaded; asked again in 1.0 s",
      "1000 ask a",
      "reset overloaded; asked again in 2.0 s",
      "3000 ask a",
      "reset overloaded (given up after 3 tries); q/b stands in",
      "3000 ask b",
      "3000 ask b",
      "303000 ask a",
    ]
  `);
});

test('a refusal goes to the next model, and stands when all refuse', async () => {
  const world = new World({ 'p/a': [answer('no', 'refusal')], 'q/b': [answer('yes')] });
  expect(await world.ask()).toMatchObject({ model: 'q/b', stop: 'end' });
  const both = new World({ 'p/a': [answer('no', 'refusal')], 'q/b': [answer('no', 'refusal')] });
  expect(await both.ask()).toMatchObject({ model: 'q/b', stop: 'refusal' });
});

test('an abort ends a wait at once', async () => {
  const world = new World({ 'p/a': [broken('overloaded', true)] });
  const stop = new AbortController();
  const asked = world.ask(stop.signal);
  stop.abort(new Error('stop'));
  expect(await asked).toEqual({ kind: 'aborted' });
  expect(world.clock.pending).toBe(0);
});

/** A way out where who found its provider down waits an hour, unless `isElse`: others are answered. */
function gate(world: World, isElse = false) {
  const downs: number[] = [];
  let wasHeld = false;
  let count = 0;
  const toll: NonNullable<AskDeps['toll']> = {
    enter: async () => {
      if (wasHeld) await world.clock.sleep(3_600_000, new AbortController().signal);
      count += 1;
      const passage = { kind: 'go', id: `${count}`, maxTokens: 1, ahead: false, wasHeld } as const;
      wasHeld = false;
      return passage;
    },
    begun: () => undefined,
    leave: ({ limited }) => {
      if (limited?.kind !== 'down') return;
      downs.push(limited.forMs);
      wasHeld = !isElse;
    },
  };
  return { toll, downs };
}

test('L20: a provider that is down is waited for with all who use it; a request that fails alone is not', async () => {
  const failures = (count: number) =>
    Array.from({ length: count }, () => broken('overloaded', true));
  const world = new World({ 'p/a': [...failures(30), answer('at last')] });
  const { toll, downs } = gate(world);
  expect(await world.ask(undefined, { toll })).toMatchObject({ kind: 'answer' });
  expect(downs).toEqual([183_000, 183_000, 183_000]);
  const alone = new World({ 'p/a': failures(1) });
  const others = gate(alone, true);
  expect(await alone.ask(undefined, { toll: others.toll })).toMatchObject({ kind: 'error' });
  expect(others.downs).toHaveLength(2);
  // It ends some day.
  const never = new World({ 'p/a': failures(1) });
  const for33 = gate(never);
  expect(await never.ask(undefined, { toll: for33.toll })).toMatchObject({ kind: 'error' });
  expect(for33.downs).toHaveLength(DOWN_ROUNDS_MAX + 1);
});
