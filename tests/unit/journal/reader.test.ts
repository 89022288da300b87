import { expect, test } from 'vitest';
import { type Damage, type RecordHead, readJournal } from '../../../src/journal/index.ts';
import { DIRECTORY, range, World } from './support.ts';

const small = { limits: { segmentBytesMax: 400 } };

test('a reader beside the writer sees what is there, locks nothing and changes nothing', async () => {
  const world = new World();
  const journal = await world.open();
  await journal.append({ k: 'msg', to: 'ada' }).durable;
  const kinds = new Set<string>();
  world.files.before = ({ kind }) => kinds.add(kind);
  expect((await world.read()).map((record) => record.s)).toEqual([1, 2]);
  expect([...kinds].toSorted()).toEqual(['close', 'list', 'open', 'read', 'stat']);
});

test('no journal, or an empty one, gives nothing', async () => {
  const world = new World();
  expect(await world.read()).toEqual([]);
  await world.files.makeDirectory(DIRECTORY);
  expect(await world.read()).toEqual([]);
  await world.put('');
  expect(await world.read()).toEqual([]);
});

test('an incomplete last line is ignored', async () => {
  const world = new World();
  await world.filled(3);
  await world.put(`${await world.text()}{"s":6,"d":5,"k":"m`);
  const gaps: Damage[] = [];
  expect((await world.read({ onGap: (gap) => gaps.push(gap) })).length).toBe(5);
  expect(gaps).toEqual([]);
});

test('`from` begins at a seq, in the segment that holds it', async () => {
  const world = new World();
  await world.filled(12, small);
  const all = (await world.read()).map((record) => record.s);
  for (const from of [1, 2, 5, 9, all.length, all.length + 1]) {
    expect((await world.read({ from })).map((record) => record.s)).toEqual(
      all.filter((seq) => seq >= from),
    );
  }
  const opened = new Set<string>();
  world.files.before = ({ kind, path }) => {
    if (kind === 'read') opened.add(path);
  };
  await world.read({ from: all.length });
  expect(opened.size).toBe(1);
});

test('`from` finds its place although a head is damaged', async () => {
  const world = new World();
  await world.filled(12, small);
  const all = (await world.read()).map((record) => record.s);
  const last = (await world.files.list(DIRECTORY)).at(-1) ?? '';
  const text = await world.text(last);
  await world.put(text.replace('"seg"', '"sag"'), last);
  const from = all.length - 1;
  expect((await world.read({ from })).map((record) => record.s)).toEqual([from, from + 1]);
});

test('J3: `select` sees heads only, and only what it wants is parsed', async () => {
  const world = new World();
  const journal = await world.open();
  for (const to of ['ada', 'bo', 'ada']) journal.append({ k: 'msg', to });
  await journal.close();
  const heads: RecordHead[] = [];
  const select = (head: RecordHead): boolean => {
    heads.push(head);
    return head.address === 'bo';
  };
  expect((await world.read({ select })).map((record) => record.s)).toEqual([3]);
  expect(heads.map(({ s, k, address }) => `${s} ${k} ${address}`)).toEqual([
    '1 seg null',
    '2 msg ada',
    '3 msg bo',
    '4 msg ada',
    '5 seal null',
  ]);
});

test('windows smaller than a record, and a record on the edge of one, make no difference', async () => {
  const world = new World();
  const journal = await world.open();
  for (const size of [1, 300, 63, 64, 65, 1000, 5]) journal.append({ k: 'm', x: 'ä'.repeat(size) });
  await journal.close();
  const all = await world.read();
  for (const windowBytes of [16, 64, 128, 1000]) {
    expect(await world.read({ limits: { windowBytes } })).toEqual(all);
  }
});

test('a reader that stops early closes its file', async () => {
  const world = new World();
  await world.filled(5);
  let open = 0;
  world.files.before = ({ kind }) => {
    if (kind === 'open') open += 1;
    if (kind === 'close') open -= 1;
  };
  for await (const record of readJournal({ files: world.files, directory: DIRECTORY })) {
    if (record.s === 2) break;
  }
  expect(open).toBe(0);
});

test('a reader goes over a roll that happens while it reads', async () => {
  const world = new World();
  const journal = await world.open(small);
  const send = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1)
      await journal.append({ k: 'msg', index }).durable;
  };
  await send(2);
  const seen: number[] = [];
  for await (const record of readJournal({ files: world.files, directory: DIRECTORY })) {
    seen.push(record.s);
    if (record.s === 2) await send(10);
  }
  expect(seen).toEqual(range(1, journal.durableSeq));
});
