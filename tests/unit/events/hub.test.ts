import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EventHub, type EventSubscription } from '../../../src/events/index.ts';
import { type Cursor, parseCursor, type TroupeEvent } from '../../../src/protocol/index.ts';

const event = (seq: number, type = 'task.done', run = 'run-1'): TroupeEvent => ({
  cursor: `${seq}.0`,
  id: `${run}:${seq}.0`,
  at: '',
  run,
  type,
  data: {},
});

async function take(subscription: EventSubscription, count: number): Promise<string[]> {
  const got: string[] = [];
  while (got.length < count) {
    const next = await subscription.next();
    if (next === null) break;
    got.push(
      next.type === 'gap' ? `gap ${next.data['from'] as string}-${next.cursor}` : next.cursor,
    );
  }
  return got;
}

/** A journal that can be read while it grows: each step of a replay may be followed by further events. */
class Journal {
  readonly events: TroupeEvent[] = [];
  readonly hub: EventHub = new EventHub((_run, after) => this.#read(after));
  /** Called between two events of a replay. */
  meanwhile: () => void = () => {};

  append(count = 1): void {
    for (let index = 0; index < count; index += 1) {
      const next = event(this.events.length + 1);
      this.events.push(next);
      this.hub.publish(next);
    }
  }

  async *#read(after: Cursor): AsyncGenerator<TroupeEvent> {
    for (let index = 0; index < this.events.length; index += 1) {
      const one = this.events[index]!;
      if (parseCursor(one.cursor)!.seq <= after.seq) continue;
      yield one;
      this.meanwhile();
      await Promise.resolve();
    }
  }
}

describe('E3: replay, then live, without gap or duplicate', () => {
  test('from a cursor, from nothing, from now', async () => {
    const journal = new Journal();
    journal.append(3);
    const all = journal.hub.subscribe({ run: 'run-1', from: '0' });
    const some = journal.hub.subscribe({ run: 'run-1', from: '2.0' });
    const live = journal.hub.subscribe();
    journal.append();

    expect(await take(all, 4)).toEqual(['1.0', '2.0', '3.0', '4.0']);
    expect(await take(some, 2)).toEqual(['3.0', '4.0']);
    expect(await take(live, 1)).toEqual(['4.0']);
  });

  test('whatever happens while it replays, however short its queue', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          before: fc.nat(20),
          meanwhile: fc.array(fc.nat(4), { maxLength: 12 }),
          max: fc.integer({ min: 1, max: 30 }),
          from: fc.nat(20),
        }),
        async ({ before, meanwhile, max, from }) => {
          const journal = new Journal();
          journal.append(before);
          const left = [...meanwhile];
          journal.meanwhile = () => journal.append(left.shift() ?? 0);
          const start = Math.min(from, before);
          const subscription = journal.hub.subscribe({
            run: 'run-1',
            from: String(start) + '.0',
            max,
          });
          const total = before - start + meanwhile.reduce((sum, one) => sum + one, 0);
          // Read slowly enough that what comes while it replays has come, then end it.
          const got: string[] = [];
          for (let index = 0; index < total; index += 1) {
            if (journal.events.length - start <= got.length) break;
            got.push(...(await take(subscription, 1)));
          }
          expect(got).toEqual(got.map((_, index) => `${start + index + 1}.0`));
          expect(got).toHaveLength(journal.events.length - start);
          // Nothing is left over from the replay, neither a marker nor what was taken meanwhile.
          journal.meanwhile = () => {};
          const next = take(subscription, 1);
          await new Promise(setImmediate);
          journal.append();
          expect(await next).toEqual([`${journal.events.length}.0`]);
        },
      ),
      { numRuns: 200 },
    );
  });

  test('a replay that gives more than it was asked for changes nothing', async () => {
    const journal = [event(1), event(2), event(2), event(3)];
    const hub = new EventHub(async function* () {
      yield* journal;
    });
    const subscription = hub.subscribe({ run: 'run-1', from: '1.0' });
    hub.publish(event(3));
    hub.publish(event(4));
    expect(await take(subscription, 3)).toEqual(['2.0', '3.0', '4.0']);
  });

  test('a replay that fails ends the subscription with its error', async () => {
    const hub = new EventHub(() => ({
      [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('unreadable')) }),
    }));
    const subscription = hub.subscribe({ run: 'run-1', from: '0' });
    await expect(subscription.next()).rejects.toThrow('unreadable');
    expect(await subscription.next()).toBeNull();
  });

  test('a cursor that is none, and a replay that nobody can make, are refused', () => {
    const hub = new EventHub();
    expect(() => hub.subscribe({ run: 'r', from: 'x' })).toThrow(/no cursor/);
    expect(() => hub.subscribe({ run: 'r', from: '1' })).toThrow(/replay/);
    expect(() => new Journal().hub.subscribe({ from: '1' })).toThrow(/replay/);
  });
});

describe('E4: a slow subscriber', () => {
  test('gets one marker in the place of what was dropped, and goes on', async () => {
    const hub = new EventHub();
    const slow = hub.subscribe({ max: 2 });
    const quick = hub.subscribe();
    for (let seq = 1; seq <= 5; seq += 1) hub.publish(event(seq));

    expect(await take(slow, 3)).toEqual(['1.0', '2.0', 'gap 3.0-5.0']);
    expect(await take(quick, 5)).toHaveLength(5);
    hub.publish(event(6));
    expect(await take(slow, 1)).toEqual(['6.0']);
  });

  test('loses fragments first, without a marker', async () => {
    const hub = new EventHub();
    const slow = hub.subscribe({ max: 4 });
    hub.publish(event(1));
    for (let index = 0; index < 9; index += 1) hub.publish(event(1, 'live.text'), false);
    hub.publish(event(2));
    expect(await take(slow, 3)).toEqual(['1.0', '1.0', '2.0']);
  });
});

test('types and runs are chosen by the subscriber', async () => {
  const hub = new EventHub();
  const tasks = hub.subscribe({ types: ['task.*'] });
  const other = hub.subscribe({ run: 'run-2', types: ['mail.*', '*.ended'] });
  hub.publish(event(1, 'mail.seen'));
  hub.publish(event(2, 'task.failed'));
  hub.publish(event(3, 'run.ended', 'run-2'));
  hub.publish(event(4, 'task.done', 'run-2'));

  expect(await take(tasks, 2)).toEqual(['2.0', '4.0']);
  expect(await take(other, 1)).toEqual(['3.0']);
});

test('a closed subscription ends who waits for it, and gets nothing more', async () => {
  const hub = new EventHub();
  const subscription = hub.subscribe();
  const waiting = subscription.next();
  subscription.close();
  hub.publish(event(1));
  expect(await waiting).toBeNull();

  const seen: string[] = [];
  const looped = hub.subscribe();
  hub.publish(event(2));
  hub.publish(event(3));
  for await (const one of looped) {
    seen.push(one.cursor);
    if (seen.length === 2) break;
  }
  expect(seen).toEqual(['2.0', '3.0']);
  expect(await looped.next()).toBeNull();
  hub.subscribe();
  hub.close();
});
