import { expect, test } from 'vitest';
import { asActorName } from '../../../src/kernel/index.ts';
import type { RunEvent } from '../../../src/supervisor/inbox.ts';
import { InboxQueue } from '../../../src/supervisor/inbox-queue.ts';
import { TURN_BYTES } from '../../../src/supervisor/limits.ts';

const request = (name: string, id: number, text = ''): RunEvent => ({
  type: 'request',
  name: asActorName(name),
  incarnation: 1,
  epoch: 1,
  upward: { id, request: { type: 'live', event: 'text', data: text } },
});
const exited = (name: string): RunEvent => ({
  type: 'actor.exited',
  name: asActorName(name),
  incarnation: 1,
  epoch: 1,
  exit: { kind: 'finished' },
});
const stop: RunEvent = { type: 'stop', now: true, by: 'the test' };
const stopped: RunEvent = { type: 'stopped', left: [] };

function takeAll(queue: InboxQueue): RunEvent[] {
  const taken: RunEvent[] = [];
  for (let one = queue.take(true); one !== undefined; one = queue.take(true)) taken.push(one);
  return taken;
}

const nameOf = (event: RunEvent): string => ('name' in event ? event.name : event.type);

test('S9: a flood delays the word of another by one turn', () => {
  const queue = new InboxQueue();
  for (let id = 0; id < 10_000; id += 1) queue.push(request('ada', id));
  queue.push(request('bo', 0));
  const order = takeAll(queue).map(nameOf);
  expect(order).toHaveLength(10_001);
  expect(order.indexOf('bo')).toBeLessThanOrEqual(TURN_BYTES / 512);
});

test('S9: turns are of bytes: long words of one do not weigh more than short ones of another', () => {
  const queue = new InboxQueue();
  for (let id = 0; id < 100; id += 1) queue.push(request('ada', id, 'x'.repeat(60_000)));
  for (let id = 0; id < 100; id += 1) queue.push(request('bo', id));
  const order = takeAll(queue).map(nameOf);
  const before = order.slice(0, order.lastIndexOf('bo'));
  expect(before.filter((name) => name === 'ada').length).toBeLessThan(5);
});

test('M4: an actor that ends is heard to the end first; what else happens goes ahead, and `stopped` is last', () => {
  const queue = new InboxQueue();
  queue.push(request('ada', 1));
  queue.push(stopped);
  queue.push(request('ada', 2));
  queue.push(exited('ada'));
  queue.push(stop);
  expect(queue.size).toBe(5);
  expect(takeAll(queue)).toEqual([
    stop,
    request('ada', 1),
    request('ada', 2),
    exited('ada'),
    stopped,
  ]);
  expect(queue.size).toBe(0);
  expect(queue.bytes).toBe(0);
});

test('S9: without room only what goes ahead is given', () => {
  const queue = new InboxQueue();
  queue.push(request('ada', 1));
  queue.push(stopped);
  expect(queue.take(false)).toBeUndefined();
  queue.push(stop);
  expect(queue.take(false)).toEqual(stop);
  expect(queue.take(false)).toBeUndefined();
  expect(queue.bytes).toBeGreaterThan(0);
  expect(takeAll(queue)).toEqual([request('ada', 1), stopped]);
});
