import { expect, test } from 'vitest';
import { DueHeap, type JobWish, newJob, webhookRefusal } from '../../../src/cron/index.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { PLAIN_WISH } from '../../support/cron-world.ts';

const NOW = Date.parse('2026-03-28T12:00:00Z');
const WISH: JobWish = {
  ...PLAIN_WISH,
  name: 'nightly',
  schedule: '30 2 * * *',
  tz: 'Europe/Berlin',
};

const make = (wish: Partial<JobWish>) => newJob({ ...WISH, ...wish }, { at: NOW, id: 'a1' });

test.for([
  [{ name: 'No Name' }, 'is no name for a job'],
  [{ schedule: undefined }, 'when is the job due?'],
  [{ everyMs: 5_000 }, 'one kind of schedule'],
  [{ schedule: '0 0 31 2 *' }, 'never comes in its month'],
  [{ schedule: undefined, at: '2026-03-28T11:59:00Z' }, 'would never be due'],
  [{ schedule: undefined, at: '2026-02-30' }, 'is no date or time'],
  [{ schedule: undefined, everyMs: 10 }, 'at least 1s'],
  [{ end: '2026-03-28' }, 'would never be due'],
  [{ tz: 'CEST' }, 'there is no time zone'],
  [{ jitterMs: 1e9 }, 'a jitter is at most'],
  [{ catchUp: { kind: 'all', max: 99 } }, 'can be caught up with'],
  [{ notify: { kind: 'webhook', url: 'http://example.com/x', hosts: [] } }, 'not this machine'],
] as const)('a job is refused with the reason: %j', ([wish, why]) => {
  expect(() => make(wish as Partial<JobWish>)).toThrow(why);
  expect(() => make(wish as Partial<JobWish>)).toThrow(expect.objectContaining({ exit: 2 }));
});

test('a moment without an offset is one of the zone of the job, and an interval with a start begins there', () => {
  const at = make({ schedule: undefined, at: '2026-03-29T07:30' });
  expect(at.timetable.next(NOW)).toBe(Date.parse('2026-03-29T05:30:00Z'));
  const every = make({ schedule: undefined, everyMs: 3_600_000, start: '2026-04-01T10:00' });
  expect(every.timetable.next(NOW)).toBe(Date.parse('2026-04-01T08:00:00Z'));
});

test.for([
  ['http://127.0.0.1:8080/x', [], true],
  ['http://localhost/x', [], true],
  ['http://[::1]:9/x', [], true],
  ['https://hooks.example.com/x', ['hooks.example.com'], true],
  ['https://hooks.example.com/x', ['*.example.com'], true],
  ['https://example.com.evil.org/x', ['example.com'], false],
  ['http://127.0.0.1.nip.io/', [], false],
  ['http://2130706433/', [], true],
  ['http://169.254.169.254/latest', [], false],
  ['ftp://127.0.0.1/x', [], false],
  ['http://user:secret@127.0.0.1/x', [], false],
  ['nonsense', [], false],
] as const)('a notice to %s with %j: %s', ([url, hosts, allowed]) => {
  expect(webhookRefusal(url, hosts) === null).toBe(allowed);
});

test('ten thousand jobs: adding one and taking one compare about log n times', () => {
  const heap = new DueHeap<number>();
  const random = new SeededRandom(7);
  for (let at = 0; at < 10_000; at += 1) heap.add(random.next(), at);
  const before = heap.compared;
  heap.add(random.next(), 10_000);
  heap.take();
  expect(heap.compared - before).toBeLessThanOrEqual(3 * Math.ceil(Math.log2(10_001)));
  let last = -1;
  while (heap.size > 0) {
    const first = heap.firstAt() ?? 0;
    expect(first).toBeGreaterThanOrEqual(last);
    last = first;
    heap.take();
  }
});
