import { expect, test } from 'vitest';
import { crc32, crcText } from '../../../src/journal/crc32.ts';
import { followJournal, type StoredRecord } from '../../../src/journal/index.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { DIRECTORY, FIRST, putFile, SECOND, World } from './support.ts';

/** Every file below, with its content. */
async function picture(world: World, path = '/runs'): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of await world.files.list(path)) {
    const child = `${path}/${name}`;
    const stat = await world.files.stat(child);
    if (stat?.kind === 'directory') Object.assign(found, await picture(world, child));
    else found[child] = Buffer.from(await world.files.readFile(child)).toString('base64');
  }
  return found;
}

test.each(['EACCES', 'EPERM', 'EROFS'])(
  'a folder that can not be written (%s) is told as such, and nothing is changed',
  async (code) => {
    const world = new World();
    await world.filled(3);
    const before = await picture(world);
    const readOnly = new World(world.files.crash('all'));
    readOnly.files.before = ({ kind }) => {
      if (['write', 'truncate', 'rename', 'remove', 'link', 'makeDirectory'].includes(kind)) {
        throw Object.assign(new Error(`${code}: ${kind}`), { code });
      }
    };
    const open = readOnly.files.open.bind(readOnly.files);
    readOnly.files.open = async (path, mode) => {
      if (mode !== 'read') throw Object.assign(new Error(`${code}: open '${path}'`), { code });
      return await open(path, mode);
    };
    await expect(readOnly.open()).rejects.toMatchObject({
      code: 'journal/failed',
      exit: 75,
      hint: expect.stringContaining('read-only'),
    });
    readOnly.files.before = null;
    expect(await picture(readOnly)).toEqual(before);
    expect(await readOnly.read()).toHaveLength(5);
    expect((await readOnly.verify()).ok).toBe(true);
  },
);

test('J9: a folder that vanishes under the writer ends it, instead of acknowledging into nothing', async () => {
  const world = new World();
  const journal = await world.open();
  await journal.append({ k: 'msg' }).durable;
  await world.files.remove('/runs/r1');
  await world.clock.advance(200);
  await expect(journal.append({ k: 'msg' }).durable).rejects.toMatchObject({
    code: 'journal/failed',
    exit: 75,
    message: expect.stringContaining('removed'),
  });
  await expect(journal.failed).resolves.toMatchObject({ code: 'journal/failed' });
  await journal.close();
});

test('J9: a segment that somebody else cut or wrote to ends the writer too', async () => {
  for (const change of ['cut', 'added'] as const) {
    const world = new World();
    const journal = await world.open();
    await journal.append({ k: 'msg' }).durable;
    await world.clock.advance(200);
    const handle = await world.files.open(`${DIRECTORY}/${FIRST}`, 'append');
    if (change === 'cut') await handle.truncate(20);
    else handle.write(new TextEncoder().encode('{"hello":1}\n'));
    await expect(journal.append({ k: 'msg' }).durable).rejects.toThrow(/changed by somebody/);
  }
});

test('a follower of a folder that vanishes waits, and goes on when it is back', async () => {
  const world = new World();
  await world.filled(2);
  const { files, clock } = world;
  const stop = new AbortController();
  const seen: number[] = [];
  const limits = { followSweepMs: 10 };
  const following = (async () => {
    const records = followJournal({
      files,
      clock,
      directory: DIRECTORY,
      signal: stop.signal,
      limits,
    });
    for await (const record of records) seen.push(record.s);
  })();
  await clock.advance(20);
  const bytes = await world.bytes();
  await files.remove('/runs/r1');
  await clock.advance(50);
  expect(seen).toEqual([1, 2, 3, 4]);
  await files.makeDirectory(DIRECTORY);
  await putFile(files, `${DIRECTORY}/${FIRST}`, bytes);
  const journal = await world.open();
  const { durable } = journal.append({ k: 'msg', late: true });
  await durable;
  await clock.advance(50);
  stop.abort();
  await following;
  expect(new Set(seen).size).toBe(seen.length);
  await journal.close();
});

/** A first line whose crc fits its bytes. */
function rechained(line: string): string {
  const content = line.slice(0, line.lastIndexOf(',"c":"'));
  const bytes = new TextEncoder().encode(content);
  return `${content},"c":"${crcText(crc32(bytes, 0, bytes.length, 0))}"}\n`;
}

test('a newer version and a journal of another run are refused also where a snapshot spares the replay', async () => {
  const world = new World();
  const journal = await world.open({ limits: { segmentBytesMax: 300 } });
  for (let n = 0; n < 8; n += 1) await journal.append({ k: 'msg', to: 'ada', n }).durable;
  await journal.writeSnapshot(new Uint8Array(1), journal.nextSeq - 1);
  await journal.close();
  const snapshots = { restore: () => true };
  const good = await world.bytes();

  const other = new World();
  await (await other.open({ name: 'r2' })).close();
  await world.put(await other.bytes());
  const before = await picture(world);
  await expect(world.open({ snapshots })).rejects.toMatchObject({ code: 'journal/foreign' });
  expect(await picture(world)).toEqual(before);

  const newer = new TextDecoder().decode(good).replace('"v":1', '"v":9');
  const head = newer.slice(0, newer.lastIndexOf('\n', newer.indexOf('\n')));
  await world.put(rechained(head));
  await expect(world.open({ snapshots })).rejects.toMatchObject({ code: 'journal/newer-version' });

  await world.put(good);
  const again = await world.open({ snapshots });
  expect(again.report.snapshot.seq).toBeGreaterThan(0);
  await again.close();
});

test('a copied-in segment of another run is named by the doctor with its file', async () => {
  const world = new World();
  await world.filled(2);
  const other = new World();
  const foreign = await other.open({ name: 'r2' });
  await foreign.close();
  await putFile(world.files, `${DIRECTORY}/${SECOND}`, await other.bytes());
  const report = await world.verify();
  expect(report.ok).toBe(false);
  expect(report.problems[0]).toMatchObject({ kind: 'foreign-log', file: SECOND, line: 1 });
  await expect(world.open()).rejects.toMatchObject({ code: 'journal/foreign', exit: 2 });
});

test('a clock that jumps back changes nothing: seqs, seals, segments and torn tails go on', async () => {
  const world = new World();
  await world.filled(3);
  const first = await world.text();
  await world.put(`${first}{"s":6,"d":5,"k":"ms`);
  const past = (): World & { clock: VirtualClock } =>
    Object.assign(new World(world.files), { clock: new VirtualClock(1_000_000) });
  const { journal, seqs } = await past().recovered({ limits: { segmentBytesMax: 10 } });
  expect(seqs).toEqual([1, 2, 3, 4, 5]);
  await journal.append({ k: 'msg', at: 'long ago' }).durable;
  await journal.close();
  const tears = async (): Promise<string[]> =>
    (await world.files.list(DIRECTORY)).filter((name) => name.startsWith('torn-'));
  expect(await tears()).toEqual(['torn-6-19700101T001640000Z']);
  const all: StoredRecord[] = await world.read();
  expect(all.map(({ s }) => s)).toEqual(all.map((_, index) => index + 1));
  expect((await world.verify()).problems).toEqual([]);
});
