/** Every seeded fault is noticed, by the proof that is meant to; the proofs themselves pass on the true source. */
import { describe, expect, test } from 'vitest';
import { explore } from './explorer.ts';
import { mutants } from './mutants.ts';
import { buildMutated } from './mutated.ts';
import { patches } from './patches.ts';

const SEEDS = Array.from({ length: 12 }, (_, index) => String(index + 1));
const STATES_MAX = 1200;

/** What the first seed that notices it says; null when none does. */
async function caught(
  proof: (seed: string) => Promise<{ violation: string | null }>,
): Promise<string | null> {
  for (const seed of SEEDS) {
    const { violation } = await proof(seed);
    if (violation !== null) return violation;
  }
  return null;
}

describe('faults between the journal and the disk', () => {
  test.each(Object.entries(mutants))('"%s" is caught', async (_name, { mutate, says }) => {
    expect(await caught((seed) => explore(seed, mutate, STATES_MAX))).toMatch(says);
  });
});

describe('faults in the source', () => {
  test.each(Object.entries(patches))('"%s" is caught', async (_name, { edits, proof, says }) => {
    const proofs = await buildMutated(edits);
    expect(await caught((seed) => proofs[proof](seed, STATES_MAX))).toMatch(says);
  });

  test('a patch whose place is gone is an error', async () => {
    const edit = { file: 'src/journal/scan.ts', anchor: 'no such text', instead: '' };
    await expect(buildMutated([edit])).rejects.toThrow(/anchor 0 times/);
    const elsewhere = { file: 'src/cli/index.ts', anchor: 'x', instead: 'y' };
    await expect(buildMutated([elsewhere])).rejects.toThrow(/not built/);
  });
});
