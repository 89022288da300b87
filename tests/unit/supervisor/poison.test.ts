/** §3.10: a letter that an actor dies with is set aside alone, and the rest goes on. */
import { expect, test } from 'vitest';
import { asActorName } from '../../../src/kernel/index.ts';
import { deadLetters, unread } from '../../../src/mailbox/index.ts';
import type { StoredRunRecord } from '../../../src/protocol/index.ts';
import { NO_USAGE } from '../../../src/protocol/index.ts';
import { decide, settle } from '../../../src/supervisor/decide/index.ts';
import type { Draft } from '../../../src/supervisor/draft.ts';
import type { RunEvent } from '../../../src/supervisor/inbox.ts';
import { makeLive } from '../../../src/supervisor/live.ts';
import { applyRecord, makeRunState } from '../../../src/supervisor/state.ts';
import { runFile, team } from '../../support/team.ts';

const TIP = 'a'.repeat(40);
const FILE = runFile({
  id: 'r1',
  team: team({ lead: true, teammates: ['ada', 'bo'] }),
  baseCommit: TIP,
  workspace: '/w',
  treesRoot: '/t/r1',
});
const ADA = asActorName('ada');

class World {
  state = makeRunState(FILE);
  live = makeLive({ startedMonotonic: 0, wallUsedMs: 0, tip: TIP });
  readonly records: StoredRunRecord[] = [];
  /** Positions that ada's present thread was given. */
  given: number[] = [];
  now = Date.parse('2026-11-30T12:00:00.000Z');
  mono = 0;
  /** How long mail of ada has to wait, newest last. */
  readonly waits: number[] = [];
  #life = { incarnation: 0, epoch: 0 };

  constructor() {
    this.step({ type: 'started' });
    const outcome = { kind: 'ready', path: '/v', branch: '', start: TIP, note: null } as const;
    this.step({ type: 'view.ready', outcome });
  }

  step(event: RunEvent): void {
    const happening = { event, now: this.now, monotonicMs: this.mono };
    let draft: Draft | null = decide(this.state, this.live, happening);
    while (draft !== null) {
      this.#commit(draft);
      draft = settle(this.state, this.live, happening);
    }
  }

  send(text: string, lane: 'normal' | 'interrupt' = 'normal'): void {
    this.step({ type: 'send', token: 1, to: 'ada', text, lane, id: null });
  }

