/** W4, W6, W11, W12: random merges of eight writers against an oracle of lines. `npm run merge:oracle` is the long form. */
import { expect, test } from 'vitest';
import { MergeOracle } from '../support/merge-oracle/oracle.ts';

const merges = Number(process.env['TROUPE_MERGES'] ?? 10);
const seed = process.env['TROUPE_SEED'] ?? '11';

test(`after each of ${merges} merges every line is there, or the task is in a named state (seed ${seed})`, {
  timeout: 15_000 + merges * 10_000,
}, async () => {
  const told = `npm run merge:oracle -- --merges ${merges} --seed ${seed}`;
  const tally = await new MergeOracle(seed).run(merges).catch((error: unknown) => {
    throw new Error(told, { cause: error });
  });
  expect(tally.landed, told).toBeGreaterThanOrEqual(merges);
  if (merges > 10) console.log(`seed ${seed}: ${JSON.stringify(tally)}`);
});
