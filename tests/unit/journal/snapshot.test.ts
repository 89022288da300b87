import { expect, test } from 'vitest';
import type { Journal, StoredRecord } from '../../../src/journal/index.ts';
import { CRASH_MODES } from '../../../src/testing/memory-disk.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { DIRECTORY, FIRST, SECOND, World } from './support.ts';

const SNAPSHOTS = '/runs/r1/snapshots';

/** A state that tells every order and every loss: per key the seqs that touched it. */
class Fold {
  state: Record<string, number[]> = {};
  replayed = 0;

  readonly apply = (record: StoredRecord): void => {
    this.replayed += 1;
    if (record.k !== 'msg') return;
    const key = String(record['key']);
    this.state[key] = [...(this.state[key] ?? []), record.s];
  };

  bytes(): Uint8Array {
    return new TextEncoder().encode(JSON.stringify(this.state));
  }

  readonly restore = (bytes: Uint8Array): boolean => {
    this.state = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, number[]>;
    return true;
  };
}

async function opened(world: World, fold: Fold, withSnapshot = true): Promise<Journal> {
  return await world.open({
    limits: { segmentBytesMax: 900 },
    onRecord: fold.apply,
    ...(withSnapshot ? { snapshots: { restore: fold.restore } } : {}),
  });
}

async function send(journal: Journal, fold: Fold, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const body = { k: 'msg', key: `k${index % 3}` };
    const { seq, durable } = journal.append(body);
    fold.apply({ ...body, s: seq, d: 0 });
    await durable;
  }
}

const names = async (world: World): Promise<string[]> => await world.files.list(SNAPSHOTS);

test('J15: replay from a snapshot equals full replay, and gives only what came after', async () => {
  const world = new World();
  const live = new Fold();
  let journal = await opened(world, live);
  await send(journal, live, 40);
  await journal.writeSnapshot(live.bytes(), journal.nextSeq - 1);
  await send(journal, live, 5);
  await journal.close();

  const full = new Fold();
  await (await opened(world, full, false)).close();
  const fast = new Fold();
  journal = await opened(world, fast);
  expect(fast.state).toEqual(full.state);
  expect(fast.state).toEqual(live.state);
  expect(full.replayed).toBeGreaterThan(45);
  expect(fast.replayed).toBeLessThan(12);
  expect(journal.report.snapshot).toEqual({ seq: expect.any(Number), refused: [] });
  await send(journal, fast, 3);
  await journal.close();
  expect((await world.verify()).problems).toEqual([]);
});

test('J15: a snapshot may be taken of any seq: waiting, last, in the middle, in an older segment', async () => {
  for (const at of [2, 9, 30, 41]) {
    const world = new World();
    const live = new Fold();
    const journal = await opened(world, live);
    await send(journal, live, 40);
    const upTo = new Fold();
    for (const record of await world.read()) if (record.s <= at) upTo.apply(record);
    await journal.writeSnapshot(upTo.bytes(), at);
    const waiting = journal.append({ k: 'msg', key: 'k0' });
    live.apply({ k: 'msg', key: 'k0', s: waiting.seq, d: 0 });
    if (at === 41) await journal.writeSnapshot(live.bytes(), waiting.seq);
    await journal.close();
    const fast = new Fold();
    await (await opened(world, fast)).close();
    expect(fast.state, `at ${at}`).toEqual(live.state);
  }
});

test('J15: it waits until its seq is durable, also one of level `os`', async () => {
  const world = new World();
  const journal = await world.open();
  const { seq } = journal.append({ k: 'view' }, { level: 'os' });
  await journal.writeSnapshot(new Uint8Array(3), seq);
  expect(journal.durableSeq).toBeGreaterThanOrEqual(seq);
  await expect(journal.writeSnapshot(new Uint8Array(1), 99)).rejects.toThrow(/no record 99/);
});

test('J15: the newest two are kept, synced before their name is there', async () => {
  const world = new World();
  const fold = new Fold();
  const journal = await opened(world, fold);
  const trace: string[] = [];
  for (let round = 0; round < 4; round += 1) {
    await send(journal, fold, 2);
    world.files.before = ({ kind, path }) => {
      if (path.startsWith(SNAPSHOTS) && ['datasync', 'rename', 'syncDirectory'].includes(kind))
        trace.push(kind);
    };
    await journal.writeSnapshot(fold.bytes(), journal.nextSeq - 1);
  }
  expect(trace.slice(0, 3)).toEqual(['datasync', 'rename', 'syncDirectory']);
  expect(await names(world)).toHaveLength(2);
});

test('J15: a bad snapshot falls back to the older one, then to the start', async () => {
  const world = new World();
  const live = new Fold();
  const journal = await opened(world, live);
  for (const count of [20, 10]) {
    await send(journal, live, count);
    await journal.writeSnapshot(live.bytes(), journal.nextSeq - 1);
  }
  await send(journal, live, 4);
  await journal.close();
  const [older = '', newest = ''] = await names(world);

  const flip = async (name: string): Promise<void> => {
    const path = `${SNAPSHOTS}/${name}`;
    const bytes = await world.files.readFile(path);
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 1;
    await world.files.remove(path);
    const handle = await world.files.open(path, 'create');
    handle.write(bytes);
    await handle.close();
  };
  await flip(newest);
  const second = new Fold();
  let again = await opened(world, second);
  expect(again.report.snapshot.refused).toEqual([{ name: newest, reason: 'it is not whole' }]);
  expect(again.report.snapshot.seq).toBeGreaterThan(0);
  expect(second.state).toEqual(live.state);
  await again.close();
  await flip(older);
  const third = new Fold();
  again = await opened(world, third);
  expect(again.report.snapshot).toMatchObject({ seq: 0, refused: [{}, {}] });
  expect(third.state).toEqual(live.state);
  await again.close();
});