  /** `early`: before the thread made a sign of life. */
  die(early = false): void {
    const request = { type: 'live', event: 'thinking', data: '' } as const;
    const upward = { id: 1, request };
    if (!early) this.step({ type: 'request', name: ADA, ...this.#life, upward });
    // Out of the period in which deaths count together.
    this.now += 10 * 60_000;
    const exit = { kind: 'crashed', code: 'out-of-memory', message: 'out of memory' } as const;
    this.step({ type: 'actor.exited', name: ADA, ...this.#life, exit });
    if (!early) this.waited();
  }

  /** What had to wait is due. */
  waited(): void {
    this.mono += Math.max(0, ...this.waits);
    this.step({ type: 'mail.due', name: ADA });
  }

  /** Its present request holds these. */
  deliver(n: number[]): void {
    const upward = { id: 1, request: { type: 'delivered', n } } as const;
    this.step({ type: 'request', name: ADA, ...this.#life, upward });
  }

  answer(took: number[]): void {
    const entry = { type: 'answer', task: null, model: 'm', content: [], stop: 'end' } as const;
    const request = {
      type: 'answer',
      took,
      entries: [{ ...entry, usage: NO_USAGE }],
      usage: NO_USAGE,
    } as const;
    const upward = { id: 1, request };
    this.step({ type: 'request', name: ADA, ...this.#life, upward });
  }

  /** Another supervisor, from the records alone. */
  restart(): void {
    this.state = makeRunState(FILE);
    this.live = makeLive({ startedMonotonic: 0, wallUsedMs: 0, tip: TIP });
    for (const record of this.records) applyRecord(this.state, record);
    this.given = [];
    this.step({ type: 'resumed', left: [], damage: [] });
    const outcome = { kind: 'ready', path: '/v', branch: '', start: TIP, note: null } as const;
    this.step({ type: 'view.ready', outcome });
  }

  /** The process dies; what the next one finds is on record. */
  cut(): void {
    this.restart();
    this.waited();
  }

  unread(name = 'ada'): number[] {
    return unread(this.state.mail, name).map(({ n }) => n);
  }

  notices(): string[] {
    const all = this.records.flatMap((record) => record.mail ?? []);
    return all
      .filter(({ type }) => type === 'mail.dead')
      .map(({ to, body }) => `${to}: ${body.text}`);
  }

  #commit(draft: Draft): void {
    const record = draft.record();
    if (record !== null) {
      const s = this.records.length + 1;
      const stored = { ...record, s, d: s };
      applyRecord(this.state, stored);
      this.records.push(stored);
    }
    for (const effect of draft.effects) {
      if (effect.type === 'mail.later' && effect.name === ADA) this.waits.push(effect.ms);
      if (effect.type === 'actor.start' && effect.start.name === ADA) {
        const { incarnation, epoch } = effect.start;
        this.#life = { incarnation, epoch };
        this.given = [];
      } else if (effect.type === 'actor.post' && effect.name === ADA) {
        for (const message of effect.messages) {
          if (message.type === 'mail') this.given.push(...message.envelopes.map(({ n }) => n));
        }
      }
    }
  }
}

test('M9: the letter that kills is found among three and set aside alone, told to sender and lead once', () => {
  const world = new World();
  world.send('one');
  world.send('two kills');
  world.send('three');
  expect(world.given).toEqual([1, 2, 3]);
  world.die();
  // One by one from now on.
  expect(world.given).toEqual([1]);
  world.send('four');
  expect(world.given).toEqual([1]);
  world.answer([1]);
  expect(world.given).toEqual([1, 2]);
  world.die();
  expect(deadLetters(world.state.mail).map(({ envelope, reason }) => [envelope.n, reason])).toEqual(
    [[2, 'ada died 2 times with it in hand']],
  );
  expect(world.notices()).toHaveLength(2);
  expect(world.notices().map((text) => text.split(':')[0])).toEqual(['lead', 'user']);
  // The lead's thread could die of the same words.
  expect(world.notices().map((text) => text.includes('two kills'))).toEqual([false, true]);
  expect(world.given).toEqual([3]);
  world.answer([3]);
  expect(world.given).toEqual([3, 4]);
  world.answer([4]);
  expect(world.unread()).toEqual([]);
});

test('M9: deaths are counted over restarts of the supervisor', () => {
  const world = new World();
  world.send('kills');
  world.die();
  world.restart();
  expect(world.given).toEqual([1]);
  world.die();
  expect(deadLetters(world.state.mail)).toHaveLength(1);
  expect(world.unread()).toEqual([]);
});

test('M9, M5: urgent mail passes a letter that is on probation; a letter that is tried again starts anew', () => {
  const world = new World();
  world.send('kills');
  world.die();
  world.send('stop that', 'interrupt');
  expect(world.given).toEqual([1, 2]);
  world.die();
  const [dead] = deadLetters(world.state.mail);
  expect(dead?.envelope.n).toBe(1);
  expect(world.given).toEqual([2]);
  world.answer([2]);
  world.step({ type: 'mail.settle', token: 2, id: dead?.envelope.id ?? '', what: 'retried' });
  expect(world.given).toEqual([2, 1]);
  world.die();
  expect(deadLetters(world.state.mail)).toEqual([]);
  expect(world.given).toEqual([1]);
});

test('M9: a start that fails is no fault of the letter', () => {
  const world = new World();
  world.send('innocent');
  world.die(true);
  world.die(true);
  expect(deadLetters(world.state.mail)).toEqual([]);
  expect(world.given).toEqual([1]);
});

test('M10: what was in hand at an end is given again at once, then after a while that doubles', () => {
  const world = new World();
  world.send('kills');
  world.deliver([1]);
  world.cut();
  expect(world.waits).toEqual([]);
  for (const least of [1000, 2000, 4000]) {
    world.deliver([1]);
    world.restart();
    const wait = world.waits.at(-1) ?? 0;
    expect(wait).toBeGreaterThanOrEqual(least);
    expect(wait).toBeLessThan(2 * least);
    world.mono += wait - 1;
    world.step({ type: 'mail.due', name: ADA });
    expect(world.given).toEqual([]);
    world.mono += 1;
    world.step({ type: 'mail.due', name: ADA });
    expect(world.given).toEqual([1]);
  }
});

test('M10: a letter that takes the process with it is dead after five times, alone in the end; its neighbours live', () => {
  const world = new World();
  world.send('one');
  world.send('two kills the process');
  world.send('three');
  const inHand: number[][] = [];
  while (deadLetters(world.state.mail).length === 0 && inHand.length < 20) {
    inHand.push([...world.given]);
    world.deliver(world.given);
    if (world.given.includes(2)) world.cut();
    else world.answer([...world.given]);
  }
  expect(inHand).toEqual([[1, 2, 3], [1, 2, 3], [1], [1, 2], [2], [2]]);
  const [dead] = deadLetters(world.state.mail);
  expect(dead).toMatchObject({ envelope: { n: 2 }, reason: expect.stringContaining('max-del') });
  expect(world.notices().map((text) => text.split(':')[0])).toEqual(['lead', 'user']);
  world.waited();
  expect(world.given).toEqual([3]);
  world.answer([3]);
  expect(world.unread()).toEqual([]);
});

test('M10: restarts alone cost healthy mail nothing: in order, or before it was in a request', () => {
  const world = new World();
  world.send('healthy');
  for (let times = 0; times < 12; times += 1) {
    world.deliver([1]);
    world.step({ type: 'stop', now: true, by: 'user' });
    world.step({ type: 'stopped', left: [] });
    world.restart();
    world.waited();
  }
  for (let times = 0; times < 12; times += 1) world.cut();
  expect(deadLetters(world.state.mail)).toEqual([]);
  expect(world.given).toEqual([1]);
});
