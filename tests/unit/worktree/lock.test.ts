import { expect, test } from 'vitest';
import type { Clock } from '../../../src/kernel/index.ts';
import { GitLock } from '../../../src/worktree/index.ts';

/** Sleeps end only when the test says so. */
function makeClock(): { clock: Clock; expire: () => void } {
  let expire = (): void => undefined;
  const clock: Clock = {
    now: () => 0,
    monotonicMs: () => 0,
    sleep: (_, signal) =>
      new Promise((resolve, reject) => {
        expire = resolve;
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      }),
  };
  return { clock, expire: () => expire() };
}

test('W2: operations run one at a time, in the order in which they were asked for', async () => {
  const lock = new GitLock({ clock: makeClock().clock });
  const trace: string[] = [];
  const operation = (name: string) => async (): Promise<string> => {
    trace.push(`${name} starts`);
    await Promise.resolve();
    trace.push(`${name} ends`);
    if (name === 'b') throw new Error('b failed');
    return name;
  };
  const results = await Promise.allSettled(
    ['a', 'b', 'c'].map((name) => lock.run(name, operation(name))),
  );
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(trace).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
  expect(lock.pending).toBe(0);
});

test('W2: who waits too long is told who holds it, does not run, and blocks nobody', async () => {
  const { clock, expire } = makeClock();
  const lock = new GitLock({ clock });
  let finish = (): void => undefined;
  const first = lock.run('first', () => new Promise<void>((resolve) => (finish = resolve)));
  await new Promise((resolve) => setImmediate(resolve));
  let ran = false;
  const second = lock.run('second', () => Promise.resolve((ran = true)), 1000);
  const told = expect(second).rejects.toMatchObject({
    code: 'worktree/lock-timeout',
    message: expect.stringContaining('first holds it'),
  });
  expire();
  await told;
  const third = lock.run('third', () => Promise.resolve('third'));
  finish();
  await first;
  expect(await third).toBe('third');
  expect(ran).toBe(false);
});
