/**
 * What happens before a journal is written again: every record is checked, a torn tail is set aside and cut, damage is
 * named and left, and what a killed process wrote is made durable.
 *
 * Invariants:
 *   J5   Damage at or below the watermark is never truncated; writing goes on in a new segment, so its bytes stay.
 *   J6   A torn tail is copied to `torn-<seq>-<time>` beside the segments before it is cut.
 *   J12  After `kill -9` the page cache is not the disk: the last segment, the directory and its entry are synced before
 *        anything is accepted.
 *   J13  Recovery may end at any point and be run again.
 */
import type { Clock, FileHandle, Files } from '../kernel/index.ts';
import { isoTime } from '../kernel/index.ts';
import * as errors from './errors.ts';
import { makeLevels, syncAncestors } from './levels.ts';
import type { JournalLimits } from './limits.ts';
import type { RecordHead, RecordView, StoredRecord } from './record.ts';
import { LF, readHead, tryReadRecord } from './record.ts';
import { isFull } from './reserve.ts';
import type { Resumed } from './resume.ts';
import { resume } from './resume.ts';
import type { Damage, ScanSink, TornTail } from './scan.ts';
import { Scanner } from './scan.ts';
import type { HeadExpectation, SegmentHead } from './segment.ts';
import { checkHead, isBase, isPacked, segmentOf, sortSegments } from './segment.ts';
import type { SnapshotStore } from './snapshot.ts';
import { openSource } from './source.ts';
import { walkFile } from './walk.ts';

export interface CutTail extends TornTail {
  readonly bytes: number;
  /** Name of the file, beside the segments, that holds the cut bytes. */
  readonly kept: string;
}

/** What compaction made of the journal when it was opened. */
export interface Compaction {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
  /** Records that were carried forward. */
  readonly kept: number;
}

export interface RecoveryReport {
  /** Id of the log; '' when no head could be read, before the journal is created. */
  readonly log: string;
  readonly created: boolean;
  readonly segments: number;
  /** Intact records found, the journal's own included; with a snapshot those after it. */
  readonly records: number;
  /** Their bytes, without framing. */
  readonly bytes: number;
  /** What a snapshot spared; `seq` 0: all was replayed. */
  readonly snapshot: Resumed;
  readonly lastSeq: number;
  /** Highest seq that the log itself calls durable. */
  readonly watermark: number;
  readonly torn: CutTail | null;
  /** Damage below the watermark: acknowledged records that are lost, or bytes that should not be there. */
  readonly gaps: readonly Damage[];
  /** Lines whose ends something else rewrote to CR LF. */
  readonly crlfLines: number;
  /** What compaction did after the replay; null: nothing. */
  readonly compaction: Compaction | null;
}

export interface RecoverOptions {
  readonly files: Files;
  readonly clock: Clock;
  readonly directory: string;
  readonly name: string;
  readonly limits: JournalLimits;
  readonly onRecord?: ((record: StoredRecord) => void) | undefined;
  readonly select?: ((head: RecordHead) => boolean) | undefined;
  /** Every intact record, whatever `select` says. */
  readonly onView?: ((view: RecordView) => void) | undefined;
  readonly snapshots: SnapshotStore;
  readonly restore?: ((state: Uint8Array, seq: number) => boolean) | undefined;
}

export interface Recovered {
  readonly report: RecoveryReport;
  readonly crc: number;
  readonly next: number;
  /** Write on in this file; null: in a new one. */
  readonly file: string | null;
  /** Lines in it. */
  readonly lines: number;
  readonly nextSegment: number;
  readonly sealed: boolean;
}

