import { expect, test } from 'vitest';
import { type SealReport, sealJournal } from '../../../src/journal/index.ts';
import { CRASH_MODES } from '../../../src/testing/memory-disk.ts';
import type { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { DIRECTORY, FIRST, putFile, World } from './support.ts';

const LIMITS = { segmentBytesMax: 400 };

async function ended(): Promise<World> {
  const world = new World();
  const journal = await world.open({ limits: LIMITS });
  for (let n = 1; n <= 12; n += 1) await journal.append({ k: 'msg', to: 'ada', n }).durable;
  await journal.close();
  return world;
}

const seal = (files: MemoryFiles): Promise<SealReport> =>
  sealJournal({ files, directory: DIRECTORY });

const segments = async (world: World): Promise<string[]> =>
  (await world.files.list(DIRECTORY)).filter((name) => name.includes('.jsonl'));

async function flip(world: World, file: string, at: number): Promise<void> {
  const bytes = await world.bytes(file);
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] ?? 0) ^ 0x10;
  await world.put(bytes, file);
}

test('J17: an ended journal is packed whole, and read, verified and recovered as before', async () => {
  const world = await ended();
  const before = await world.read();
  const report = await seal(world.files);
  expect(report.packed).toBe((await segments(world)).length);
  expect(report.bytesAfter).toBeLessThan(report.bytesBefore);
  expect((await segments(world)).every((name) => name.endsWith('.jsonl.gz'))).toBe(true);
  expect(await world.read()).toEqual(before);
  expect(await world.read({ from: 9 })).toEqual(before.slice(8));
  expect(await world.verify()).toMatchObject({ ok: true, problems: [], lastSeq: before.length });
  expect(await seal(world.files)).toEqual({ packed: 0, bytesBefore: 0, bytesAfter: 0 });
});

test('J17: a packed journal that is written again goes on in a new plain segment', async () => {
  const world = await ended();
  await seal(world.files);
  const { journal, seqs } = await world.recovered();
  const { seq, durable } = journal.append({ k: 'msg', to: 'ada', n: 99 });
  await durable;
  expect(seq).toBe(seqs.length + 2);
  await journal.close();
  expect(await world.verify()).toMatchObject({ ok: true, problems: [] });
  expect((await world.read()).at(-2)).toMatchObject({ n: 99 });
});

test('J17: gzip itself can read it', async () => {
  const { gunzipSync } = await import('node:zlib');
  const world = await ended();
  const plain = await world.bytes(FIRST);
  await seal(world.files);
  expect(new Uint8Array(gunzipSync(await world.bytes(`${FIRST}.gz`)))).toEqual(plain);
});

test('J17: at whatever operation the machine dies every record is there, and packing can be run again', async () => {
  const all = (await (await ended()).read()).length;
  for (let at = 1; ; at += 1) {
    const world = await ended();
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
    await Promise.race([seal(world.files), died]);
    world.files.before = null;
    for (const mode of CRASH_MODES) {
      const left = new World(world.files.crash(mode));
      expect(await left.read(), `${at}/${mode}`).toHaveLength(all);
      expect((await left.verify()).problems, `${at}/${mode}`).toEqual([]);
      await seal(left.files);
      const { journal, seqs } = await left.recovered();
      expect(seqs, `${at}/${mode}`).toHaveLength(all);
      expect(journal.report.gaps).toEqual([]);
      await journal.close();
    }
    if (!crashed) return;
  }
});

test('J17: what does not read back equal is not taken for packed', async () => {
  const world = await ended();
  world.files.before = ({ kind, path }) => {
    if (kind === 'read' && path.endsWith('.gz.tmp'))
      throw Object.assign(new Error('EIO'), { code: 'EIO' });
  };
  await expect(seal(world.files)).rejects.toMatchObject({ code: 'journal/failed', exit: 75 });
  world.files.before = null;
  expect((await segments(world)).some((name) => name.endsWith('.gz'))).toBe(false);
  expect((await world.verify()).problems).toEqual([]);
});

test('J17: a full disk leaves the plain segments', async () => {
  const world = await ended();
  world.files.spaceLeft = 20;
  await expect(seal(world.files)).rejects.toMatchObject({ code: 'journal/full' });
  expect((await segments(world)).every((name) => name.endsWith('.jsonl'))).toBe(true);
});

test('J5: a damaged journal is not packed, since the evidence would go', async () => {
  const world = await ended();
  await flip(world, FIRST, 150);
  await expect(seal(world.files)).rejects.toMatchObject({ code: 'journal/damaged' });
  expect((await segments(world)).every((name) => name.endsWith('.jsonl'))).toBe(true);
});

test('J5: rot in a packed segment is named, first or last, and costs only what is behind it there', async () => {
  for (const which of [0, -1]) {
    const world = await ended();
    const all = await world.read();
    await seal(world.files);
    const file = (await segments(world)).at(which) ?? '';
    await flip(world, file, -40);
    const report = await world.verify();
    expect(report.ok, file).toBe(false);
    expect(report.problems.map(({ kind }) => kind)).toContain('gap');
    expect(report.problems.every((problem) => problem.file === file)).toBe(true);
    const gaps: number[] = [];
    const found = await world.read({ onGap: (gap) => gaps.push(gap.fromSeq) });
    expect(found.length, file).toBeLessThan(all.length);
    expect(gaps, file).toHaveLength(1);
    const { journal } = await world.recovered();
    expect(journal.report.torn).toBeNull();
    expect(journal.report.gaps, file).toHaveLength(1);
    expect(await segments(world)).toContain(file);
    await journal.close();
  }
});

test('J16: where a plain and a packed file of one segment are there, the plain one counts until it goes', async () => {
  const world = await ended();
  const all = await world.read();
  await putFile(world.files, `${DIRECTORY}/${FIRST}.gz`, 'half of something');
  expect(await world.read()).toEqual(all);
  const { journal } = await world.recovered();
  await journal.close();
  expect(await segments(world)).not.toContain(`${FIRST}.gz`);
});
