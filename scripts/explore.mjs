#!/usr/bin/env node
/**
 * `npm run explore -- [--states N] [--seed S]`: crash states of the journal, of the mail of a run and of what it
 * asks people, until N were looked at or a promise was broken. A seed that broke one is printed and repeats it as `--seed`;
 * `--only journal|mail|asks` looks at one of them.
 */
import defaults from 'node:events';
import { parseArgs } from 'node:util';
import { bundle } from './bundle.mjs';

const { values } = parseArgs({
  options: {
    states: { type: 'string', default: '100000' },
    only: { type: 'string' },
    seed: { type: 'string', default: process.env.TROUPE_SEED ?? String(process.hrtime.bigint()) },
  },
});
const statesMax = Number(values.states);
if (!Number.isSafeInteger(statesMax) || statesMax < 1) {
  console.error(`explore: --states ${values.states} is no number of states`);
  process.exit(2);
}

const { journal, mail, mutants, asks } = await bundle({
  journal: 'tests/sim/journal/explorer.ts',
  mail: 'tests/sim/journal/mail-explorer.ts',
  mutants: 'tests/sim/journal/mutants.ts',
  asks: 'tests/sim/permissions/queue-explorer.ts',
});
// Hundreds wait on the one signal of a simulated run.
defaults.defaultMaxListeners = 0;

const PROGRESS_STATES = 50_000;
/** Many histories tell more than all crashes of one. */
const SEED_STATES_MAX = 3_000;
const began = performance.now();
const proofs = {
  journal: (seed, max) => journal.explore(seed, mutants.faithful, max),
  mail: (seed, max) => mail.exploreMail(seed, mutants.faithful, max),
  asks: (seed, max) => asks.exploreQueue(seed, max),
};
const wanted = Object.entries(proofs).filter(([what]) => (values.only ?? what) === what);
if (wanted.length === 0) {
  console.error(`explore: --only ${values.only}: choose of ${Object.keys(proofs).join(', ')}`);
  process.exit(2);
}
const counts = { journal: 0, mail: 0, asks: 0 };
let total = 0;
let at = '';
let finished = false;
// A history in which nothing moves any more empties the event loop: that is a broken promise too.
process.on('exit', (code) => {
  if (finished || code !== 0) return;
  console.error(`explore: ${at} stands still`);
  process.exitCode = 1;
});
for (let index = 0; total < statesMax; index += 1) {
  const seed = index === 0 ? values.seed : `${values.seed}.${index}`;
  for (const [what, run] of wanted) {
    at = `${what}, seed ${seed}`;
    const { states, violation } = await run(seed, Math.min(statesMax - total, SEED_STATES_MAX));
    counts[what] += states;
    if (violation !== null) {
      console.error(`explore: ${what}, seed ${seed}: ${violation}`);
      console.error(`repeat it: npm run explore -- --only ${what} --states 1000000 --seed ${seed}`);
      process.exit(1);
    }
    if (Math.floor((total + states) / PROGRESS_STATES) > Math.floor(total / PROGRESS_STATES)) {
      console.log(`${total + states} states, no promise broken`);
    }
    total += states;
  }
}
finished = true;
const seconds = (performance.now() - began) / 1000;
console.log(
  `${total} crash states (${counts.journal} of the journal, ${counts.mail} of mail, ${counts.asks} of asks), seed ${values.seed}: ` +
    `no promise broken, ${Math.round(total / seconds)} states a second`,
);
