/**
 * Snapshots: the state that a journal's owner folded from its records up to a seq, so that the next start replays only
 * what comes after. Bytes in, bytes out; always rebuildable, so a bad one is passed over, never repaired.
 *
 *   {"v":1,"log","name","seq","segment","offset","lines","crc","bytes"}\n  state  \n  crc32 of all before, 8 hex digits
 *
 * Invariants:
 *   J15  A snapshot is of a durable seq, and is used only when the record at its seq still lies where it says. It is
 *        durable before an older one goes; the newest two are kept.
 */
import type { Files } from '../kernel/index.ts';
import { systemCode } from '../kernel/index.ts';
import { writeAtomic } from './atomic.ts';
import { crc32, crcText } from './crc32.ts';
import { makeLevels } from './levels.ts';
import { LF } from './record.ts';

export interface SnapshotPlace {
  readonly log: string;
  readonly name: string;
  /** The state is the fold of all records up to it. */
  readonly seq: number;
  /** Right behind that record. */
  readonly segment: number;
  readonly offset: number;
  readonly lines: number;
  readonly crc: number;
}

export interface Snapshot {
  readonly place: SnapshotPlace;
  readonly state: Uint8Array;
}

const VERSION = 1;
const KEPT = 2;
const SNAPSHOT_FILE = /^(\d{15})\.snap$/;
/** `\n` and the sum. */
const SUM_BYTES = 9;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class SnapshotStore {
  #files: Files;
  #directory: string;
  #last: Promise<void> = Promise.resolve();

  constructor(place: { files: Files; directory: string }) {
    this.#files = place.files;
    this.#directory = place.directory;
  }

  /** Resolves when it is durable. One at a time, in the order of the calls. */
  write(state: Uint8Array, place: SnapshotPlace): Promise<void> {
    const written = this.#last.then(() => this.#write(state, place));
    this.#last = written.catch(() => undefined);
    return written;
  }

  /** Names, newest first. */
  async list(): Promise<string[]> {
    if ((await this.#files.stat(this.#directory)) === null) return [];
    const names = await this.#files.list(this.#directory);
    return names.filter((name) => SNAPSHOT_FILE.test(name)).toReversed();
  }

  /** Null when it is not whole, or of another format. */
  async read(name: string): Promise<Snapshot | null> {
    try {
      return decode(await this.#files.readFile(`${this.#directory}/${name}`));
    } catch (error) {
      if (systemCode(error) === '') throw error;
      return null;
    }
  }

  async #write(state: Uint8Array, place: SnapshotPlace): Promise<void> {
    const files = this.#files;
    const directory = this.#directory;
    await makeLevels(files, directory);
    const name = `${String(place.seq).padStart(15, '0')}.snap`;
    await writeAtomic(files, { directory, name }, { parts: encode(state, place) });
    const known = await this.list();
    const unfinished = (await files.list(directory)).filter((one) => one.endsWith('.snap.tmp'));
    for (const old of [...known.slice(KEPT), ...unfinished]) {
      await files.remove(`${directory}/${old}`);
    }
  }
}

function encode(state: Uint8Array, place: SnapshotPlace): Uint8Array[] {
  const fields = { v: VERSION, ...place, crc: crcText(place.crc), bytes: state.length };
  const head = encoder.encode(`${JSON.stringify(fields)}\n`);
  const sum = crc32(state, 0, state.length, crc32(head, 0, head.length, 0));
  return [head, state, encoder.encode(`\n${crcText(sum)}`)];
}

function decode(bytes: Uint8Array): Snapshot | null {
  const headEnd = bytes.indexOf(LF) + 1;
  const stateEnd = bytes.length - SUM_BYTES;
  if (headEnd === 0 || stateEnd < headEnd) return null;
  const sum = crc32(bytes, 0, stateEnd, 0);
  if (decoder.decode(bytes.subarray(stateEnd)) !== `\n${crcText(sum)}`) return null;
  const place = decodePlace(bytes.subarray(0, headEnd), stateEnd - headEnd);
  return place === null ? null : { place, state: bytes.slice(headEnd, stateEnd) };
}

function decodePlace(head: Uint8Array, stateBytes: number): SnapshotPlace | null {
  const fields = JSON.parse(decoder.decode(head)) as Record<string, unknown>;
  const { v, log, name, seq, segment, offset, lines, crc, bytes } = fields;
  if (v !== VERSION || bytes !== stateBytes) return null;
  if (typeof log !== 'string' || typeof name !== 'string' || typeof crc !== 'string') return null;
  if (typeof seq !== 'number' || typeof segment !== 'number') return null;
  if (typeof offset !== 'number' || typeof lines !== 'number') return null;
  return { log, name, seq, segment, offset, lines, crc: Number.parseInt(crc, 16) };
}
