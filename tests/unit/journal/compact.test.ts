import { expect, test } from 'vitest';
import type {
  CompactOptions,
  Journal,
  OpenJournalOptions,
  StoredRecord,
} from '../../../src/journal/index.ts';
import { followJournal } from '../../../src/journal/index.ts';
import { CRASH_MODES } from '../../../src/testing/memory-disk.ts';
import { DIRECTORY, World } from './support.ts';

/** `set key` replaces, `del key` ends, `audit` stays, `tick` is worth nothing. */
const compact: CompactOptions = {
  slackBytes: 200,
  worthOf: (record) => {
    const key = String(record['key']);
    if (record.k === 'set') return { kind: 'last', key };
    if (record.k === 'del') return { kind: 'end', key };
    return { kind: record.k === 'tick' ? 'drop' : 'keep' };
  },
};

class Table {
  readonly values: Map<string, unknown> = new Map();
  readonly audit: number[] = [];
  readonly seqs: Map<string, number> = new Map();

  readonly apply = (record: StoredRecord): void => {
    const key = String(record['key']);
    if (record.k === 'set') {
      this.values.set(key, record['value']);
      this.seqs.set(key, record.s);
    } else if (record.k === 'del') {
      this.values.delete(key);
      this.seqs.delete(key);
    } else if (record.k === 'audit') this.audit.push(record.s);
  };

  get content(): unknown {
    const sorted = (map: Map<string, unknown>): unknown =>
      [...map].toSorted(([a], [b]) => a.localeCompare(b));
    return { values: sorted(this.values), seqs: sorted(this.seqs), audit: this.audit };
  }
}

async function opened(
  world: World,
  table: Table,
  options: Partial<OpenJournalOptions> = { compact },
): Promise<Journal> {
  const limits = { segmentBytesMax: 500 };
  return await world.open({ limits, onRecord: table.apply, ...options });
}

async function fill(world: World, rounds = 12): Promise<Table> {
  const journal = await opened(world, new Table(), {});
  for (let round = 0; round < rounds; round += 1) {
    journal.append({ k: 'set', key: `k${round % 4}`, value: { round } });
    journal.append({ k: 'tick', x: 'x'.repeat(40) });
    if (round % 5 === 2) journal.append({ k: 'audit', to: 'all', of: round });
    if (round % 6 === 3) journal.append({ k: 'del', key: 'k1' });
    await journal.append({ k: 'tick' }).durable;
  }
  await journal.close();
  const table = new Table();
  for (const record of await world.read()) table.apply(record);
  return table;
}

const size = async (world: World): Promise<number> => {
  let bytes = 0;
  for (const name of await world.files.list(DIRECTORY)) {
    bytes += (await world.files.stat(`${DIRECTORY}/${name}`))?.size ?? 0;
  }
  return bytes;
};

test('J18: only what is live is carried forward, with its seq, and the journal goes on', async () => {
  const world = new World();
  const before = await fill(world);
  const sizeBefore = await size(world);
  const first = new Table();
  const journal = await opened(world, first);
  expect(first.content).toEqual(before.content);
  expect(journal.report.compaction).toMatchObject({ kept: 5 });
  expect(await size(world)).toBeLessThan(sizeBefore / 2);
  const { seq, durable } = journal.append({ k: 'set', key: 'k0', value: 'new' });
  await durable;
  await journal.close();
  expect(await world.verify()).toMatchObject({ ok: true, problems: [] });
  before.apply({ k: 'set', key: 'k0', value: 'new', s: seq, d: 0 });
  const second = new Table();
  await (await opened(world, second)).close();
  expect(second.content).toEqual(before.content);
  const stored = await world.read();
  const seqs = stored.map(({ s }) => s);
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  expect(stored.every(({ k }) => k !== 'fwd')).toBe(true);
});

test('J18: compacted again and again it stays bounded, and keeps first seqs', async () => {
  const world = new World();
  const journal = await opened(world, new Table());
  const { seq, durable } = journal.append({ k: 'audit', first: true });
  await durable;
  await journal.close();
  const sizes: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const again = await opened(world, new Table());
    for (let n = 0; n < 60; n += 1) again.append({ k: 'set', key: `k${n % 3}`, value: n });
    await again.flush();
    await again.close();
    await (await opened(world, new Table())).close();
    sizes.push(await size(world));
  }
  expect(Math.max(...sizes)).toBeLessThan(2000);
  const found = (await world.read()).filter(({ k }) => k === 'audit');
  expect(found).toMatchObject([{ s: seq, first: true }]);
});

