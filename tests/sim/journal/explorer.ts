/**
 * Explores what a crash can do to a journal: the production code runs on `MemoryFiles`; before each operation the disks
 * that a crash could leave there are set aside. On each of them the next start recovers, and checkers say whether a
 * promise was broken. Some of those starts, with the work after them, are taken through the same: a second crash.
 *
 * Checkers bear the numbers of the contract (mailbox.md §3.2): C1 acknowledged is durable, C2 what was not acknowledged
 * is whole or absent, C5 order, C8 a full disk. C3, C4, C6 and C7 are those of `mail-explorer.ts`.
 */

import {
  type CompactOptions,
  type Journal,
  type JournalLimits,
  openJournal,
  type StoredRecord,
  verifyJournal,
} from '../../../src/journal/index.ts';
import { type Files, isTroupeError, type Random } from '../../../src/kernel/index.ts';
import type { CrashMode } from '../../../src/testing/memory-disk.ts';
import { CRASH_MODES } from '../../../src/testing/memory-disk.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';

export const DIRECTORY = '/run/journal';

const LIMITS: Partial<JournalLimits> = {
  segmentBytesMax: 3000,
  reserveBytes: 600,
  fullRetryMs: 5,
  batchRecordsMax: 4,
  windowBytes: 2048,
};

/** What may stand between the journal and the disk: the identity, or a fault that must be caught. */
export type Mutate = (files: Files) => Files;

/** All that was ever promised, over every start of one history. */
interface Ledger {
  /** Acknowledged: seq → payload. */
  readonly acked: Map<number, string>;
  /** Every payload that was ever handed in. */
  readonly sent: Set<string>;
}

function makeLedger(): Ledger {
  return { acked: new Map(), sent: new Set() };
}

function copyLedger(ledger: Ledger): Ledger {
  return { acked: new Map(ledger.acked), sent: new Set(ledger.sent) };
}

interface World {
  readonly files: Files;
  readonly clock: VirtualClock;
  readonly random: Random;
}

function worldOn(disk: MemoryFiles, seed: string, mutate: Mutate): World {
  return { files: mutate(disk), clock: new VirtualClock(), random: new SeededRandom(seed) };
}

/** What the journal is opened with besides; drawn from the seed of the history. */
type Shape = 'plain' | 'snapshots' | 'compact';

function shapeOf(seed: string): Shape {
  const history = seed.split('/')[0] ?? seed;
  return new SeededRandom(`${history}/shape`).pick(['plain', 'snapshots', 'compact']) ?? 'plain';
}

/** Only ticks are worth nothing. */
const COMPACT: CompactOptions = {
  slackBytes: 300,
  worthOf: ({ k }) => ({ kind: k === 'tick' ? 'drop' : 'keep' }),
};

/** A start: its journal, and what it took for the content of the log. */
interface Opened {
  readonly journal: Journal;
  /** Payloads by seq, of a snapshot and of the records behind it. */
  readonly texts: Map<number, string>;
  readonly records: readonly StoredRecord[];
  /** Seq of the snapshot that it began with. */
  readonly from: number;
}

async function open(world: World, shape: Shape): Promise<Opened> {
  const texts = new Map<number, string>();
  const records: StoredRecord[] = [];
  let from = 0;
  const restore = (state: Uint8Array, seq: number): boolean => {
    from = seq;
    const entries = JSON.parse(new TextDecoder().decode(state)) as [number, string][];
    for (const [s, text] of entries) texts.set(s, text);
    return true;
  };
  const journal = await openJournal({
    ...world,
    directory: DIRECTORY,
    name: 'sim',
    limits: LIMITS,
    onRecord: (record) => {
      records.push(record);
      if (record.k === 'msg') texts.set(record.s, String(record['text']));
    },
    ...(shape === 'compact' ? { compact: COMPACT } : {}),
    ...(shape === 'snapshots' ? { snapshots: { restore } } : {}),
  });
  return { journal, texts, records, from };
}

