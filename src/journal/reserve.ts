/**
 * The reserve: files of zeros beside the segments whose space is given back when the disk is full. Most of it is for what
 * was begun before, a rest for the last word: the record that tells why nothing follows. It comes back before any other
 * record is accepted, and goes with `close`.
 */
import type { FileHandle, Files, TroupeError } from '../kernel/index.ts';
import { systemCode } from '../kernel/index.ts';
import * as errors from './errors.ts';
import { parentOf } from './levels.ts';

const CHUNK_BYTES = 1024 * 1024;
/** Of the reserve, for the last word; of a small reserve half. */
const LAST_WORD_BYTES = 64 * 1024;
const FULL_CODES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** No space, over quota, or over the size limit of files: the record can't be written now, and nothing is wrong. */
export function isFull(error: unknown): boolean {
  return FULL_CODES.has(systemCode(error));
}

export class Reserve {
  #files: Files;
  #path: string;
  #bytes: number;
  #lastBytes: number;
  #present = false;
  #lastPresent = false;
  /** Given back, and not come again. */
  #spent = false;
  readonly given: Promise<TroupeError>;
  #tellGiven: (error: TroupeError) => void = () => undefined;

  constructor(place: { files: Files; directory: string; bytes: number }) {
    this.#files = place.files;
    this.#path = `${place.directory}/reserve`;
    this.#lastBytes = Math.min(LAST_WORD_BYTES, Math.floor(place.bytes / 2));
    this.#bytes = place.bytes - this.#lastBytes;
    this.given = new Promise((resolve) => {
      this.#tellGiven = resolve;
    });
  }

  /** Whether the next record may be written: else it would eat the space that was given back for those that may use it. */
  async allows(reserved: boolean): Promise<boolean> {
    if (this.#bytes === 0 || this.#present || (reserved && this.#spent)) return true;
    return this.restore();
  }

  /** Gives the space back for records that may use it, all of it for the `last` one; false when there is none to give. */
  async giveBack(cause: unknown, last: boolean): Promise<boolean> {
    const gives = this.#present || (last && this.#lastPresent);
    if (!gives) return false;
    if (this.#present) await this.#removeMain();
    if (last) await this.#removeLast();
    this.#spent = true;
    this.#tellGiven(errors.full(parentOf(this.#path), cause));
    return true;
  }

  /** False when the space is not there. */
  async restore(): Promise<boolean> {
    if (this.#bytes === 0 || this.#present) return true;
    try {
      if (!this.#lastPresent) await this.#make(this.#lastPath, this.#lastBytes);
      this.#lastPresent = true;
      await this.#make(this.#path, this.#bytes);
      this.#present = true;
      this.#spent = false;
    } catch (error) {
      if (!isFull(error)) throw error;
    }
    if (!this.#lastPresent) await this.#files.remove(this.#lastPath);
    if (!this.#present) await this.#files.remove(this.#path);
    return this.#present;
  }

  /** Takes it away: nothing follows. */
  async release(): Promise<void> {
    if (this.#present) await this.#removeMain();
    if (this.#lastPresent) await this.#removeLast();
  }

  get #lastPath(): string {
    return `${this.#path}.last`;
  }

  async #make(path: string, bytes: number): Promise<void> {
    const handle = await this.#files.open(path, 'append');
    try {
      await fill(handle, bytes);
    } finally {
      await handle.close();
    }
  }

  async #removeMain(): Promise<void> {
    await this.#files.remove(this.#path);
    this.#present = false;
  }

  async #removeLast(): Promise<void> {
    await this.#files.remove(this.#lastPath);
    this.#lastPresent = false;
  }
}

async function fill(handle: FileHandle, bytes: number): Promise<void> {
  const zeros = new Uint8Array(Math.min(CHUNK_BYTES, bytes));
  for (let size = await handle.size(); size < bytes; ) {
    size += handle.write(zeros.subarray(0, Math.min(zeros.length, bytes - size)));
  }
}
