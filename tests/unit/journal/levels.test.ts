import { expect, test } from 'vitest';
import type { LiveRecord } from '../../../src/journal/index.ts';
import { isTroupeError } from '../../../src/kernel/index.ts';
import { World } from './support.ts';

const told = (journal: { subscribe(listener: (record: LiveRecord) => void): () => void }) => {
  const records: LiveRecord[] = [];
  const stop = journal.subscribe((record) => records.push(record));
  return { records, stop };
};

const syncs = (world: World): { count: number } => {
  const counted = { count: 0 };
  world.files.before = ({ kind, path }) => {
    if (kind === 'datasync' && path.endsWith('.jsonl')) counted.count += 1;
  };
  return counted;
};

test('J8: `os` is written and not synced: it survives a kill, and a power cut may take it', async () => {
  const world = new World();
  const journal = await world.open();
  const counted = syncs(world);
  await journal.append({ k: 'view', n: 1 }, { level: 'os' }).durable;
  expect(counted.count).toBe(0);
  expect([journal.nextSeq, journal.durableSeq]).toEqual([3, 1]);
  const killed = new World(world.files.crash('kill'));
  expect((await killed.recovered()).seqs).toEqual([1, 2]);
  const cut = new World(world.files.crash('none'));
  expect((await cut.recovered()).seqs).toEqual([1]);
});

test('J8: the next durable record takes `os` ones before it along; the level stands in the record', async () => {
  const world = new World();
  const journal = await world.open();
  await journal.append({ k: 'view', n: 1 }, { level: 'os' }).durable;
  await journal.append({ k: 'msg', to: 'ada', n: 2 }).durable;
  expect(journal.durableSeq).toBe(3);
  const after = new World(world.files.crash('none'));
  await after.recovered();
  const found = await after.read();
  expect(found.slice(1)).toEqual([
    { s: 2, d: 1, k: 'view', n: 1, l: 'os' },
    { s: 3, d: 1, k: 'msg', to: 'ada', n: 2 },
  ]);
  expect(() => journal.append({ k: 'msg', l: 'os' })).toThrow(/belongs to the journal/);
});

test('J8: flush makes `os` records durable too, and a segment is left only when it is synced', async () => {
  const world = new World();
  const journal = await world.open({ limits: { segmentBytesMax: 300 } });
  for (let n = 0; n < 20; n += 1) {
    await journal.append({ k: 'view', x: 'x'.repeat(60), n }, { level: 'os' }).durable;
  }
  const cut = new World(world.files.crash('none'));
  const { journal: again, seqs } = await cut.recovered();
  expect(again.report.gaps).toEqual([]);
  expect(seqs.length).toBeGreaterThan(3);

  const other = new World();
  const flushed = await other.open();
  await flushed.append({ k: 'view' }, { level: 'os' }).durable;
  await flushed.flush();
  const left = new World(other.files.crash('none'));
  expect((await left.recovered()).seqs).toEqual([1, 2, 3]);
});

test('`memory` is never written, takes no seq, and reaches live subscribers alone', async () => {
  const world = new World();
  const journal = await world.open();
  const { records, stop } = told(journal);
  const before = await world.text();
  const ghost = journal.append({ k: 'progress', n: 1 }, { level: 'memory' });
  await ghost.durable;
  expect(ghost.seq).toBe(0);
  expect(await world.text()).toBe(before);
  expect(records).toEqual([{ s: 0, d: 1, k: 'progress', n: 1, l: 'memory' }]);
  stop();
  journal.append({ k: 'progress', n: 2 }, { level: 'memory' });
  expect(records).toHaveLength(1);
});

test('a subscriber gets every record that settles from then on, in order, each when it has its level', async () => {
  const world = new World();
  const journal = await world.open();
  const early = journal.append({ k: 'msg', n: 1 });
  const { records } = told(journal);
  journal.append({ k: 'view', n: 2 }, { level: 'os' });
  expect(records).toEqual([]);
  await journal.append({ k: 'msg', n: 3 }).durable;
  await early.durable;
  expect(records.map(({ s, n }) => [s, n])).toEqual([
    [2, 1],
    [3, 2],
    [4, 3],
  ]);
  expect(records.every((record) => record.s <= journal.durableSeq)).toBe(true);
});

test('J10: a full disk after `os` records gives their successors seqs without a hole', async () => {
  const world = new World();
  const journal = await world.open({ limits: { fullRetryMs: 1 } });
  await journal.append({ k: 'view', n: 1 }, { level: 'os' }).durable;
  world.files.spaceLeft = 10;
  const lost = journal.append({ k: 'msg', n: 2 });
  await expect(lost.durable).rejects.toMatchObject({ code: 'journal/full' });
  world.files.spaceLeft = null;
  await world.clock.advance(1);
  const next = journal.append({ k: 'msg', n: 3 });
  await next.durable;
  expect(next.seq).toBe(lost.seq);
  await journal.close();
  expect((await world.verify()).problems).toEqual([]);
});

test('back-pressure is told, and past the bound nothing is taken', async () => {
  const world = new World();
  const journal = await world.open({ limits: { queueBytesMax: 4000 } });
  expect(journal.queuedBytes).toBe(0);
  const codeOf = (): string => {
    try {
      journal.append({ k: 'msg', x: 'x'.repeat(200) });
    } catch (error) {
      return isTroupeError(error) ? error.code : String(error);
    }
    return 'queued';
  };
  let code = codeOf();
  while (code === 'queued') code = codeOf();
  expect(code).toBe('journal/overloaded');
  expect(journal.queuedBytes).toBeGreaterThan(4000);
  await journal.flush();
  expect(journal.queuedBytes).toBe(0);
  expect(codeOf()).toBe('queued');
});
