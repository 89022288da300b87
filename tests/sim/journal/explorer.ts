/**
 * Explores what a crash can do to a journal: the production code runs on `MemoryFiles`, the disk crashes before one
 * operation, the next start finds what that left, and checkers say whether a promise was broken.
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
export interface Ledger {
  /** Acknowledged: seq → payload. */
  readonly acked: Map<number, string>;
  /** Every payload that was ever handed in. */
  readonly sent: Set<string>;
}

export function makeLedger(): Ledger {
  return { acked: new Map(), sent: new Set() };
}

export function copyLedger(ledger: Ledger): Ledger {
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
export async function work(
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

/** Runs until it ends or the disk dies before operation `at`; true when it died. */
export async function runUntil(
  disk: MemoryFiles,
  at: number,
  run: (disk: MemoryFiles) => Promise<unknown>,
): Promise<boolean> {
  let crashed = false;
  const died = new Promise<void>((resolve) => {
    disk.before = (operation) => {
      if (operation.number < at || crashed) return;
      crashed = true;
      disk.crash('none');
      resolve();
    };
  });
  const done = run(disk);
  done.catch(() => undefined);
  await Promise.race([died, crashed ? died : done]);
  disk.before = null;
  return crashed;
}

/** Recovers, holds what comes back against the ledger, and goes on: appends, reopens. Null: no promise was broken. */
export async function check(
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
  return changed ? 'recovery is not idempotent' : null;
}

function judge(found: readonly StoredRecord[], journal: Journal, ledger: Ledger): string | null {
  const { report } = journal;
  if (report.gaps.length > 0) return `gap: ${JSON.stringify(report.gaps)}`;
  for (const [index, record] of found.entries()) {
    if (record.s !== index + 1) return `seq ${record.s} at position ${index + 1}`;
    if (record.d >= record.s) return `record ${record.s} calls ${record.d} durable`;
    if (record.k === 'msg' && !ledger.sent.has(String(record['text']))) {
      return `record ${record.s} was never sent`;
    }
  }
  for (const [seq, text] of ledger.acked) {
    const record = found[seq - 1];
    if (record === undefined) return `acknowledged record ${seq} is lost`;
    if (record['text'] !== text) return `acknowledged record ${seq} is another one`;
  }
  if (journal.nextSeq < found.length + 1) return 'the next seq was given out before';
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

/**
 * One history that dies before each of its operations; each disk that may be left is recovered, also with a second crash
 * somewhere in that recovery and the work after it. Ends at the first violation.
 */
export async function explore(
  seed: string,
  mutate: Mutate,
  statesMax: number,
): Promise<Exploration> {
  const exploration: Exploration = { states: 0, violation: null };
  for (let at = 1; ; at += 1) {
    const disk = await newDisk(seed);
    const ledger = makeLedger();
    const start = disk.operations;
    const crashed = await runUntil(disk, start + at, (target) =>
      work(target, seed, mutate, ledger),
    );
    for (const mode of CRASH_MODES) {
      await afterCrash({ disk, ledger, mode, path: `${at}/${mode}` }, seed, mutate, exploration);
      if (exploration.violation !== null || exploration.states >= statesMax) return exploration;
    }
    if (!crashed) return exploration;
  }
}

interface Moment {
  readonly disk: MemoryFiles;
  readonly ledger: Ledger;
  readonly mode: CrashMode;
  readonly path: string;
}

async function afterCrash(
  moment: Moment,
  seed: string,
  mutate: Mutate,
  exploration: Exploration,
): Promise<void> {
  const { disk, ledger, mode, path } = moment;
  const once = disk.crash(mode);
  const found = await guarded(() => check(once, seed, mutate, ledger));
  exploration.states += 1;
  if (found !== null) {
    exploration.violation ??= `crash ${path}: ${found}`;
    return;
  }
  const random = new SeededRandom(`${seed}/${path}`);
  // The second life dies too, in recovery or soon after; where, is drawn.
  for (let round = 0; round < 3; round += 1) {
    const again = disk.crash(mode);
    const both = copyLedger(ledger);
    const at = again.operations + 1 + random.below(round === 0 ? 16 : 48);
    await runUntil(again, at, (target) => work(target, `${seed}/second`, mutate, both));
    const second = random.pick(CRASH_MODES) ?? 'none';
    const bad = await guarded(() => check(again.crash(second), seed, mutate, both));
    exploration.states += 1;
    if (bad !== null) exploration.violation ??= `crash ${path}, then ${at}/${second}: ${bad}`;
  }
}

/** A start that fails breaks a promise as well. */
async function guarded(run: () => Promise<string | null>): Promise<string | null> {
  try {
    return await run();
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}