test('J18: below twice what is live and the slack nothing is done, and never without being asked', async () => {
  const world = new World();
  await fill(world);
  const names = await world.files.list(DIRECTORY);
  const calm = await opened(world, new Table(), { compact: { ...compact, slackBytes: 1e6 } });
  expect(calm.report.compaction).toBeNull();
  await calm.close({ seal: false });
  await (await opened(world, new Table(), {})).close({ seal: false });
  expect(await world.files.list(DIRECTORY)).toEqual(names);
});

test('J18: a damaged journal is not compacted, a full disk leaves it as it was', async () => {
  const world = new World();
  await fill(world);
  world.files.spaceLeft = 50;
  const full = await opened(world, new Table());
  expect(full.report.compaction).toBeNull();
  await full.close({ seal: false });
  world.files.spaceLeft = null;
  const lines = await world.lines();
  lines[2] = 'rot';
  await world.put(`${lines.join('\n')}\n`);
  const damaged = await opened(world, new Table());
  expect(damaged.report.gaps).toHaveLength(1);
  expect(damaged.report.compaction).toBeNull();
  expect((await world.text()).split('\n')[2]).toBe('rot');
  await damaged.close();
});

test('J18: a follower that lags sees each record that is left once; one that is up to date nothing twice', async () => {
  for (const from of [1, 20, 1000]) {
    const world = new World();
    await fill(world);
    await (await opened(world, new Table())).close();
    const all = await world.read();
    const stop = new AbortController();
    const { files, clock } = world;
    const seen: number[] = [];
    const following = followJournal({
      files,
      clock,
      directory: DIRECTORY,
      from,
      signal: stop.signal,
    });
    const journal = await opened(world, new Table(), {});
    const last = journal.append({ k: 'audit', last: true });
    await last.durable;
    const done = (async () => {
      for await (const record of following) {
        seen.push(record.s);
        if (record['last'] === true) stop.abort();
      }
    })();
    if (from > last.seq) stop.abort();
    await done;
    const expected = [...all.map(({ s }) => s), last.seq].filter((s) => s >= from && s <= last.seq);
    expect(seen.filter((s) => expected.includes(s))).toEqual(expected);
    expect(new Set(seen).size).toBe(seen.length);
  }
});

test('J18: `select` decides on the kind and address that a record had', async () => {
  const world = new World();
  await fill(world);
  const picked: StoredRecord[] = [];
  await (await opened(world, new Table())).close();
  const journal = await opened(world, new Table(), {
    onRecord: (record) => picked.push(record),
    select: ({ k, address }) => k === 'audit' && address === 'all',
  });
  await journal.close();
  expect(picked).toMatchObject([{ of: 2 }, { of: 7 }]);
});

test('J13, J18: at whatever operation the machine dies, twice, the live records are there with their seqs', {
  timeout: 30_000,
}, async () => {
  const probe = new World();
  const want = (await fill(probe)).content;
  let compactions = 0;
  for (let at = 1; ; at += 1) {
    const world = new World();
    await fill(world);
    const crashed = await diesAt(world, at, () => opened(world, new Table()));
    for (const mode of CRASH_MODES) {
      const left = new World(world.files.crash(mode));
      // The second life dies in its own recovery and compaction.
      await diesAt(left, 1 + (at % 23), () => opened(left, new Table()));
      const third = new World(left.files.crash(CRASH_MODES[at % CRASH_MODES.length] ?? 'none'));
      const table = new Table();
      const journal = await opened(third, table);
      expect(table.content, `${at}/${mode}`).toEqual(want);
      expect(journal.report.gaps, `${at}/${mode}`).toEqual([]);
      if (journal.report.compaction !== null) compactions += 1;
      await journal.append({ k: 'tick' }).durable;
      await journal.close();
      expect((await third.verify()).problems, `${at}/${mode}`).toEqual([]);
      const names = await third.files.list(DIRECTORY);
      expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([]);
    }
    if (!crashed) break;
  }
  expect(compactions).toBeGreaterThan(5);
});

async function diesAt(world: World, at: number, life: () => Promise<unknown>): Promise<boolean> {
  const start = world.files.operations;
  let crashed = false;
  const died = new Promise<void>((resolve) => {
    world.files.before = ({ number }) => {
      if (number !== start + at) return;
      crashed = true;
      world.files.crash('none');
      resolve();
    };
  });
  await Promise.race([life(), died]);
  world.files.before = null;
  return crashed;
}