/** A start, some senders in and out of step, and an end; the disk may die anywhere in it, or be full for a while. */
async function work(
  disk: MemoryFiles,
  seed: string,
  mutate: Mutate,
  ledger: Ledger,
): Promise<void> {
  const world = worldOn(disk, seed, mutate);
  const random = new SeededRandom(`${seed}/work`);
  const shape = shapeOf(seed);
  const { journal, texts } = await open(world, shape);
  if (random.next() < 0.4) disk.spaceLeft = 300 + random.below(3000);
  if (random.next() < 0.3) disk.writeBytesMax = 1 + random.below(900);
  const send = async (reserved: boolean): Promise<void> => {
    const text = `${random.id(6)}-${'x'.repeat(random.below(700))}`;
    ledger.sent.add(text);
    const { seq, durable } = journal.append({ k: 'msg', to: 'ada', text }, { reserved });
    texts.set(seq, text);
    try {
      await durable;
    } catch (error) {
      // Another record may have its seq by now.
      if (texts.get(seq) === text) texts.delete(seq);
      throw error;
    }
    ledger.acked.set(seq, text);
    if (shape === 'snapshots' && random.next() < 0.3) {
      // Written is not synced: a snapshot of it has to wait for more than that.
      await journal.append({ k: 'tick' }, { level: 'os' }).durable;
      void snapshot(journal, texts);
    }
    if (shape === 'compact') journal.append({ k: 'tick', text: 'x'.repeat(random.below(900)) });
  };
  const sender = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) await unlessFull(send(random.next() < 0.1));
  };
  await Promise.all([sender(4), sender(3), sender(1)]);
  if (random.next() < 0.5) await world.clock.advance(25);
  await sender(1);
  disk.spaceLeft = null;
  await world.clock.advance(5);
  await sender(2);
  await journal.close();
}

/** Of all that is known now, also of what is still on its way to the disk. */
async function snapshot(journal: Journal, texts: ReadonlyMap<number, string>): Promise<void> {
  const state = new TextEncoder().encode(JSON.stringify([...texts]));
  try {
    await journal.writeSnapshot(state, journal.nextSeq - 1);
  } catch (error) {
    if (!isTroupeError(error) || error.code !== 'journal/snapshot') throw error;
  }
}

/** A full disk refuses; whatever else goes wrong is for the checkers. */
async function unlessFull(sent: Promise<void>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!isTroupeError(error) || error.code !== 'journal/full') throw error;
  }
}

/** Recovers, holds what comes back against the ledger, and goes on: appends, reopens. Null: no promise was broken. */
async function check(
  disk: MemoryFiles,
  seed: string,
  mutate: Mutate,
  ledger: Ledger,
): Promise<string | null> {
  const world = worldOn(disk, seed, mutate);
  const shape = shapeOf(seed);
  const first = await open(world, shape);
  const broken = judge(first, ledger, shape) ?? (await judgeFiles(disk));
  if (broken !== null) return broken;
  await first.journal.close({ seal: false });
  const second = await open(world, shape);
  await second.journal.close({ seal: false });
  const changed = JSON.stringify([...first.texts]) !== JSON.stringify([...second.texts]);
  return changed ? 'J13: recovery is not idempotent' : null;
}

function judge(opened: Opened, ledger: Ledger, shape: Shape): string | null {
  const { journal, records, texts, from } = opened;
  const { gaps } = journal.report;
  if (gaps.length > 0) return `C1: gap: ${JSON.stringify(gaps)}`;
  let last = from;
  for (const { s, d, k } of records) {
    // What is carried forward keeps its seq, behind the head of a new file.
    if (shape === 'compact' && (k === 'seg' || k === 'seal')) continue;
    if (shape === 'compact' ? s <= last : s !== last + 1) return `C5: seq ${s} after ${last}`;
    if (d >= s && shape !== 'compact') return `C1: record ${s} calls ${d} durable`;
    last = s;
  }
  for (const [seq, text] of texts) {
    if (!ledger.sent.has(text)) return `C2: record ${seq} was never sent`;
  }
  for (const [seq, text] of ledger.acked) {
    if (!texts.has(seq)) return `C1: acknowledged record ${seq} is lost`;
    if (texts.get(seq) !== text) return `C1: acknowledged record ${seq} is another one`;
  }
  return journal.nextSeq <= last ? 'C5: the next seq was given out before' : null;
}

