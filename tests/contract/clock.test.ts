import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/kernel/index.ts';
import { SystemClock } from '../../src/platform/index.ts';
import { VirtualClock } from '../../src/testing/index.ts';

interface Subject {
  readonly clock: Clock;
  /** Runs the clock until the promise settles. */
  until<T>(promise: Promise<T>): Promise<T>;
}

const subjects: Record<string, () => Subject> = {
  SystemClock: () => ({ clock: new SystemClock(), until: (promise) => promise }),
  VirtualClock: () => {
    const clock = new VirtualClock();
    return { clock, until: (promise) => clock.runUntil(promise) };
  },
};

describe.each(Object.entries(subjects))('Clock: %s', (_name, make) => {
  it('tells the wall clock in milliseconds since the epoch', () => {
    expect(make().clock.now()).toBeGreaterThan(1_700_000_000_000);
  });

  it('never goes back', () => {
    const { clock } = make();
    const first = clock.monotonicMs();
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(first);
  });

  it('wakes sleepers by their due time', async () => {
    const { clock, until } = make();
    const woken: string[] = [];
    const long = clock.sleep(30).then(() => woken.push('long'));
    const short = clock.sleep(5).then(() => woken.push('short'));
    await until(Promise.all([long, short]));
    expect(woken).toEqual(['short', 'long']);
  });

  it('does not sleep for less than was asked', async () => {
    const { clock, until } = make();
    const before = clock.monotonicMs();
    await until(clock.sleep(10));
    expect(clock.monotonicMs() - before).toBeGreaterThanOrEqual(9);
  });

  it('returns from a sleep of nothing without being moved', async () => {
    const { clock } = make();
    await clock.sleep(0);
    await clock.sleep(-5);
  });

  it('rejects with the reason of the signal when it aborts first', async () => {
    const { clock } = make();
    const reason = new Error('enough');
    const abort = new AbortController();
    const sleep = clock.sleep(60_000, abort.signal);
    abort.abort(reason);
    await expect(sleep).rejects.toBe(reason);
    await expect(clock.sleep(60_000, abort.signal)).rejects.toBe(reason);
  });

  it('holds a sleep longer than a timer of Node can', async () => {
    const { clock } = make();
    const abort = new AbortController();
    const sleep = clock.sleep(2 ** 40, abort.signal);
    const early = await Promise.race([sleep.then(() => true), clock.sleep(0).then(() => false)]);
    expect(early).toBe(false);
    abort.abort(new Error('end of test'));
    await expect(sleep).rejects.toThrow('end of test');
  });
});

describe('VirtualClock', () => {
  it('wakes in order of due time, then of arrival, each with what it sets off', async () => {
    const clock = new VirtualClock(1000);
    const trace: string[] = [];
    const run = async (name: string, ms: number): Promise<void> => {
      await clock.sleep(ms);
      trace.push(`${name}@${String(clock.now())}`);
      await clock.sleep(5);
      trace.push(`${name}+5@${String(clock.now())}`);
    };
    const all = Promise.all([run('b', 10), run('a', 10), run('c', 12)]);
    await clock.advance(14);
    expect(trace).toEqual(['b@1010', 'a@1010', 'c@1012']);
    expect(clock.pending).toBe(3);
    expect(clock.nextDueMs).toBe(15);
    await clock.advance(100);
    await all;
    expect(trace.slice(3)).toEqual(['b+5@1015', 'a+5@1015', 'c+5@1017']);
    expect(clock.now()).toBe(1114);
  });

  it('jumps on the wall without waking anybody', async () => {
    const clock = new VirtualClock(0);
    let woken = false;
    const sleep = clock.sleep(10).then(() => {
      woken = true;
    });
    clock.jump(3_600_000);
    await clock.advance(9);
    expect([woken, clock.now(), clock.monotonicMs()]).toEqual([false, 3_600_009, 9]);
    await clock.advance(1);
    await sleep;
    expect(woken).toBe(true);
  });

  it('says so when what it runs for can never settle', async () => {
    const clock = new VirtualClock();
    await expect(clock.runUntil(new Promise(() => undefined))).rejects.toThrow('never settles');
  });
});
