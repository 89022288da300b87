/**
 * Payloads that are too large for a record: `blobs/<sha256>`, named by their content, so that the same payload is stored
 * once and a damaged one is known (M8).
 *
 * Invariants:
 *   J19  `put` resolves when the file and its entry are durable, so a record that names it can be appended after.
 *   J20  `get` gives the whole payload or rejects; nothing is cut.
 */
import type { Files } from '../kernel/index.ts';
import { ensureError, systemCode } from '../kernel/index.ts';
import { writeAtomic } from './atomic.ts';
import * as errors from './errors.ts';
import { ANCESTORS_SYNCED, makeLevels, parentOf, syncAncestors } from './levels.ts';
import { isFull } from './reserve.ts';

export interface BlobDeps {
  readonly files: Files;
  /** Absolute; made when missing. */
  readonly directory: string;
  /** Sha-256, as 64 lower-case hex digits. */
  readonly hash: (bytes: Uint8Array) => string;
}

/** What a record holds in place of a payload. */
export interface BlobRef {
  readonly blob: string;
  readonly bytes: number;
}

/** The folder of payloads beside a journal's folder. */
export function blobsBeside(journal: string): string {
  return `${parentOf(journal)}/blobs`;
}

/** Payloads up to this stay in the record. */
export const INLINE_BYTES_MAX: number = 64 * 1024;

const BLOB_ID = /^[0-9a-f]{64}$/;

export class BlobStore {
  #deps: BlobDeps;
  /** Its folder is there and durable. */
  #ready: Promise<void> | null = null;
  /** Being stored: the same payload twice at once is one file. */
  #running: Map<string, Promise<void>> = new Map();

  constructor(deps: BlobDeps) {
    this.#deps = deps;
  }

  /** Rejects `journal/full`, `journal/failed`. */
  async put(payload: Uint8Array): Promise<BlobRef> {
    const id = this.#deps.hash(payload);
    const running = this.#running.get(id);
    const stored = running ?? this.#store(id, payload);
    this.#running.set(id, stored);
    try {
      await stored;
    } finally {
      if (this.#running.get(id) === stored) this.#running.delete(id);
    }
    return { blob: id, bytes: payload.length };
  }

  /** Rejects `journal/blob` when it is missing, or not what was put. */
  async get(id: string): Promise<Uint8Array> {
    const { files, directory, hash } = this.#deps;
    if (!BLOB_ID.test(id)) throw errors.blob({ id, directory, detail: 'has no legal name' });
    let bytes: Uint8Array;
    try {
      bytes = await files.readFile(`${directory}/${id}`);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
      throw errors.blob({ id, directory, detail: 'is missing' });
    }
    if (hash(bytes) !== id) throw errors.blob({ id, directory, detail: 'is damaged' });
    return bytes;
  }

  async #store(id: string, payload: Uint8Array): Promise<void> {
    const { files, directory } = this.#deps;
    try {
      this.#ready ??= this.#prepare();
      await this.#ready;
      if (await this.#isThere(id, payload.length)) return await this.#syncAgain(id);
      await writeAtomic(files, { directory, name: id }, { parts: [payload] });
    } catch (error) {
      this.#ready = null;
      if (isFull(error)) throw errors.full(directory, error);
      if (systemCode(error) === '') throw error;
      throw errors.failed(directory, 'blob', error);
    }
  }

  /** What a killed process made may be in the page cache alone. */
  async #prepare(): Promise<void> {
    const { files, directory } = this.#deps;
    await makeLevels(files, directory);
    await syncAncestors(files, directory, ANCESTORS_SYNCED);
  }

  /** A file that was damaged since is written anew. */
  async #isThere(id: string, size: number): Promise<boolean> {
    const { files, directory, hash } = this.#deps;
    const stat = await files.stat(`${directory}/${id}`);
    if (stat?.kind !== 'file' || stat.size !== size) return false;
    return hash(await files.readFile(`${directory}/${id}`)) === id;
  }

  /** As for the folder. */
  async #syncAgain(id: string): Promise<void> {
    const { files, directory } = this.#deps;
    const handle = await files.open(`${directory}/${id}`, 'append');
    try {
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await files.syncDirectory(directory);
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The whole text of a part that a record holds by reference; when it can't be read, its head and why. Never rejects. */
export async function wholeText(
  blobs: Pick<BlobStore, 'get'>,
  part: { readonly text: string; readonly blob?: string },
): Promise<string> {
  if (part.blob === undefined) return part.text;
  try {
    return decoder.decode(await blobs.get(part.blob));
  } catch (error) {
    return `${part.text}\n[the rest cannot be read: ${ensureError(error).message}]`;
  }
}