/** Rejects `journal/newer-version` and `journal/foreign`, without any change; `journal/failed` when the disk does. */
export async function recover(options: RecoverOptions): Promise<Recovered> {
  const { files, directory } = options;
  await makeLevels(files, directory);
  const { counting: names, void: leftOver } = await sortSegments(files, directory);
  const collected = new Collected(options);
  const scanner = new Scanner(collected, { ...options.limits, adopt: startsLate(names) });
  const snapshot = await scan(scanner, names, { ...options, expected: collected.expected });
  const last = names.at(-1);
  const packed = last !== undefined && isPacked(last);
  if (packed) scanner.endPacked();
  const torn = last === undefined ? null : scanner.endLast();
  const damaged = torn === null && scanner.fileDamaged;
  const damagedBefore = collected.gaps.some((gap) => gap.file === last && gap.bytes > 0);
  let cut: CutTail | null = null;
  let size = 0;
  if (last !== undefined && !packed) {
    const mended = await mend(options, last, { torn, endLine: !damaged });
    cut = mended.cut;
    size = mended.size;
  }
  await syncLevels(options);
  await removeAll(options, leftOver);
  const keepWriting = !packed && (size === 0 || !(damaged || damagedBefore));
  return {
    report: {
      log: collected.expected.log ?? '',
      created: scanner.next === 1,
      segments: names.length,
      records: collected.records,
      bytes: collected.bytes,
      snapshot,
      lastSeq: scanner.next - 1,
      watermark: scanner.watermark,
      torn: cut,
      gaps: collected.gaps,
      crlfLines: scanner.crlfLines,
      compaction: null,
    },
    crc: scanner.crc,
    next: scanner.next,
    file: keepWriting ? (last ?? null) : null,
    lines: torn === null ? scanner.line - 1 : torn.line - 1,
    nextSegment: last === undefined ? 1 : (segmentOf(last) ?? 0) + 1,
    sealed: collected.sealed || scanner.next === 1,
  };
}

/** Compaction took the segments before; the head of what it made says where the chain stands. */
function startsLate(names: readonly string[]): boolean {
  return isBase(names[0] ?? '');
}

async function scan(
  scanner: Scanner,
  names: readonly string[],
  options: RecoverOptions & { readonly expected: HeadExpectation },
): Promise<Resumed> {
  const { restore } = options;
  const resumed =
    restore === undefined
      ? { seq: 0, refused: [], from: null }
      : await resume({ ...options, restore, names });
  const { from } = resumed;
  const start = from === null ? 0 : names.indexOf(from.file);
  for (const [index, file] of names.slice(start).entries()) {
    if (index > 0) scanner.endSegment();
    scanner.beginSegment(file);
    if (index === 0 && from !== null) {
      scanner.enter({ ...from, next: from.seq + 1 });
      options.expected.log = from.log;
    }
    await scanSegment(scanner, file, options);
  }
  return { seq: resumed.seq, refused: resumed.refused };
}

/** What compaction or packing left when it was cut short. */
async function removeAll(options: RecoverOptions, names: readonly string[]): Promise<void> {
  const { files, directory } = options;
  for (const name of names) await files.remove(`${directory}/${name}`);
  if (names.length > 0) await files.syncDirectory(directory);
}

/** Records go out as they are found; what they say about the journal stays here. */
class Collected implements ScanSink {
  readonly gaps: Damage[] = [];
  readonly expected: HeadExpectation;
  records = 0;
  bytes = 0;
  sealed = false;
  #options: RecoverOptions;

  constructor(options: RecoverOptions) {
    this.#options = options;
    this.expected = { directory: options.directory, log: null, name: options.name };
  }

  record(view: RecordView): void {
    this.records += 1;
    this.bytes += view.end - view.start;
    const { onRecord, onView, select } = this.#options;
    this.sealed = isSeal(view);
    onView?.(view);
    if (onRecord === undefined || (select !== undefined && !select(readHead(view)))) return;
    const record = tryReadRecord(view);
    if (record !== null) onRecord(record);
  }

  damage(damage: Damage): void {
    this.gaps.push(damage);
  }

  head(head: SegmentHead, file: string): void {
    const error = checkHead(head, file, this.expected);
    if (error !== null) throw error;
  }
}

/** A seal is the shortest record there is, so only short ones are looked at. */
function isSeal(view: RecordView): boolean {
  return view.end - view.start < 64 && readHead(view).k === 'seal';
}

async function scanSegment(scanner: Scanner, file: string, options: RecoverOptions): Promise<void> {
  const source = await openSource(options.files, `${options.directory}/${file}`);
  try {
    scanner.pushUnterminated(await walkFile(source, scanner, options.limits));
  } finally {
    await source.close();
  }
}

