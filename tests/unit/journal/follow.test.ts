import { afterEach, beforeEach, expect, test } from 'vitest';
import { followJournal, type StoredRecord } from '../../../src/journal/index.ts';
import { DIRECTORY, FIRST, range, World } from './support.ts';

let world: World;
let stop: AbortController;
let ended: Promise<void>;
let seen: StoredRecord[];

beforeEach(() => {
  world = new World();
  stop = new AbortController();
  seen = [];
});

afterEach(async () => {
  stop.abort();
  await ended;
});

function follow(options: { from?: number; onGap?: () => void } = {}): void {
  const { files, clock } = world;
  const following = followJournal({
    files,
    clock,
    directory: DIRECTORY,
    signal: stop.signal,
    ...options,
  });
  ended = (async () => {
    for await (const record of following) seen.push(record);
  })();
}

const seqs = (): number[] => seen.map((record) => record.s);
/** Everything that is under way in memory comes to rest; no time passes. */
const rest = async (): Promise<void> => {
  for (let turn = 0; turn < 4; turn += 1) await world.clock.advance(0);
};

test('a follower gives what is there, then what comes, without gap or repeat', async () => {
  const journal = await world.open();
  await journal.append({ k: 'a' }).durable;
  follow();
  await rest();
  expect(seqs()).toEqual([1, 2]);
  for (let index = 0; index < 20; index += 1) {
    journal.append({ k: 'b' });
    if (index % 3 === 0) await journal.flush();
  }
  await journal.flush();
  await rest();
  expect(seqs()).toEqual(range(1, 22));
  await journal.close();
  await rest();
  expect(seqs()).toEqual(range(1, 23));
});

test('a follower goes over rolls', async () => {
  const journal = await world.open({ limits: { segmentBytesMax: 300 } });
  follow();
  for (let index = 0; index < 12; index += 1) {
    await journal.append({ k: 'msg', index }).durable;
    await rest();
  }
  await journal.close();
  await rest();
  expect(seqs()).toEqual(range(1, journal.durableSeq));
  expect((await world.files.list(DIRECTORY)).length).toBeGreaterThan(2);
});

test('a follower from a seq begins there, also when it is not yet written', async () => {
  const journal = await world.open();
  follow({ from: 3 });
  journal.append({ k: 'a' });
  journal.append({ k: 'b' });
  journal.append({ k: 'c' });
  await journal.flush();
  await rest();
  expect(seqs()).toEqual([3, 4]);
});

test('a follower waits for a journal that does not exist yet', async () => {
  follow();
  await rest();
  const journal = await world.open();
  await journal.append({ k: 'a' }).durable;
  await world.clock.advance(1000);
  await rest();
  // The third is the seal of the quiet second.
  expect(seqs()).toEqual([1, 2, 3]);
  await journal.close();
});

test('the sweep finds what no watch told', async () => {
  const journal = await world.open();
  world.files.watch = () => undefined;
  follow();
  await rest();
  await journal.append({ k: 'a' }).durable;
  await rest();
  expect(seqs()).toEqual([1]);
  await world.clock.advance(1000);
  await rest();
  expect(seqs()).toEqual([1, 2, 3]);
});

test('half a record is given once it is whole', async () => {
  await world.filled(2);
  const text = await world.text();
  await world.put(text.slice(0, -30));
  follow();
  await rest();
  expect(seqs()).toEqual([1, 2, 3]);
  const handle = await world.files.open(`${DIRECTORY}/${FIRST}`, 'append');
  handle.write(new TextEncoder().encode(text.slice(-30)));
  await rest();
  expect(seqs()).toEqual([1, 2, 3, 4]);
});

test('what was cut behind it and written anew is followed, and no seq is given twice', async () => {
  await world.filled(2);
  const text = await world.text();
  const handle = await world.files.open(`${DIRECTORY}/${FIRST}`, 'append');
  follow();
  await rest();
  expect(seqs()).toEqual(range(1, 4));
  await handle.truncate(text.length - 60);
  await rest();
  const journal = await world.open();
  for (let index = 0; index < 3; index += 1) await journal.append({ k: 'new' }).durable;
  await rest();
  await journal.close();
  await rest();
  expect(seqs()).toEqual(range(1, journal.durableSeq));
});

test('a tail that stays torn is not read again and again', async () => {
  await world.filled(2);
  await world.put(`${await world.text()}garbage\n`);
  let reads = 0;
  world.files.before = ({ kind }) => {
    if (kind === 'read') reads += 1;
  };
  follow();
  await rest();
  const before = reads;
  await world.clock.advance(5000);
  expect(reads - before).toBeLessThanOrEqual(10);
  expect(seqs()).toEqual(range(1, 4));
});

test('a gap is told once, in its place', async () => {
  await world.filled(6);
  await world.put((await world.text()).replace('"n":3', '"n":4'));
  const gaps: number[] = [];
  follow({ onGap: () => gaps.push(seen.length) });
  await rest();
  const journal = await world.open();
  await journal.append({ k: 'after' }).durable;
  await rest();
  expect(gaps.length).toBe(1);
  expect(seqs()).toEqual([1, 2, 3, ...range(5, 10)]);
  await journal.close();
});

test('it ends with its signal, also while it waits', async () => {
  await world.filled(1);
  follow();
  await rest();
  stop.abort();
  await ended;
  expect(seqs()).toEqual([1, 2, 3]);
  expect(world.clock.pending).toBe(0);
});
