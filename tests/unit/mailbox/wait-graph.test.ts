/** M7: what was let in never holds a ring, and what is refused would have made one. */
import { array, assert, constantFrom, nat, property, record } from 'fast-check';
import { expect, test } from 'vitest';
import { cycleError, type Wait, waitChain, waitCycle } from '../../../src/mailbox/index.ts';

const wait = (waiter: string, on: string): Wait => ({ waiter, on });

test('M7: a ring is found however long it is, and named from its waiter on', () => {
  expect(waitCycle([], wait('a', 'a'))).toEqual(['a', 'a']);
  expect(waitCycle([wait('b', 'a')], wait('a', 'b'))).toEqual(['a', 'b', 'a']);
  const line = [wait('b', 'c'), wait('c', 'd'), wait('x', 'a')];
  expect(waitCycle(line, wait('a', 'b'))).toBeNull();
  expect(waitCycle([...line, wait('d', 'a')], wait('a', 'b'))).toEqual(['a', 'b', 'c', 'd', 'a']);
});

test('M7: the refusal has its code and says the chain', () => {
  const error = cycleError(['a', 'b', 'a']);
  expect(error.code).toBe('mailbox/ask_cycle');
  expect(error.message).toContain('a waits for b, b waits for a');
  expect(error.data).toEqual({ chain: ['a', 'b', 'a'] });
});

test('an ask carries all who wait for its sender', () => {
  const waits = [wait('a', 'b'), wait('b', 'c'), wait('x', 'y'), wait('z', 'b')];
  expect(waitChain(waits, 'c')).toEqual(['c', 'b', 'a', 'z']);
  expect(waitChain(waits, 'a')).toEqual(['a']);
});

const names = constantFrom('a', 'b', 'c', 'd', 'e', 'f');
const asks = array(record({ waiter: names, on: names }), { maxLength: 40 });

/** Whether `to` can be reached from `from`, the slow way: as many rounds as there are waits. */
function reaches(waits: readonly Wait[], from: string, to: string): boolean {
  const reached = new Set([from]);
  for (const _ of waits) {
    for (const { waiter, on } of waits) if (reached.has(waiter)) reached.add(on);
  }
  return reached.has(to);
}

test('M7: over any sequence of asks and answers, no ring is let in, and none is refused without one', () => {
  assert(
    property(asks, array(nat(), { maxLength: 40 }), (given, answered) => {
      const waits: Wait[] = [];
      for (const [index, next] of given.entries()) {
        const ring = waitCycle(waits, next);
        expect(ring !== null).toBe(reaches(waits, next.on, next.waiter));
        if (ring === null) waits.push(next);
        else {
          expect([ring[0], ring.at(-1)]).toEqual([next.waiter, next.waiter]);
          for (let at = 1; at + 1 < ring.length; at += 1) {
            expect(waits).toContainEqual({ waiter: ring[at], on: ring[at + 1] });
          }
        }
        const over = answered[index];
        if (over !== undefined && waits.length > 0) waits.splice(over % waits.length, 1);
      }
    }),
  );
});
