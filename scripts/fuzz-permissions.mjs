// npm run fuzz:permissions -- --programs N [--seed S]: generated shell programs against what bash really starts.
import { spawnSync } from 'node:child_process';

const args = process.argv.slice(2);
const value = (name, otherwise) => {
  const at = args.indexOf(name);
  const given = at < 0 ? otherwise : args[at + 1];
  if (given !== undefined && !/^\d+$/.test(given)) {
    console.error(`fuzz-permissions: ${name} takes a number`);
    process.exit(2);
  }
  return given;
};
const programs = value('--programs', '100000');
const seed = value('--seed', process.env.TROUPE_SEED);
const ran = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--project',
    'sim',
    'tests/sim/permissions/differential.sim.ts',
    '--disable-console-intercept',
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      TROUPE_PROGRAMS: programs,
      ...(seed === undefined ? {} : { TROUPE_SEED: seed }),
    },
  },
);
process.exit(ran.status ?? 1);
