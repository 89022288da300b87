/**
 * The reserve: a file of zeros beside the segments whose space is given back when the disk is full, so that the records
 * which tell of it can still be written. It comes back before any other record is accepted, and goes with `close`.
 */
import type { FileHandle, Files, TroupeError } from '../kernel/index.ts';
import { systemCode } from '../kernel/index.ts';
import * as errors from './errors.ts';
import { parentOf } from './levels.ts';

const CHUNK_BYTES = 1024 * 1024;
const FULL_CODES = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** No space, over quota, or over the size limit of files: the record can't be written now, and nothing is wrong. */
export function isFull(error: unknown): boolean {
  return FULL_CODES.has(systemCode(error));
}

export class Reserve {
  #files: Files;
  #path: string;
  #bytes: number;
  #present = false;
  /** Given back, and not come again. */
  #spent = false;
  readonly given: Promise<TroupeError>;
  #tellGiven: (error: TroupeError) => void = () => undefined;

  constructor(place: { files: Files; directory: string; bytes: number }) {
    this.#files = place.files;
    this.#path = `${place.directory}/reserve`;
    this.#bytes = place.bytes;
    this.given = new Promise((resolve) => {
      this.#tellGiven = resolve;
    });
  }

  /** Whether the next record may be written: else it would eat the space that was given back for those that may use it. */
  async allows(reserved: boolean): Promise<boolean> {
    if (this.#bytes === 0 || this.#present || (reserved && this.#spent)) return true;
    return this.restore();
  }

  /** Gives the space back for records that may use it; false when there is nothing to give. */
  async giveBack(cause: unknown): Promise<boolean> {
    if (!this.#present) return false;
    await this.release();
    this.#spent = true;
    this.#tellGiven(errors.full(parentOf(this.#path), cause));
    return true;
  }

  /** Whether there is anything to give back. */
  get present(): boolean {
    return this.#present;
  }

  /** False when the space is not there. */
  async restore(): Promise<boolean> {
    if (this.#bytes === 0 || this.#present) return true;
    try {
      const handle = await this.#files.open(this.#path, 'append');
      try {
        await this.#fill(handle);
      } finally {
        await handle.close();
      }
      this.#present = true;
      this.#spent = false;
    } catch (error) {
      if (!isFull(error)) throw error;
    }
    if (!this.#present) await this.#files.remove(this.#path);
    return this.#present;
  }

  async #fill(handle: FileHandle): Promise<void> {
    const zeros = new Uint8Array(Math.min(CHUNK_BYTES, this.#bytes));
    for (let size = await handle.size(); size < this.#bytes; ) {
      size += handle.write(zeros.subarray(0, Math.min(zeros.length, this.#bytes - size)));
    }
  }

  async release(): Promise<void> {
    await this.#files.remove(this.#path);
    this.#present = false;
  }
}
