/**
 * The reserve: a file of zeros beside the segments whose space is given back when the disk is full, so that the records
 * which tell of it can still be written. It comes back before any other record is accepted, and goes with `close`.
 */
import type { FileHandle, Files } from '../kernel/index.ts';
import { systemCode } from '../kernel/index.ts';

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

  constructor(place: { files: Files; directory: string; bytes: number }) {
    this.#files = place.files;
    this.#path = `${place.directory}/reserve`;
    this.#bytes = place.bytes;
  }

  /** Wanted and not there. */
  get missing(): boolean {
    return this.#bytes > 0 && !this.#present;
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

  /** Gives the space back. */
  async release(): Promise<void> {
    await this.#files.remove(this.#path);
    this.#present = false;
  }
}
