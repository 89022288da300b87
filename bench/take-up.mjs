/**
 * Taking a run up: 200 000 records (mail that is sent and taken in, by 50 actors) folded as a whole, and from a snapshot 1 000
 * records before the end; and how long the loop stands still while the state is serialised.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openJournal } from '../dist/journal/journal.js';
import { CryptoRandom } from '../dist/platform/crypto-random.js';
import { NodeFiles } from '../dist/platform/node-files.js';
import { StructuredCodec } from '../dist/platform/structured-codec.js';
import { SystemClock } from '../dist/platform/system-clock.js';
import { ViewFiles } from '../dist/supervisor/effects/views.js';
import { freezeState, packSnapshot } from '../dist/supervisor/snapshot.js';
import { applyRecord } from '../dist/supervisor/state.js';
import { takeUp } from '../dist/supervisor/take-up.js';
import { runFileOf } from './graph.mjs';
import { median } from './stats.mjs';

const RECORDS = 200_000;
const TAIL = 1_000;
const ACTORS = 50;
const ROUNDS = 3;

export async function takeUpRows() {
  const root = mkdtempSync(join(process.env.TROUPE_BENCH_DIR ?? tmpdir(), 'troupe-take-up-'));
  try {
    const world = { root, file: runFileOf('fan', 10), format: formatOf() };
    const whole = [];
    const fast = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      if (round === 0) await fill(world);
      rmSync(join(root, 'snapshots'), { recursive: true, force: true });
      whole.push(await timeOpen(world, RECORDS));
      world.stillMs = await snapshot(world);
      fast.push(await timeOpen(world, 2 * TAIL));
    }
    const detail = `${median(fast).toFixed(0)} ms against ${median(whole).toFixed(0)} ms`;
    return [
      {
        what: `a run of ${RECORDS} records taken up from a snapshot, against a whole fold`,
        ratio: median(whole) / median(fast),
        least: 4,
        detail,
      },
      {
        what: 'the loop stands still for a snapshot of that state',
        ratio: null,
        bound: null,
        detail: `${world.stillMs.toFixed(1)} ms`,
      },
    ];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const formatOf = () => ({ codec: new StructuredCodec(), version: 'bench' });
const deps = () => ({
  files: new NodeFiles(),
  clock: new SystemClock(),
  random: new CryptoRandom(),
});

function recordOf(index) {
  const to = `a${index % ACTORS}`;
  const n = Math.floor(index / (2 * ACTORS)) + 1;
  const at = new Date(index).toISOString();
  if (index % (2 * ACTORS) >= ACTORS) return { k: 'step', at, a: to, took: [n] };
  const from = `a${(index + 1) % ACTORS}`;
  const mail = { to, from, fromIncarnation: 1, e: 1, n, id: `env_${from}_1_${n}`, lane: 'normal' };
  const body = { text: 'a few words about what was done and what comes next '.repeat(2) };
  return { k: 'msg', at, to, mail: [{ ...mail, type: 'chat.message', body }] };
}

async function fill({ root, file }) {
  const journal = await openJournal({ ...deps(), directory: `${root}/journal`, name: file.id });
  for (let index = 0; index < RECORDS; index += 1) {
    journal.append(recordOf(index));
    if (index % 4000 === 0) await journal.flush();
  }
  await journal.close();
}

async function open({ root, file, format }) {
  const parts = deps();
  const logger = { log: () => {} };
  const views = new ViewFiles({ ...parts, logger, directory: `${root}/views` });
  const taken = await takeUp(file, {
    ...parts,
    logger,
    views,
    format,
    directory: `${root}/journal`,
  });
  return { ...taken, views };
}

/** As the end of a run does it, and then a little more is recorded. */
async function snapshot(world) {
  const { journal, state, views } = await open(world);
  await views.sync();
  const began = performance.now();
  const frozen = freezeState(state, world.format);
  const stillMs = performance.now() - began;
  await journal.writeSnapshot(packSnapshot(frozen, views.sizes(), world.format), state.lastSeq);
  for (let index = 0; index < TAIL; index += 1) {
    const at = new Date(RECORDS + index).toISOString();
    const { seq, durable } = journal.append({ k: 'run', at });
    applyRecord(state, { k: 'run', at, s: seq, d: 0 });
    if (index === TAIL - 1) await durable;
  }
  await journal.close();
  await views.close();
  return stillMs;
}

async function timeOpen(world, recordsMax) {
  const began = performance.now();
  const { journal, views } = await open(world);
  const ms = performance.now() - began;
  if ((journal.report.snapshot.seq === 0) !== (recordsMax === RECORDS))
    throw new Error('wrong open');
  await journal.close();
  await views.close();
  return ms;
}
