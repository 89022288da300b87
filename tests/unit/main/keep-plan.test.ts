/** When a supervisor that died is started again. */
import { expect, test } from 'vitest';
import { KEEP_BACKOFF_MAX_MS, KEEP_INTENSITY } from '../../../src/main/keep/limits.ts';
import { afterDeath, type Death } from '../../../src/main/keep/plan.ts';

const death = (atMs: number): Death => ({ atMs, reason: `killed at ${atMs}` });

test('the pause doubles to a bound, by half of it by chance', () => {
  const deaths: Death[] = [];
  const pauses: number[] = [];
  for (let n = 0; n < KEEP_INTENSITY - 1; n += 1) {
    deaths.push(death(n * 1_000));
    const low = afterDeath(deaths, 0);
    const high = afterDeath(deaths, 0.999);
    if (low.kind !== 'restart' || high.kind !== 'restart') throw new Error('gave up too early');
    expect(high.delayMs).toBeGreaterThan(low.delayMs);
    expect(high.delayMs).toBeLessThanOrEqual(KEEP_BACKOFF_MAX_MS);
    pauses.push(low.delayMs);
  }
  expect(pauses.slice(0, 4)).toEqual([250, 500, 1_000, 2_000]);
});

test('past the intensity it gives up and names the last causes; deaths long ago do not count', () => {
  const close = Array.from({ length: KEEP_INTENSITY }, (_, n) => death(n * 1_000));
  expect(afterDeath(close, 0)).toMatchObject({
    kind: 'give-up',
    text: expect.stringMatching(/killed at 5000; killed at 6000; killed at 7000$/),
  });
  const wide = Array.from({ length: 50 }, (_, n) => death(n * 2 * 60_000));
  expect(afterDeath(wide, 0)).toMatchObject({ kind: 'restart' });
});
