/**
 * Explores what a crash can do to a journal: the production code runs on `MemoryFiles`; before each operation the disks
 * that a crash could leave there are set aside. On each of them the next start recovers, and checkers say whether a
 * promise was broken. Some of those starts, with the work after them, are taken through the same: a second crash.
 *
 * Checkers bear the numbers of the contract (mailbox.md §3.2): C1 acknowledged is durable, C2 what was not acknowledged
 * is whole or absent, C5 order, C8 a full disk. C3, C4, C6 and C7 are those of `mail-explorer.ts`.
 */

import {
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

async function open(world: World, seen?: StoredRecord[]): Promise<Journal> {
  const onRecord = (record: StoredRecord): void => void seen?.push(record);
  return await openJournal({
    ...world,
    directory: DIRECTORY,
    name: 'sim',
    limits: LIMITS,
    onRecord,
  });
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
  const journal = await open(world);
  if (random.next() < 0.4) disk.spaceLeft = 300 + random.below(3000);
  if (random.next() < 0.3) disk.writeBytesMax = 1 + random.below(900);
  const send = async (reserved: boolean): Promise<void> => {
    const text = `${random.id(6)}-${'x'.repeat(random.below(700))}`;
    ledger.sent.add(text);
    const { seq, durable } = journal.append({ k: 'msg', to: 'ada', text }, { reserved });
    await durable;
    ledger.acked.set(seq, text);
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
  const first: StoredRecord[] = [];
  let journal = await open(world, first);
  const broken = judge(first, journal, ledger) ?? (await judgeFiles(disk));
  if (broken !== null) return broken;
  const second: StoredRecord[] = [];
  await journal.close({ seal: false });
  journal = await open(world, second);
  const changed = differs(first, second);
  await journal.close({ seal: false });
  return changed ? 'J13: recovery is not idempotent' : null;
}

function judge(found: readonly StoredRecord[], journal: Journal, ledger: Ledger): string | null {
  const { report } = journal;
  if (report.gaps.length > 0) return `C1: gap: ${JSON.stringify(report.gaps)}`;
  for (const [index, record] of found.entries()) {
    if (record.s !== index + 1) return `C5: seq ${record.s} at position ${index + 1}`;
    if (record.d >= record.s) return `C1: record ${record.s} calls ${record.d} durable`;
    if (record.k === 'msg' && !ledger.sent.has(String(record['text']))) {
      return `C2: record ${record.s} was never sent`;
    }
  }
  for (const [seq, text] of ledger.acked) {
    const record = found[seq - 1];
    if (record === undefined) return `C1: acknowledged record ${seq} is lost`;
    if (record['text'] !== text) return `C1: acknowledged record ${seq} is another one`;
  }
  if (journal.nextSeq < found.length + 1) return 'C5: the next seq was given out before';
  return null;
}

async function judgeFiles(disk: MemoryFiles): Promise<string | null> {
  const { problems } = await verifyJournal({ files: disk, directory: DIRECTORY, limits: LIMITS });
  const problem = problems[0];
  return problem === undefined ? null : `after recovery: ${problem.kind}, ${problem.detail}`;
}

function differs(first: readonly StoredRecord[], second: readonly StoredRecord[]): boolean {
  return first.some((record, index) => JSON.stringify(record) !== JSON.stringify(second[index]));
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
