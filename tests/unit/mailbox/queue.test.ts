import { expect, test } from 'vitest';
import { asActorName, type EnvelopeId } from '../../../src/kernel/ids.ts';
import {
  applyMailRecord,
  deliverable,
  HandedOut,
  type MailState,
  mailboxSize,
  makeMailState,
} from '../../../src/mailbox/index.ts';
import type { Lane, Mail, RunRecord } from '../../../src/protocol/index.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';

const AT = '2026-01-01T00:00:00.000Z';
const ada = asActorName('ada');

class Feed {
  readonly state: MailState = makeMailState({ unreadMax: 1e7, bytesMax: 1e12 });
  #seq = 0;
  #counter = 0;

  apply(record: Omit<RunRecord, 'at'>): void {
    this.#seq += 1;
    applyMailRecord(this.state, { ...record, at: AT, s: this.#seq, d: this.#seq - 1 });
  }

  send(lane: Lane = 'normal'): void {
    this.#counter += 1;
    const n = this.#counter;
    const id = `env_${n}` as EnvelopeId;
    const from = asActorName('bob');
    const stamp = { fromIncarnation: 1, e: 1, n, id };
    const mail: Mail = { to: ada, from, ...stamp, lane, type: 'chat.message', body: { text: 'x' } };
    this.apply({ k: 'msg', to: ada, mail: [mail] });
  }

  take(n: number): void {
    this.apply({ k: 'step', a: ada, took: [n] });
  }

  dead(n: number, what: 'dead' | 'retried'): void {
    const entry = { n, id: `env_${n}` as EnvelopeId, what, reason: 'test' };
    this.apply({ k: 'dead', to: ada, dead: [entry] });
  }

  fresh(except?: HandedOut): number[] {
    const given = except === undefined ? {} : { except };
    return deliverable(this.state, 'ada', { nowMs: Date.parse(AT), ...given }).map(({ n }) => n);
  }
}

test('M4: a mailbox of a hundred thousand is emptied from the front without a look at what went', () => {
  const feed = new Feed();
  const count = 100_000;
  for (let n = 0; n < count; n += 1) feed.send();
  for (let n = 1; n <= count; n += 1) {
    const [first] = deliverable(feed.state, 'ada', { nowMs: Date.parse(AT), max: 1 });
    if (first?.n !== n) throw new Error(`${first?.n} came instead of ${n}`);
    feed.take(n);
  }
  expect(mailboxSize(feed.state, 'ada')).toMatchObject({ total: count, unread: 0, unreadBytes: 0 });
  expect(feed.state.boxes.get('ada')?.lanes.normal.letters.length).toBeLessThan(2048);
});

test('M4: what an actor was given already is passed over at once, also when letters come back', () => {
  const feed = new Feed();
  const given = new HandedOut();
  for (let n = 0; n < 5000; n += 1) feed.send();
  const hand = (): number[] => {
    const fresh = feed.fresh(given);
    for (const n of fresh) given.add(n);
    return fresh;
  };
  expect(hand()).toHaveLength(5000);
  feed.send();
  expect(hand()).toEqual([5001]);
  expect(given.passed.get(feed.state.boxes.get('ada')?.lanes.normal ?? missing())?.upTo).toBe(5000);
  feed.dead(17, 'dead');
  feed.dead(17, 'retried');
  expect(hand()).toEqual([]);
  given.delete(17);
  expect(hand()).toEqual([17]);
  feed.send('interrupt');
  feed.send('bulk');
  expect(hand()).toEqual([5002, 5003]);
});

test('M4: delivery equals the plain way in random histories', () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const random = new SeededRandom(`queue/${seed}`);
    const feed = new Feed();
    const given = new HandedOut();
    const dead: number[] = [];
    for (let step = 0; step < 200; step += 1) {
      const open = feed.fresh();
      const pick = open[random.below(Math.max(1, open.length))];
      const what = random.next();
      if (what < 0.5) feed.send(random.pick(['control', 'interrupt', 'normal', 'bulk'] as const));
      else if (what < 0.65 && pick !== undefined) feed.take(pick);
      else if (what < 0.72 && pick !== undefined) {
        feed.dead(pick, 'dead');
        dead.push(pick);
      } else if (what < 0.8) {
        const back = dead.pop();
        if (back !== undefined) feed.dead(back, 'retried');
        if (back !== undefined && random.next() < 0.7) given.delete(back);
      }
      if (random.next() < 0.4) {
        const plain = feed.fresh().filter((n) => !given.has(n));
        const fresh = feed.fresh(given);
        expect(fresh, `seed ${seed}, step ${step}`).toEqual(plain);
        for (const n of fresh) if (random.next() < 0.9) given.add(n);
      }
    }
  }
});

function missing(): never {
  throw new Error('no such mailbox');
}
