/** A bounded slice of what may happen to the queue of asks; `npm run explore` looks at as much as it is told. */
import defaults from 'node:events';
import { expect, test } from 'vitest';
import { exploreQueue } from './queue-explorer.ts';

/** A fresh one each run, unless given. */
const seed = process.env['TROUPE_SEED'] ?? String(process.hrtime.bigint());
const STATES_MAX = 80;

// Hundreds wait on the one signal of a run.
defaults.defaultMaxListeners = 0;

test.each(['1', '2', '3', seed])(
  'P30 P31 P32 P33 P34: over answers, deaths, changes and crashes each ask ends once and nothing runs unasked (seed %s)',
  async (one) => {
    const { states, violation } = await exploreQueue(one, STATES_MAX);
    expect(
      violation,
      `TROUPE_SEED=${one}, or npm run explore -- --only asks --seed ${one}`,
    ).toBeNull();
    expect(states).toBeGreaterThan(20);
  },
);

test(`P32: fifty actors that ask at once (seed ${seed})`, async () => {
  const { violation } = await exploreQueue(seed, 10, { actors: 50, steps: 6 });
  expect(violation, `TROUPE_SEED=${seed}`).toBeNull();
});
