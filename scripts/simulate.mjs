#!/usr/bin/env node
/**
 * `npm run simulate -- [--seed S] [--profile small|medium|large] [--seeds K] [--minutes N]`: the whole system on a virtual
 * clock, with faults drawn from the seed. A seed that breaks a promise prints its trace and the command that repeats it.
 * Seeds that once did are in `tests/sim/whole/regressions.ts`, and CI runs them.
 */
import defaults from 'node:events';
import { parseArgs } from 'node:util';
import { bundle } from './bundle.mjs';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: process.env.TROUPE_SEED ?? String(process.hrtime.bigint()) },
    profile: { type: 'string', default: 'small' },
    seeds: { type: 'string', default: '1' },
    minutes: { type: 'string' },
  },
});
const minutes = values.minutes === undefined ? null : Number(values.minutes);
const seedsMax = minutes === null ? Number(values.seeds) : Number.POSITIVE_INFINITY;
if (!(seedsMax >= 1) || (minutes !== null && !(minutes > 0))) {
  console.error('simulate: --seeds and --minutes want a number above 0');
  process.exit(2);
}

const loaded = await bundle({
  simulate: 'tests/sim/whole/simulate.ts',
  profiles: 'tests/sim/whole/profiles.ts',
});
const { simulate } = loaded.simulate;
const { PROFILES } = loaded.profiles;
if (PROFILES[values.profile] === undefined) {
  console.error(
    `simulate: --profile ${values.profile}: choose of ${Object.keys(PROFILES).join(', ')}`,
  );
  process.exit(2);
}
// Hundreds wait on the one signal of a simulated run.
defaults.defaultMaxListeners = 0;

const again = (seed) => `npm run simulate -- --profile ${values.profile} --seed ${seed}`;
let at = '';
let finished = false;
// A history in which nothing moves any more empties the event loop: that is a broken promise too.
process.on('exit', (code) => {
  if (finished || code !== 0) return;
  console.error(`simulate: seed ${at} stands still\nrepeat it: ${again(at)}`);
  process.exitCode = 1;
});
const began = performance.now();
const seconds = () => (performance.now() - began) / 1000;
const cpuBegan = process.cpuUsage();
const cpuSeconds = () => {
  const { user, system } = process.cpuUsage(cpuBegan);
  return (user + system) / 1_000_000;
};
const rate = (spent) => Math.round((seeds / spent) * 60);
const ends = new Map();
let [seeds, events, records, crashes, told] = [0, 0, 0, 0, 0];
for (let index = 0; index < seedsMax; index += 1) {
  if (minutes !== null && seconds() > minutes * 60) break;
  at = index === 0 ? values.seed : `${values.seed}.${index}`;
  const one = await simulate(at, values.profile);
  seeds += 1;
  events += one.events;
  records += one.records;
  crashes += one.crashes;
  ends.set(one.end, (ends.get(one.end) ?? 0) + 1);
  if (one.violation !== null) {
    console.error(
      [...one.trace, '', `simulate: seed ${at}: ${one.violation}`, `repeat it: ${again(at)}`].join(
        '\n',
      ),
    );
    process.exit(1);
  }
  if (seconds() > told + 30) {
    told = seconds();
    console.log(`${seeds} seeds, no promise broken`);
  }
}
finished = true;
const how = [...ends].map(([end, count]) => `${count} ${end}`).join(', ');
console.log(
  `${seeds} seeds of ${values.profile} from ${values.seed} (runs: ${how}; ${events} events, ${records} records, ${crashes} crashes): ` +
    `no promise broken, ${rate(seconds())} seeds a minute, ${rate(cpuSeconds())} a minute of processor time`,
);
