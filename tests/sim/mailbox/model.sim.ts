/**
 * The mailboxes against a model that keeps everything in plain lists: what was sent, and what became of it. After each
 * run of commands nothing is lost, order holds, positions are contiguous, and a fold anew equals the live state.
 */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { deadLetters, deliverable, markDelivered, stateOf } from '../../../src/mailbox/index.ts';
import { LANES } from '../../../src/protocol/index.ts';
import { draft, durablePart, PostOffice } from '../../support/mailbox/post-office.ts';

const NAMES = ['lead', 'ada', 'bo'] as const;
const name = fc.constantFrom(...NAMES);

const command = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('send' as const),
      from: name,
      to: name,
      lane: fc.constantFrom(...LANES),
      count: fc.integer({ min: 1, max: 3 }),
      key: fc.option(fc.constantFrom('k1', 'k2'), { nil: null }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('take' as const),
      who: name,
      max: fc.nat(4),
      skip: fc.nat(2),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('dead' as const, 'retry' as const, 'drop' as const),
      who: name,
      pick: fc.nat(50),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('repeat' as const), pick: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deliver' as const), who: name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(90_000) }) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

interface Sent {
  readonly from: string;
  readonly lane: string;
  readonly group: string | null;
  state: 'open' | 'seen' | 'dead' | 'dropped';
}

/** The model: per mailbox its letters in order. */
class Model {
  readonly boxes = new Map<string, Sent[]>(NAMES.map((one) => [one, []]));

  send(to: string, sent: Sent): void {
    this.box(to).push(sent);
  }

  box(to: string): Sent[] {
    return this.boxes.get(to) ?? [];
  }

  /** Positions that would be given now, by position: open, and not stood for by a later open one of their group. */
  open(to: string): number[] {
    const box = this.box(to);
    return box.flatMap((letter, index) => {
      const later = box.slice(index + 1);
      const replaced =
        letter.group !== null &&
        later.some((other) => other.group === letter.group && other.state === 'open');
      return letter.state === 'open' && !replaced ? [index + 1] : [];
    });
  }

  /** The position, and what it stands for. */
  become(to: string, n: number, state: Sent['state']): void {
    const box = this.box(to);
    const head = box[n - 1];
    if (head === undefined) return;
    const from = head.state;
    for (const [index, letter] of box.entries()) {
      const stoodFor = head.group !== null && letter.group === head.group && index < n - 1;
      if (index === n - 1 || (stoodFor && letter.state === from)) letter.state = state;
    }
  }
}

function run(commands: readonly Command[], withKeys: boolean): void {
  const office = new PostOffice();
  const model = new Model();
  for (const one of commands) {
    step(office, model, { one, withKeys });
    for (const who of NAMES) check(office, model, who, withKeys);
    expect(durablePart(office.refold())).toEqual(durablePart(office.state));
  }
}

function step(office: PostOffice, model: Model, at: { one: Command; withKeys: boolean }): void {
  const { one } = at;
  switch (one.do) {
    case 'send': {
      const key = at.withKeys && one.lane === 'bulk' ? one.key : null;
      const body = { text: 'x', ...(key === null ? {} : { key }) };
      office.send(
        one.from,
        Array.from({ length: one.count }, () => draft(one.to, 'x', { lane: one.lane, body })),
      );
      const group = key === null ? null : `${one.from} ${key}`;
      for (let index = 0; index < one.count; index += 1) {
        model.send(one.to, { from: one.from, lane: one.lane, group, state: 'open' });
      }
      return;
    }
    case 'take': {
      const given = deliverable(office.state, one.who, { nowMs: office.nowMs });
      const taken = given.slice(one.skip, one.skip + one.max).map((envelope) => envelope.n);
      office.take(one.who, taken);
      for (const n of taken) model.become(one.who, n, 'seen');
      return;
    }
    case 'dead': {
      const open = model.open(one.who);
      const n = open[one.pick % Math.max(open.length, 1)];
      if (n === undefined) return;
      office.dead(one.who, n, 'dead');
      model.become(one.who, n, 'dead');
      return;
    }
    case 'retry':
    case 'drop': {
      const dead = deadLetters(office.state).filter(({ envelope }) => envelope.to === one.who);
      const n = dead[one.pick % Math.max(dead.length, 1)]?.envelope.n;
      if (n === undefined) return;
      office.dead(one.who, n, one.do === 'retry' ? 'retried' : 'dropped');
      model.become(one.who, n, one.do === 'retry' ? 'open' : 'dropped');
      return;
    }
    case 'repeat': {
      const record = office.journal[one.pick % Math.max(office.journal.length, 1)];
      if (record?.mail !== undefined) office.append({ mail: record.mail });
      return;
    }
    case 'deliver':
      markDelivered(
        office.state,
        one.who,
        deliverable(office.state, one.who, { nowMs: office.nowMs, max: 2 }).map(({ n }) => n),
      );
      office.append({ run: [{ type: 'run.resumed', term: 2 }] });
      return;
    case 'crash':
      office.state = office.refold();
      return;
    case 'wait':
      office.nowMs += one.ms;
  }
}

function check(office: PostOffice, model: Model, who: string, withKeys: boolean): void {
  const box = model.box(who);
  const given = deliverable(office.state, who, { nowMs: office.nowMs });

  // M4: all that is open is given, each once, by position within a sender's lane.
  expect(given.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual(model.open(who));
  const last = new Map<string, number>();
  for (const { from, lane, n } of given) {
    expect(n).toBeGreaterThan(last.get(`${from} ${lane}`) ?? 0);
    last.set(`${from} ${lane}`, n);
  }
  // M4: positions are contiguous from 1, and name what the model has there.
  expect(office.state.boxes.get(who)?.last ?? 0).toBe(box.length);
  for (const envelope of given) expect(box[envelope.n - 1]).toMatchObject({ from: envelope.from });
  // M3: every state is the model's.
  if (withKeys) return;
  const shown = { open: 'accepted', seen: 'seen', dead: 'dead', dropped: 'dead' } as const;
  for (const [index, { state }] of box.entries()) {
    expect(stateOf(office.state, who, index + 1)).toBe(shown[state]);
  }
}

test('M2 M3 M4: mailboxes do what the model does', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => run(commands, false)),
    { numRuns: 300 },
  );
});

test('M3 M5: also when bulk mail coalesces', () => {
  const noDead = fc
    .array(command, { maxLength: 60 })
    .map((commands) => commands.filter((one) => !['dead', 'retry', 'drop'].includes(one.do)));
  fc.assert(
    fc.property(noDead, (commands) => run(commands, true)),
    { numRuns: 300 },
  );
});