/** Cuts the torn tail, ends the last line, and makes the last segment durable (J12). */
async function mend(
  options: RecoverOptions,
  file: string,
  what: { torn: TornTail | null; endLine: boolean },
): Promise<{ cut: CutTail | null; size: number }> {
  const { files, directory } = options;
  const { torn } = what;
  const kept = torn === null ? null : await setAside(options, torn);
  const handle = await files.open(`${directory}/${file}`, 'append');
  try {
    if (torn !== null) await handle.truncate(torn.offset);
    if (what.endLine) await endLine(handle);
    await handle.datasync();
    return {
      cut: torn === null || kept === null ? null : { ...torn, ...kept },
      size: await handle.size(),
    };
  } catch (error) {
    if (isFull(error)) throw errors.full(directory, error);
    throw errors.failed(directory, 'recovery', error);
  } finally {
    await handle.close();
  }
}

/** The last record may have lost its line feed to the tear. */
async function endLine(handle: FileHandle): Promise<void> {
  const size = await handle.size();
  if (size === 0) return;
  const last = await handle.read(size - 1, 1);
  if (last[0] !== LF) handle.write(Uint8Array.of(LF));
}

async function setAside(
  options: RecoverOptions,
  torn: TornTail,
): Promise<{ bytes: number; kept: string }> {
  const { files, directory } = options;
  const bytes = await readFrom(options, torn);
  const stem = `torn-${torn.fromSeq}-`;
  for (const name of await files.list(directory)) {
    // A recovery that ended before the cut has kept the same bytes (J13).
    if (name.startsWith(stem) && equal(await files.readFile(`${directory}/${name}`), bytes)) {
      await keepDurable(options, name);
      return { bytes: bytes.length, kept: name };
    }
  }
  const kept = await createAside(options, stem);
  try {
    await fillAside(kept.handle, bytes);
  } catch (error) {
    if (!isFull(error)) throw errors.failed(directory, 'recovery', error);
    // Saying what was lost is what the reserve is for.
    await files.remove(`${directory}/reserve`);
    await kept.handle.truncate(0);
    await refill(options, kept.handle, bytes);
  } finally {
    await kept.handle.close();
  }
  await files.syncDirectory(directory);
  return { bytes: bytes.length, kept: kept.name };
}

async function readFrom(options: RecoverOptions, torn: TornTail): Promise<Uint8Array> {
  const handle = await options.files.open(`${options.directory}/${torn.file}`, 'read');
  try {
    return await handle.read(torn.offset, (await handle.size()) - torn.offset);
  } finally {
    await handle.close();
  }
}

async function keepDurable(options: RecoverOptions, name: string): Promise<void> {
  const { files, directory } = options;
  const handle = await files.open(`${directory}/${name}`, 'append');
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await files.syncDirectory(directory);
}

async function createAside(
  options: RecoverOptions,
  stem: string,
): Promise<{ name: string; handle: FileHandle }> {
  const { files, directory, clock } = options;
  const taken = new Set(await files.list(directory));
  const stamp = isoTime(clock.now()).replaceAll(/[-:.]/g, '');
  let name = `${stem}${stamp}`;
  for (let number = 2; taken.has(name); number += 1) name = `${stem}${stamp}-${number}`;
  return { name, handle: await files.open(`${directory}/${name}`, 'create') };
}

async function refill(
  options: RecoverOptions,
  handle: FileHandle,
  bytes: Uint8Array,
): Promise<void> {
  try {
    await fillAside(handle, bytes);
  } catch (error) {
    if (isFull(error)) throw errors.full(options.directory, error);
    throw errors.failed(options.directory, 'recovery', error);
  }
}

async function fillAside(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += handle.write(bytes.subarray(at));
  await handle.datasync();
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** The directory, and the entries of the levels above that whoever made them may not have synced. */
async function syncLevels(options: RecoverOptions): Promise<void> {
  const { files, directory, limits } = options;
  try {
    await files.syncDirectory(directory);
  } catch (error) {
    throw errors.failed(directory, 'sync of the directory', error);
  }
  await syncAncestors(files, directory, limits.ancestorsSyncedMax);
}
