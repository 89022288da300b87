/**
 * M T W P S A B: the whole system with everything that goes wrong in it, for fixed seeds, for those that once found a bug, and
 * for fresh ones. `npm run simulate -- --profile P --seed S` repeats one; it runs as long as it is told to.
 */
import defaults from 'node:events';
import { expect, test } from 'vitest';
import { REGRESSIONS } from './regressions.ts';
import { simulate } from './simulate.ts';

// Hundreds wait on the one signal of a simulated run.
defaults.defaultMaxListeners = 0;

const fresh = process.env['TROUPE_SEED'] ?? String(process.hrtime.bigint());
const FIXED = 25;
const FRESH = 25;

async function holds(seed: string, profile: string): Promise<void> {
  const { violation, trace } = await simulate(seed, profile);
  const again = `npm run simulate -- --profile ${profile} --seed ${seed}`;
  expect(violation, `${trace.join('\n')}\nrepeat it: ${again}`).toBeNull();
}

test('M T W P S: fixed seeds', async () => {
  for (let seed = 1; seed <= FIXED; seed += 1) await holds(`fixed.${seed}`, 'small');
  await holds('fixed', 'medium');
});

test.each(REGRESSIONS)('$was ($profile $seed)', async ({ profile, seed }) => {
  await holds(seed, profile);
});

test(`M T W P S: fresh seeds (TROUPE_SEED=${fresh})`, async () => {
  for (let index = 0; index < FRESH; index += 1) await holds(`${fresh}.${index}`, 'small');
  await holds(fresh, 'medium');
});

test('the same seed is the same history', async () => {
  const one = await simulate('same', 'medium');
  expect(await simulate('same', 'medium')).toEqual(one);
  expect(one.records).toBeGreaterThan(20);
});
