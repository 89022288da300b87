/** A bounded slice of the crash states of the journal. `TROUPE_SEED=… npx vitest run --project sim` repeats one. */
import { describe, expect, test } from 'vitest';
import { explore } from './explorer.ts';
import { faithful } from './mutants.ts';

const FIXED_SEEDS = ['1', '2'];
const STATES_MAX = 3000;

/** A fresh one each run, unless given. */
const seed = process.env['TROUPE_SEED'] ?? String(process.hrtime.bigint());

describe('crash explorer', () => {
  test.each([...FIXED_SEEDS, seed])(
    'J12, J13: after any crash all that was acknowledged is there, once and in order (seed %s)',
    async (seed) => {
      const { states, violation } = await explore(seed, faithful, STATES_MAX);
      expect(violation, `TROUPE_SEED=${seed}`).toBeNull();
      expect(states).toBeGreaterThan(400);
    },
  );
});
