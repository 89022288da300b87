#!/usr/bin/env node
/**
 * The long forms of proofs whose short forms are ordinary tests: `npm run mutants`, `npm run powercut [-- --cuts N]`,
 * `npm run soak [-- --kills N]`, `npm run merge:oracle [-- --merges N]`, each with `--seed S` to repeat one. They run through
 * vitest with larger numbers.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const PROOFS = {
  mutants: { project: 'sim', file: 'tests/sim/journal/mutants.sim.ts' },
  powercut: { project: 'e2e', file: 'tests/e2e/journal-powercut.test.ts' },
  'merge-oracle': { project: 'contract', file: 'tests/contract/git-merge-oracle.test.ts' },
  soak: { project: 'e2e', file: 'tests/e2e/journal-soak.test.ts' },
};

const [name = '', ...rest] = process.argv.slice(2);
const proof = PROOFS[name];
if (proof === undefined) {
  console.error(`prove: there is no "${name}"; choose of ${Object.keys(PROOFS).join(', ')}`);
  process.exit(2);
}
const { values } = parseArgs({
  args: rest,
  options: {
    seed: { type: 'string' },
    kills: { type: 'string', default: '100' },
    cuts: { type: 'string', default: '36' },
    merges: { type: 'string', default: '1000' },
  },
});
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url));
const ran = spawnSync(
  process.execPath,
  [vitest, 'run', '--project', proof.project, '--reporter', 'verbose', proof.file],
  {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: 'inherit',
    env: {
      ...process.env,
      TROUPE_KILLS: values.kills,
      TROUPE_CUTS: values.cuts,
      TROUPE_MERGES: values.merges,
      ...(values.seed === undefined ? {} : { TROUPE_SEED: values.seed }),
    },
  },
);
process.exit(ran.status ?? 1);