async function judgeFiles(disk: MemoryFiles): Promise<string | null> {
  const { problems } = await verifyJournal({ files: disk, directory: DIRECTORY, limits: LIMITS });
  const problem = problems[0];
  return problem === undefined ? null : `after recovery: ${problem.kind}, ${problem.detail}`;
}

export async function newDisk(seed: string): Promise<MemoryFiles> {
  const disk = new MemoryFiles({ random: new SeededRandom(`${seed}/disk`) });
  await disk.makeDirectory('/run');
  await disk.syncDirectory('/');
  return disk;
}

export interface Exploration {
  states: number;
  violation: string | null;
}

/** A disk as a crash before one operation leaves it, and what was promised until then. */
interface Moment {
  readonly disk: MemoryFiles;
  readonly ledger: Ledger;
  readonly path: string;
}

/**
 * One history with a crash before each of its operations and at its end, and a second one in the recovery and the work
 * after some of them. Ends at the first violation.
 */
export async function explore(
  seed: string,
  mutate: Mutate,
  statesMax: number,
): Promise<Exploration> {
  const exploration: Exploration = { states: 0, violation: null };
  const random = new SeededRandom(`${seed}/second`);
  const life = { seed, mutate, path: '', modesOf: () => CRASH_MODES };
  for (const moment of await live(await newDisk(seed), makeLedger(), life, exploration)) {
    if (!goesOn(exploration, statesMax)) break;
    // Taken before the check, which works on the disk as well.
    const again = moment.disk.fork('kill');
    await checkMoment(moment, life, exploration);
    if (random.next() >= SECOND_SHARE || !goesOn(exploration, statesMax)) continue;
    const modesOf = (number: number): readonly CrashMode[] =>
      number <= RECOVERY_OPERATIONS || random.next() < 0.1
        ? CRASH_MODES.filter(() => random.next() < 0.4)
        : [];
    const second = { seed: `${seed}/second`, mutate, path: `${moment.path}, then `, modesOf };
    for (const later of await live(again, copyLedger(moment.ledger), second, exploration)) {
      if (!goesOn(exploration, statesMax)) break;
      await checkMoment(later, second, exploration);
    }
  }
  return exploration;
}

const SECOND_SHARE = 0.1;
const RECOVERY_OPERATIONS = 24;

function goesOn(exploration: Exploration, statesMax: number): boolean {
  return exploration.violation === null && exploration.states < statesMax;
}

interface Life {
  readonly seed: string;
  readonly mutate: Mutate;
  readonly path: string;
  /** How a crash before the operation of this number may go. */
  readonly modesOf: (number: number) => readonly CrashMode[];
}

/** Runs a history and sets aside every disk that a crash could leave of it. */
async function live(
  disk: MemoryFiles,
  ledger: Ledger,
  life: Life,
  exploration: Exploration,
): Promise<Moment[]> {
  const moments: Moment[] = [];
  const start = disk.operations;
  const setAside = (number: number): void => {
    for (const mode of life.modesOf(number)) {
      const path = `${life.path}${number}/${mode}`;
      moments.push({ disk: disk.fork(mode), ledger: copyLedger(ledger), path });
    }
  };
  disk.before = (operation) => setAside(operation.number - start);
  try {
    await work(disk, life.seed, life.mutate, ledger);
    setAside(disk.operations - start + 1);
  } catch (error) {
    exploration.violation ??= `${life.path}while it worked: ${described(error)}`;
  }
  disk.before = null;
  return moments;
}

async function checkMoment(moment: Moment, life: Life, exploration: Exploration): Promise<void> {
  const { disk, ledger, path } = moment;
  exploration.states += 1;
  let found: string | null;
  try {
    found = await check(disk, life.seed, life.mutate, ledger);
  } catch (error) {
    // A start that fails breaks a promise as well.
    found = `recovery failed: ${described(error)}`;
  }
  if (found !== null) exploration.violation ??= `crash ${path}: ${found}`;
}

function described(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}
