/** Random histories of the queue: whatever comes in what order, each ask ends once and each answer reaches a call once. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { asActorName, asCallId, isoTime } from '../../../src/kernel/index.ts';
import {
  type AskState,
  applyAsk,
  askOfCall,
  checkAnswer,
  equalAsk,
  makeAskState,
  openAsks,
} from '../../../src/permissions/index.ts';
import type { AskChange } from '../../../src/protocol/index.ts';

type Step =
  | { readonly kind: 'create'; readonly actor: number; readonly what: number }
  | {
      readonly kind: 'answer';
      readonly pick: number;
      readonly fresh: boolean;
      readonly yes: boolean;
    }
  | { readonly kind: 'use' | 'withdraw' | 'timeout' | 'supersede'; readonly pick: number }
  | { readonly kind: 'restart' };

const pick = fc.nat(50);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), actor: fc.nat(7), what: fc.nat(3) }),
  fc.record({ kind: fc.constant('answer' as const), pick, fresh: fc.boolean(), yes: fc.boolean() }),
  fc.record({ kind: fc.constantFrom('use', 'withdraw', 'timeout', 'supersede'), pick }),
  fc.record({ kind: fc.constant('restart' as const) }),
);

class Queue {
  state: AskState = makeAskState();
  readonly log: { readonly change: AskChange; readonly at: string }[] = [];
  readonly ends = new Map<string, number>();
  readonly reached = new Map<string, number>();
  #calls = 0;

  put(change: AskChange): void {
    const at = isoTime(this.log.length);
    this.log.push({ change, at });
    const open = new Set(openAsks(this.state).map((ask) => ask.id));
    applyAsk(this.state, change, at);
    const still = new Set(openAsks(this.state).map((ask) => ask.id));
    for (const id of open) if (!still.has(id)) this.ends.set(id, (this.ends.get(id) ?? 0) + 1);
    if (change.type !== 'ask.used') return;
    this.reached.set(change.call, (this.reached.get(change.call) ?? 0) + 1);
  }

  run(one: Step): void {
    const open = openAsks(this.state);
    const ask = 'pick' in one ? open[one.pick % Math.max(1, open.length)] : undefined;
    switch (one.kind) {
      case 'create':
        return this.#create(one.actor, one.what);
      case 'answer': {
        if (ask === undefined) return;
        const digest = one.fresh ? ask.digest : `${ask.digest} of before`;
        const check = checkAnswer(this.state, ask.id, digest);
        expect(check.kind).toBe(one.fresh ? 'ok' : 'stale');
        if (check.kind !== 'ok') return;
        const effect = one.yes ? 'allow' : 'deny';
        const how = { effect, scope: 'once', by: 'user', reason: null } as const;
        this.put({ type: 'ask.answered', id: ask.id, ...how });
        // A second client is too late, whatever it says.
        expect(checkAnswer(this.state, ask.id, ask.digest)).toMatchObject({
          kind: 'ended',
          ended: { how: one.yes ? 'allowed' : 'denied', by: 'user' },
        });
        return;
      }
      case 'use': {
        const all = [...this.state.asks.values()].filter((some) => some.answer !== null);
        const answered = all[one.pick % Math.max(1, all.length)];
        const call = answered?.waiters[0]?.call;
        if (answered === undefined || call === undefined) return;
        return this.put({ type: 'ask.used', id: answered.id, call });
      }
      case 'withdraw': {
        const call = ask?.waiters[0]?.call;
        if (ask === undefined || call === undefined) return;
        return this.put({ type: 'ask.withdrawn', id: ask.id, call, reason: 'gone' });
      }
      case 'timeout':
        if (ask !== undefined) this.put({ type: 'ask.timed-out', id: ask.id });
        return;
      case 'supersede':
        if (ask !== undefined) this.put({ type: 'ask.superseded', id: ask.id, reason: 'rules' });
        return;
      case 'restart': {
        const again = makeAskState();
        for (const { change, at } of this.log) applyAsk(again, change, at);
        expect(again).toEqual(this.state);
        this.state = again;
      }
    }
  }

  #create(actor: number, what: number): void {
    this.#calls += 1;
    const name = asActorName(`actor-${actor}`);
    const call = asCallId(`call-${this.#calls}`);
    const waiter = { actor: name, incarnation: 1, ancestry: [name], call, task: null };
    const digest = `digest-${actor % 2}-${what}`;
    const equal = equalAsk(this.state, digest);
    if (equal !== null) return this.put({ type: 'ask.joined', id: equal.id, waiter });
    const ask = {
      id: `ask-${this.#calls}`,
      digest,
      profile: `profile-${actor % 2}`,
      tool: 'bash',
      input: {},
      touches: [],
      rule: 'default',
      reason: '',
      offer: null,
      expiresAt: null,
    };
    this.put({ type: 'ask.put', ask, waiter });
  }

  check(): void {
    for (const count of this.ends.values()) expect(count).toBe(1);
    for (const count of this.reached.values()) expect(count).toBe(1);
    for (const ask of this.state.asks.values()) {
      expect(ask.waiters.length).toBeGreaterThan(0);
      for (const { call } of ask.waiters) expect(askOfCall(this.state, call)?.id).toBe(ask.id);
    }
    // First come, first shown for each actor.
    const numbers = new Map<string, number>();
    for (const ask of openAsks(this.state)) {
      const actor = ask.waiters[0]?.actor ?? '';
      expect(ask.number).toBeGreaterThan(numbers.get(actor) ?? 0);
      numbers.set(actor, ask.number);
    }
  }
}

test('P30, P31, P32: in any history an ask ends once, an answer reaches a call once, and replay equals live', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const queue = new Queue();
      for (const one of steps) {
        queue.run(one);
        queue.check();
      }
    }),
  );
});

test('P32: fifty actors that ask at once take turns, and equal questions are one', () => {
  const queue = new Queue();
  for (let round = 0; round < 3; round += 1) {
    for (let actor = 0; actor < 50; actor += 1) {
      queue.run({ kind: 'create', actor, what: round * 100 + actor });
    }
  }
  const first = openAsks(queue.state).slice(0, 50);
  expect(new Set(first.map((ask) => ask.waiters[0]?.actor)).size).toBe(50);
  queue.run({ kind: 'create', actor: 2, what: 0 });
  expect(openAsks(queue.state)).toHaveLength(150);
});

test('P32: who asks much and early does not keep the others waiting', () => {
  const queue = new Queue();
  for (let what = 0; what < 3; what += 1) queue.run({ kind: 'create', actor: 0, what });
  for (const actor of [1, 2]) queue.run({ kind: 'create', actor, what: 10 + actor });
  const order = openAsks(queue.state).map((ask) => ask.waiters[0]?.actor);
  expect(order).toEqual(['actor-0', 'actor-1', 'actor-2', 'actor-0', 'actor-0']);
});

test('P30: the beginning of an id names an ask only with four characters of its own', () => {
  const queue = new Queue();
  queue.run({ kind: 'create', actor: 1, what: 1 });
  const [ask] = openAsks(queue.state);
  if (ask === undefined) throw new Error('nothing was asked');
  const id = 'ask_0123456789abcdef0123456789abcdef';
  const state = { ...queue.state, asks: new Map([[id, { ...ask, id }]]) };
  for (const short of ['', 'a', 'ask_', id.slice(0, 7)]) {
    expect(checkAnswer(state, short, null).kind, short).toBe('unknown');
  }
  expect(checkAnswer(state, id.slice(0, 8), null).kind).toBe('ok');
});
