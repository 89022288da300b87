/** Rot: any single bit of a closed journal flips. Nothing may vanish in silence, and nothing false may appear. */
import { expect, test } from 'vitest';
import {
  type Damage,
  openJournal,
  readJournal,
  type StoredRecord,
} from '../../../src/journal/index.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { DIRECTORY } from './explorer.ts';

const FLIPS = 3000;
const LIMITS = { reserveBytes: 0, segmentBytesMax: 1500 };
const seed = process.env['TROUPE_SEED'] ?? String(process.hrtime.bigint());

async function closedJournal(files: MemoryFiles): Promise<void> {
  const [clock, random] = [new VirtualClock(), new SeededRandom('rot')];
  const journal = await openJournal({
    files,
    clock,
    random,
    directory: DIRECTORY,
    name: 'sim',
    limits: LIMITS,
  });
  for (let index = 0; index < 30; index += 1) {
    journal.append({ k: 'msg', to: `actor-${index % 3}`, text: random.id(random.below(90)) });
    if (random.next() < 0.4) await journal.flush();
  }
  await journal.close();
}

interface Copy {
  readonly name: string;
  readonly bytes: Uint8Array;
}

async function copiesOf(files: MemoryFiles): Promise<Copy[]> {
  const names = await files.list(DIRECTORY);
  return await Promise.all(
    names.map(async (name) => ({ name, bytes: await files.readFile(`${DIRECTORY}/${name}`) })),
  );
}

async function diskOf(copies: readonly Copy[]): Promise<MemoryFiles> {
  const files = new MemoryFiles();
  await files.makeDirectory(DIRECTORY);
  for (const { name, bytes } of copies) {
    const handle = await files.open(`${DIRECTORY}/${name}`, 'create');
    handle.write(bytes);
    await handle.close();
  }
  return files;
}

async function readAll(files: MemoryFiles, gaps: Damage[]): Promise<StoredRecord[]> {
  const found: StoredRecord[] = [];
  const onGap = (gap: Damage): void => void gaps.push(gap);
  for await (const record of readJournal({ files, directory: DIRECTORY, onGap }))
    found.push(record);
  return found;
}

test(`J5: a flipped bit is found, named, and costs at most what stands on it (seed ${seed})`, async () => {
  const original = new MemoryFiles();
  await closedJournal(original);
  const copies = await copiesOf(original);
  const whole = await readAll(original, []);
  const random = new SeededRandom(seed);
  let lostMost = 0;
  for (let flip = 0; flip < FLIPS; flip += 1) {
    const copy = random.pick(copies);
    if (copy === undefined) throw new Error('no segments');
    const bytes = copy.bytes.slice();
    const at = random.below(bytes.length);
    const bit = random.below(8);
    bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
    const flipped = copies.map((other) => (other === copy ? { ...copy, bytes } : other));
    const label = `TROUPE_SEED=${seed}: ${copy.name} byte ${at} bit ${bit}`;
    const gaps: Damage[] = [];
    const found = await readAll(await diskOf(flipped), gaps);
    const lost = new Set(whole.map((record) => record.s));
    for (const record of found) {
      expect(record, label).toEqual(whole[record.s - 1]);
      lost.delete(record.s);
    }
    // The very last record is the seal: it covers all before it, and nothing covers it.
    lost.delete(whole.length);
    const named = gaps.flatMap(({ fromSeq, toSeq }) =>
      Array.from({ length: toSeq - fromSeq + 1 }, (_, i) => fromSeq + i),
    );
    expect(
      [...lost].toSorted((a, b) => a - b),
      label,
    ).toEqual(named);
    lostMost = Math.max(lostMost, lost.size);
  }
  expect(lostMost).toBeLessThanOrEqual(3);
});
