/** A bounded slice of the crash states of a run's mail; `npm run explore` looks at as many as it is told. */
import { describe, expect, test } from 'vitest';
import type { StoredRecord } from '../../../src/journal/index.ts';
import type { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { newDisk } from './explorer.ts';
import { readRecords } from './mail-checks.ts';
import { exploreMail, readAll } from './mail-explorer.ts';
import { MailWorld } from './mail-world.ts';
import { faithful } from './mutants.ts';

const FIXED_SEEDS = ['1', '2'];
const STATES_MAX = 700;

/** A fresh one each run, unless given. */
const seed = process.env['TROUPE_SEED'] ?? String(process.hrtime.bigint());

describe('mail over crashes', () => {
  test.each([...FIXED_SEEDS, seed])(
    'M1 M2 M3 M4: no letter is lost, given before it is durable, or taken in twice (seed %s)',
    async (seed) => {
      const { states, violation } = await exploreMail(seed, faithful, STATES_MAX);
      expect(violation, `TROUPE_SEED=${seed}`).toBeNull();
      expect(states).toBeGreaterThan(300);
    },
  );
});

async function worldOn(disk: MemoryFiles): Promise<MailWorld> {
  const world = await MailWorld.open({ disk, seed: 'one', mutate: faithful, facts: [] });
  await world.begin();
  return world;
}

const LETTER = { id: 'a', to: 'bo', text: 'forward user a', lane: 'normal' } as const;

/** What a kill leaves at the first operation after which the records are as wanted. */
async function killedWhen(is: (records: readonly StoredRecord[]) => boolean): Promise<MemoryFiles> {
  const disk = await newDisk('one');
  const left: MemoryFiles[] = [];
  disk.before = () => left.push(disk.fork('kill'));
  const world = await worldOn(disk);
  await world.offer(LETTER);
  await world.settle();
  disk.before = null;
  for (const one of left) if (is(await readAll(one))) return one;
  throw new Error('never so');
}

describe('a turn that a crash cut', () => {
  test('M3 S2: goes on in the next term, also of a teammate without a task and without new mail', async () => {
    const disk = await killedWhen((records) => {
      const { took, results } = readRecords(records);
      return took.has('bo 1') && results.size === 0;
    });
    const world = await worldOn(disk);
    await world.settle();
    await world.stop();
    const { byId, results } = readRecords(await readAll(disk));
    expect(results.get('a>user')).toBe(true);
    expect(byId.get('env_bo_1_1') ?? byId.get('env_bo_2_1')).toMatchObject({ to: 'user' });
  });
});