test('J15: a snapshot that does not fit the log is passed over: cut, replaced, of another journal, refused', async () => {
  const world = new World();
  const live = new Fold();
  const journal = await opened(world, live);
  await send(journal, live, 3);
  await journal.writeSnapshot(live.bytes(), journal.nextSeq - 1);
  await journal.close();

  const picky = new Fold();
  const refused = await world.open({
    onRecord: picky.apply,
    snapshots: { restore: () => false },
  });
  expect(refused.report.snapshot.refused[0]?.reason).toBe('its state was refused');
  expect(picky.state).toEqual(live.state);
  await refused.close();

  const lines = await world.lines();
  await world.put(`${lines.slice(0, 2).join('\n')}\n`);
  const cut = new Fold();
  const shorter = await opened(world, cut);
  expect(shorter.report.snapshot.refused[0]?.reason).toBe('its record is not where it says');
  expect(cut.state).toEqual({ k0: [2] });
  await shorter.close();

  const other = new World();
  await other.filled(4);
  await world.put(await other.bytes());
  const fresh = new Fold();
  const replaced = await opened(world, fresh);
  expect(replaced.report.snapshot.seq).toBe(0);
  await replaced.close();
});

test('J15: damage behind the snapshot is found as ever, with its line', async () => {
  const world = new World();
  const live = new Fold();
  const journal = await world.open({ snapshots: { restore: live.restore } });
  await send(journal, live, 3);
  await journal.writeSnapshot(live.bytes(), journal.nextSeq - 1);
  await send(journal, live, 3);
  await journal.close();
  const lines = await world.lines();
  lines[5] = (lines[5] ?? '').replace('"k1"', '"kX"');
  await world.put(`${lines.join('\n')}\n`);
  const fold = new Fold();
  const again = await world.open({ onRecord: fold.apply, snapshots: { restore: fold.restore } });
  expect(again.report.snapshot.seq).toBe(4);
  expect(again.report.gaps).toMatchObject([{ file: FIRST, line: 6, fromSeq: 6, toSeq: 6 }]);
  await again.append({ k: 'msg', key: 'k9' }).durable;
  expect(await world.files.list(DIRECTORY)).toContain(SECOND);
  await again.close();
});

test('J15: a disk that has no room for it leaves the journal going', async () => {
  const world = new World();
  const fold = new Fold();
  const journal = await opened(world, fold);
  await send(journal, fold, 1);
  world.files.fail({ kind: 'write', path: '.snap.tmp', code: 'ENOSPC' });
  await expect(journal.writeSnapshot(fold.bytes(), 2)).rejects.toMatchObject({
    code: 'journal/snapshot',
    retryable: true,
  });
  await send(journal, fold, 1);
  await journal.writeSnapshot(fold.bytes(), 3);
  expect(await names(world)).toEqual(['000000000000003.snap']);
});

test('J13, J15: at whatever operation the machine dies, state equals the fold of what is left', async () => {
  for (let at = 1; ; at += 1) {
    const world = new World();
    const acked = new Set<number>();
    const life = async (): Promise<void> => {
      const fold = new Fold();
      const journal = await opened(world, fold);
      for (let round = 0; round < 3; round += 1) {
        const { seq, durable } = journal.append({ k: 'msg', key: `k${round}` });
        fold.apply({ k: 'msg', key: `k${round}`, s: seq, d: 0 });
        const snapshot = journal.writeSnapshot(fold.bytes(), seq);
        snapshot.catch(() => undefined);
        await durable;
        acked.add(seq);
        await snapshot;
      }
      await journal.close();
    };
    let crashed = false;
    const died = new Promise<void>((resolve) => {
      world.files.before = ({ number }) => {
        if (number !== at) return;
        crashed = true;
        world.files.crash('none');
        resolve();
      };
    });
    await Promise.race([life(), died]);
    world.files.before = null;
    for (const mode of CRASH_MODES) {
      const left = new World(world.files.crash(mode));
      const fast = new Fold();
      await (await opened(left, fast)).close();
      const full = new Fold();
      await (await opened(left, full, false)).close();
      expect(fast.state, `${at}/${mode}`).toEqual(full.state);
      const found = Object.values(full.state).flat();
      for (const seq of acked) expect(found, `${at}/${mode}`).toContain(seq);
    }
    if (!crashed) return;
  }
});

test('J15: random histories with snapshots, tears and reopenings replay to the same state', async () => {
  for (let seed = 0; seed < 40; seed += 1) {
    const random = new SeededRandom(`snapshots/${seed}`);
    let world = new World();
    for (let life = 0; life < 4; life += 1) {
      const fold = new Fold();
      const journal = await opened(world, fold);
      for (let step = 0; step < 8; step += 1) {
        await send(journal, fold, random.below(5));
        if (random.next() < 0.3) await journal.writeSnapshot(fold.bytes(), journal.nextSeq - 1);
      }
      const full = new Fold();
      for (const record of await world.read()) full.apply(record);
      expect(fold.state, `seed ${seed}`).toEqual(full.state);
      world = new World(world.files.crash(random.pick(CRASH_MODES) ?? 'none'));
    }
  }
});
