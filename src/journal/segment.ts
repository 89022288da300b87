/**
 * Segment files: their names, their head record, and the open one that is being written.
 *
 * Invariants:
 *   J7  A segment's first record is its head: `{"s","d","k":"seg","v":1,"log","name","segment","prev","at"}`. Every later
 *       format keeps the form of this one line, so that an older Troupe can refuse it.
 *   J8  A batch counts as written only when the file *and*, for a new one, its directory entry are on stable storage.
 *   J16 Which files count is told by their names alone, so that one rename switches from the old to the new.
 */
import type { FileHandle, Files, TroupeError } from '../kernel/index.ts';
import { isoTime, systemCode } from '../kernel/index.ts';
import { crcText } from './crc32.ts';
import * as errors from './errors.ts';
import type { RecordView } from './record.ts';
import { tryReadRecord } from './record.ts';

export const FORMAT_VERSION = 1;

export interface SegmentHead {
  readonly version: number;
  /** Id of the log, the same in all its segments. */
  readonly log: string;
  readonly name: string;
  readonly segment: number;
  /** Crc of the record before. */
  readonly prev: number;
}

/** `base`: what compaction kept of all segments before · `gz`: packed after the end. */
const SEGMENT_FILE = /^(\d{12})(\.base)?\.jsonl(\.gz)?$/;
const UNFINISHED = /^\d{12}(\.base)?\.jsonl(\.gz)?\.tmp$/;

function segmentFile(segment: number): string {
  return `${String(segment).padStart(12, '0')}.jsonl`;
}

export function baseFile(segment: number): string {
  return `${String(segment).padStart(12, '0')}.base.jsonl`;
}

/** The counter in a segment's file name; null for other files. */
export function segmentOf(file: string): number | null {
  const digits = SEGMENT_FILE.exec(file)?.[1];
  return digits === undefined ? null : Number(digits);
}

export function isPacked(file: string): boolean {
  return file.endsWith('.gz');
}

export function isBase(file: string): boolean {
  return SEGMENT_FILE.exec(file)?.[2] !== undefined;
}

/** The segment files of a directory that count, in order; none when it is missing. */
export async function listSegments(files: Files, directory: string): Promise<string[]> {
  return (await sortSegments(files, directory)).counting;
}

/**
 * J16: of two files of one segment the base counts, then the plain one; before the newest base nothing counts. `void`: the
 * others, which a crash left between making the one and removing the other.
 */
export async function sortSegments(
  files: Files,
  directory: string,
): Promise<{ counting: string[]; void: string[] }> {
  const byNumber = new Map<number, string>();
  const found = await namesIn(files, directory);
  const left = found.filter((name) => UNFINISHED.test(name));
  const names = found.filter((name) => segmentOf(name) !== null);
  for (const name of names.toSorted((a, b) => rankOf(a) - rankOf(b))) {
    const segment = segmentOf(name) ?? 0;
    if (byNumber.has(segment)) left.push(name);
    else byNumber.set(segment, name);
  }
  const all = [...byNumber].toSorted(([a], [b]) => a - b).map(([, name]) => name);
  const base = all.findLastIndex(isBase);
  return {
    counting: all.slice(Math.max(0, base)),
    void: [...all.slice(0, Math.max(0, base)), ...left],
  };
}

async function namesIn(files: Files, directory: string): Promise<string[]> {
  try {
    return await files.list(directory);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return [];
  }
}

function rankOf(name: string): number {
  if (isBase(name)) return 0;
  return isPacked(name) ? 2 : 1;
}

export function headBody(head: SegmentHead, atMs: number): string {
  const { log, name, segment } = head;
  const fields = { k: 'seg', v: head.version, log, name, segment, prev: crcText(head.prev) };
  return JSON.stringify({ ...fields, at: isoTime(atMs) }).slice(1, -1);
}

/** Null when the record is no head; says nothing about its crc. */
export function parseSegmentHead(view: RecordView): SegmentHead | null {
  const record = tryReadRecord(view);
  if (record?.k !== 'seg') return null;
  const { v, log, name, segment, prev } = record;
  if (typeof v !== 'number' || typeof log !== 'string' || typeof name !== 'string') return null;
  if (typeof segment !== 'number' || typeof prev !== 'string') return null;
  if (!/^[0-9a-f]{8}$/.test(prev)) return null;
  return { version: v, log, name, segment, prev: Number.parseInt(prev, 16) };
}

/** What a journal's heads must say; null is not known yet. */
export interface HeadExpectation {
  readonly directory: string;
  log: string | null;
  name: string | null;
}

/** Refuses a newer format and a foreign log; learns the log from the first head. */
export function checkHead(
  head: SegmentHead,
  file: string,
  expected: HeadExpectation,
): TroupeError | null {
  const path = `${expected.directory}/${file}`;
  if (head.version > FORMAT_VERSION) return errors.newerVersion(path, head.version);
  expected.log ??= head.log;
  expected.name ??= head.name;
  if (head.log !== expected.log) {
    return errors.foreign(path, { field: 'log', found: head.log, expected: expected.log });
  }
  if (head.name !== expected.name) {
    return errors.foreign(path, { field: 'name', found: head.name, expected: expected.name });
  }
  return null;
}

/** The segment that is being written. */
export class OpenSegment {
  readonly segment: number;
  #files: Files;
  #directory: string;
  #file: string;
  #handle: FileHandle;
  #size: number;
  /** Its directory entry may not be durable yet. */
  #entryPending: boolean;

  private constructor(
    place: { files: Files; directory: string; segment: number; file: string },
    open: { handle: FileHandle; size: number; entryPending: boolean },
  ) {
    this.segment = place.segment;
    this.#files = place.files;
    this.#directory = place.directory;
    this.#file = place.file;
    this.#handle = open.handle;
    this.#size = open.size;
    this.#entryPending = open.entryPending;
  }

  static async create(place: {
    files: Files;
    directory: string;
    segment: number;
  }): Promise<OpenSegment> {
    const file = segmentFile(place.segment);
    const handle = await place.files.open(`${place.directory}/${file}`, 'create');
    return new OpenSegment({ ...place, file }, { handle, size: 0, entryPending: true });
  }

  /** An existing segment whose content and entry recovery has made durable. */
  static async reopen(place: {
    files: Files;
    directory: string;
    file: string;
  }): Promise<OpenSegment> {
    const { files, directory, file } = place;
    const handle = await files.open(`${directory}/${file}`, 'append');
    const size = await handle.size();
    const segment = segmentOf(file) ?? 0;
    return new OpenSegment(
      { files, directory, segment, file },
      { handle, size, entryPending: false },
    );
  }

  /** Bytes that belong to whole batches. */
  get size(): number {
    return this.#size;
  }

  /** One call unless the system writes short; throws its error, after which `rollBack` is due. */
  write(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      const written = this.#handle.write(at === 0 ? bytes : bytes.subarray(at));
      if (written <= 0) throw new Error(`write returned ${written}`);
      at += written;
    }
    this.#size += bytes.length;
  }

  /** Whether the file is still the one that was written: its folder may have been removed, or it was cut or replaced. */
  async isThere(): Promise<boolean> {
    const stat = await this.#files.stat(`${this.#directory}/${this.#file}`);
    return stat?.kind === 'file' && stat.size === this.#size;
  }

  /** Takes away what a failed `write` left. */
  async rollBack(): Promise<void> {
    await this.#handle.truncate(this.#size);
  }

  async sync(): Promise<void> {
    await this.#handle.datasync();
    if (!this.#entryPending) return;
    await this.#files.syncDirectory(this.#directory);
    this.#entryPending = false;
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}
