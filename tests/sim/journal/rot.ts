/**
 * Rot of a closed journal: bits flip, runs turn to nulls, files are cut, lines are glued, doubled, swapped, taken out or
 * exchanged for those of another history. Nothing may vanish in silence, and nothing false may appear.
 */
import {
  type Damage,
  openJournal,
  readJournal,
  type StoredRecord,
  verifyJournal,
} from '../../../src/journal/index.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { DIRECTORY, type Exploration } from './explorer.ts';

const LIMITS = { reserveBytes: 0, segmentBytesMax: 1500 };
const LF = 10;
/** `,"c":"xxxxxxxx"}` and the line feed. */
const CRC_BYTES = 17;

interface Copy {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Two of the same shape differ in their texts alone. */
export async function closedJournal(salt: string): Promise<Copy[]> {
  const files = new MemoryFiles();
  const clock = new VirtualClock();
  const shape = new SeededRandom('rot');
  const texts = new SeededRandom(salt);
  const random = new SeededRandom(`id ${salt}`);
  const options = { files, clock, random, directory: DIRECTORY, name: 'sim', limits: LIMITS };
  const journal = await openJournal(options);
  for (let index = 0; index < 30; index += 1) {
    const text = texts.id(shape.below(90));
    journal.append({ k: 'msg', to: `actor-${index % 3}`, text });
    if (shape.next() < 0.4) await journal.flush();
  }
  await journal.close();
  const names = (await files.list(DIRECTORY)).filter((name) => name.endsWith('.jsonl'));
  return await Promise.all(
    names.map(async (name) => ({ name, bytes: await files.readFile(`${DIRECTORY}/${name}`) })),
  );
}

export async function diskOf(copies: readonly Copy[]): Promise<MemoryFiles> {
  const files = new MemoryFiles();
  await files.makeDirectory(DIRECTORY);
  for (const { name, bytes } of copies) {
    const handle = await files.open(`${DIRECTORY}/${name}`, 'create');
    if (bytes.length > 0) handle.write(bytes);
    await handle.datasync();
    await handle.close();
  }
  await files.syncDirectory(DIRECTORY);
  return files;
}

async function readAll(files: MemoryFiles, gaps: Damage[]): Promise<StoredRecord[]> {
  const found: StoredRecord[] = [];
  const onGap = (gap: Damage): void => void gaps.push(gap);
  const reading = readJournal({ files, directory: DIRECTORY, onGap });
  for await (const record of reading) found.push(record);
  return found;
}

/** How a journal rots; `other` is a journal of the same shape and another history. */
type Rot = (at: {
  readonly bytes: Uint8Array;
  readonly other: Uint8Array;
  readonly random: SeededRandom;
}) => Uint8Array;

const ROTS: Readonly<Record<string, Rot>> = {
  'a flipped bit': ({ bytes, random }) => {
    const rotten = bytes.slice();
    const at = random.below(rotten.length);
    rotten[at] = (rotten[at] ?? 0) ^ (1 << random.below(8));
    return rotten;
  },
  'a run of nulls': ({ bytes, random }) => {
    const rotten = bytes.slice();
    const at = random.below(rotten.length);
    return rotten.fill(0, at, at + 1 + random.below(600));
  },
  'a cut file': ({ bytes, random }) => bytes.slice(0, random.below(bytes.length)),
  'glued records': ({ bytes, random }) => {
    const at = random.pick(lineEnds(bytes)) ?? 0;
    return joined([bytes.slice(0, at), bytes.slice(at + 1)]);
  },
  'a record doubled': ({ bytes, random }) => {
    const lines = linesOf(bytes);
    const at = random.below(lines.length);
    return joined(lines.flatMap((line, index) => (index === at ? [line, line] : [line])));
  },
  'a record taken out': ({ bytes, random }) => {
    const lines = linesOf(bytes);
    return joined(lines.toSpliced(random.below(lines.length), 1));
  },
  'two records swapped': ({ bytes, random }) => {
    const lines = linesOf(bytes);
    const at = random.below(Math.max(1, lines.length - 1));
    const pair = lines.slice(at, at + 2).toReversed();
    return joined(lines.toSpliced(at, 2, ...pair));
  },
  'a record of another history': ({ bytes, other, random }) => {
    const lines = linesOf(bytes);
    const others = linesOf(other);
    // Not the head: it names its log.
    const at = 1 + random.below(Math.max(1, Math.min(lines.length, others.length) - 1));
    return joined(lines.toSpliced(at, 1, others[at] ?? new Uint8Array(0)));
  },
  'a stub before a record': ({ bytes, random }) => {
    const lines = linesOf(bytes);
    const at = random.below(lines.length);
    const stub = (lines[at] ?? bytes).slice(0, 1 + random.below(40));
    return joined(lines.toSpliced(at, 0, stub));
  },
};

function lineEnds(bytes: Uint8Array): number[] {
  return [...bytes.entries()].flatMap(([index, byte]) => (byte === LF ? [index] : []));
}

function linesOf(bytes: Uint8Array): Uint8Array[] {
  let start = 0;
  return lineEnds(bytes).map((end) => {
    const line = bytes.slice(start, end + 1);
    start = end + 1;
    return line;
  });
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export async function exploreRot(seed: string, statesMax: number): Promise<Exploration> {
  const copies = await closedJournal('this');
  const others = await closedJournal('that');
  const whole = await readAll(await diskOf(copies), []);
  const random = new SeededRandom(seed);
  for (let states = 0; states < statesMax; states += 1) {
    const name = random.pick(Object.keys(ROTS)) ?? '';
    const index = random.below(copies.length);
    const copy = copies[index];
    const rot = ROTS[name];
    if (copy === undefined || rot === undefined) throw new Error('no segments');
    const other = others[index]?.bytes ?? copy.bytes;
    const bytes = rot({ bytes: copy.bytes, other, random });
    const disk = await diskOf(copies.toSpliced(index, 1, { ...copy, bytes }));
    // The seal at the end covers all before it, when the crc that it is chained to is there as well; what lies behind the
    // last record that is left is covered by nothing.
    const last = linesOf(copies.at(-1)?.bytes ?? bytes);
    const seal = joined([last.at(-2)?.slice(-CRC_BYTES) ?? bytes, last.at(-1) ?? bytes]);
    const sealed = index < copies.length - 1 || endsWith(bytes, seal);
    const found = await judge(disk, whole, sealed);
    if (found !== null) {
      return { states, violation: `${name} in ${copy.name}, rot ${states}: ${found}` };
    }
  }
  return { states: statesMax, violation: null };
}

async function judge(
  disk: MemoryFiles,
  whole: readonly StoredRecord[],
  sealed: boolean,
): Promise<string | null> {
  const gaps: Damage[] = [];
  const found = await readAll(disk, gaps);
  const lost = new Set(whole.map(({ s }) => s));
  for (const record of found) {
    if (JSON.stringify(record) !== JSON.stringify(whole[record.s - 1])) {
      return `J4: record ${record.s} is another one`;
    }
    if (!lost.delete(record.s)) return `J4: record ${record.s} is given twice`;
  }
  const named = new Set(gaps.flatMap(({ fromSeq, toSeq }) => range(fromSeq, toSeq)));
  const { problems } = await verifyJournal({ files: disk, directory: DIRECTORY });
  const told = new Set(
    problems.flatMap(({ kind, detail }) => {
      const [from = 0, to = from] = [...detail.matchAll(/\d+/g)].map(Number);
      return kind === 'gap' ? range(from, detail.startsWith('Records') ? to : from) : [];
    }),
  );
  const torn = problems.some(({ kind }) => kind === 'torn-tail');
  const watermark = sealed ? whole.length - 1 : Math.max(0, ...found.map(({ d }) => d));
  const last = found.at(-1)?.s ?? 0;
  for (const s of lost) {
    if (s > watermark && (torn || s > last)) continue;
    if (!named.has(s)) return `J5: record ${s} is gone and no gap names it`;
    if (!told.has(s)) return `J5: record ${s} is gone and the doctor does not say so`;
  }
  for (const s of named) if (!lost.has(s)) return `J5: record ${s} is there and called lost`;
  if (problems.some(({ file, line }) => file === '' || line < 1))
    return 'J5: a problem has no place';
  return await judgeRecovery(disk, found);
}

/** A start finds what a reader found, and goes on behind it without harm to the rest. */
async function judgeRecovery(
  disk: MemoryFiles,
  found: readonly StoredRecord[],
): Promise<string | null> {
  const seen: number[] = [];
  const journal = await openJournal({
    files: disk,
    clock: new VirtualClock(),
    random: new SeededRandom('again'),
    directory: DIRECTORY,
    name: 'sim',
    limits: LIMITS,
    onRecord: ({ s }) => void seen.push(s),
  });
  const { seq, durable } = journal.append({ k: 'msg', to: 'ada', text: 'behind it' });
  await durable;
  await journal.close();
  const before = found.map(({ s }) => s);
  if (before.some((s) => !seen.includes(s))) return 'J5: recovery gives less than a reader';
  const after = (await readAll(disk, [])).map(({ s }) => s);
  if (before.some((s) => !after.includes(s))) return 'J5: recovery took records away';
  return after.includes(seq) ? null : 'C1: a record behind the damage is lost';
}

function endsWith(bytes: Uint8Array, end: Uint8Array): boolean {
  const from = bytes.length - end.length;
  return from >= 0 && end.every((byte, index) => byte === bytes[from + index]);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}
