/** The `Files` port on node:fs. Files are created 0600, folders 0700. */
import * as fs from 'node:fs';
import * as fsp from 'node:fs/promises';
import * as path from 'node:path';
import { promisify } from 'node:util';
import type { FileHandle, FileStat, Files } from '../kernel/index.ts';
import { systemCode } from '../kernel/index.ts';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const SWEEP_MS = 1000;
/** Room for a file that says it is empty, as those of `/proc` do. */
const GROWTH = 4096;
const FLAGS = { append: 'a+', create: 'ax+', read: 'r' } as const;

const openFile = promisify(fs.open);
const closeFile = promisify(fs.close);
const datasyncFile = promisify(fs.fdatasync);
const syncFile = promisify(fs.fsync);
const truncateFile = promisify(fs.ftruncate);
const statFile = promisify(fs.fstat);

export class NodeFiles implements Files {
  async open(file: string, mode: 'append' | 'create' | 'read'): Promise<FileHandle> {
    return new NodeFileHandle(await openFile(file, FLAGS[mode], FILE_MODE));
  }

  async readFile(file: string, bytesMax: number = Number.POSITIVE_INFINITY): Promise<Uint8Array> {
    const handle = await fsp.open(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    try {
      const stat = await handle.stat();
      if (stat.isDirectory()) throw readError('EISDIR', 'it is a folder', file);
      if (!stat.isFile()) throw readError('ENXIO', 'it is no regular file', file);
      if (stat.size > bytesMax) throw readError('EFBIG', 'it is too large', file);
      if (bytesMax === Number.POSITIVE_INFINITY) return await handle.readFile();
      const bytes = new Uint8Array(Math.max(stat.size, GROWTH) + 1);
      let filled = 0;
      for (;;) {
        const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, filled);
        filled += bytesRead;
        if (bytesRead === 0) return bytes.slice(0, filled);
        if (filled > bytesMax || filled === bytes.length) {
          throw readError('EFBIG', 'it is too large, or grows while it is read', file);
        }
      }
    } finally {
      await handle.close();
    }
  }

  async stat(file: string): Promise<FileStat | null> {
    try {
      const stat = await fsp.lstat(file);
      return { kind: kindOf(stat), size: stat.size, mtimeMs: stat.mtimeMs };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async list(directory: string): Promise<string[]> {
    return (await fsp.readdir(directory)).toSorted();
  }

  async makeDirectory(directory: string): Promise<void> {
    await fsp.mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  }

  async rename(from: string, to: string): Promise<void> {
    await fsp.rename(from, to);
  }

  async link(from: string, to: string): Promise<void> {
    await fsp.link(from, to);
  }

  async remove(file: string): Promise<void> {
    await fsp.rm(file, { recursive: true, force: true });
  }

  async syncDirectory(directory: string): Promise<void> {
    const fd = await openFile(directory, 'r');
    try {
      await syncFile(fd);
    } finally {
      await closeFile(fd);
    }
  }

  /** `fs.watch`, and a look once a second for what it does not tell (network file systems, a path made later). */
  watch(target: string, onChange: () => void, signal: AbortSignal): void {
    if (signal.aborted) return;
    startNative(target, onChange, signal);
    let last: string | null = null;
    let looking = false;
    const look = async (): Promise<void> => {
      if (looking) return;
      looking = true;
      const seen = await fingerprint(target);
      looking = false;
      // The first look may come after a change that the caller has not seen: once too often is fine.
      if (seen !== last && !signal.aborted) onChange();
      last = seen;
    };
    void look();
    const sweep = setInterval(() => void look(), SWEEP_MS);
    sweep.unref();
    signal.addEventListener('abort', () => clearInterval(sweep), { once: true });
  }
}

class NodeFileHandle implements FileHandle {
  /** Null once closed: the number may then belong to another file. */
  #open: number | null;

  constructor(fd: number) {
    this.#open = fd;
  }

  write(bytes: Uint8Array): number {
    return fs.writeSync(this.#fd, bytes);
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    // Never more than there is, so that a large window costs nothing on a small file.
    const left = Math.max(0, (await this.size()) - position);
    const bytes = new Uint8Array(Math.min(length, left));
    let filled = 0;
    while (filled < bytes.length) {
      const count = await this.#readSome(bytes, filled, position + filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  }

  async datasync(): Promise<void> {
    await datasyncFile(this.#fd);
  }

  async truncate(size: number): Promise<void> {
    await truncateFile(this.#fd, size);
  }

  async size(): Promise<number> {
    return (await statFile(this.#fd)).size;
  }

  async close(): Promise<void> {
    const fd = this.#open;
    this.#open = null;
    if (fd !== null) await closeFile(fd);
  }

  get #fd(): number {
    if (this.#open === null) throw closedError();
    return this.#open;
  }

  #readSome(bytes: Uint8Array, offset: number, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.read(this.#fd, bytes, offset, bytes.length - offset, position, (error, count) => {
        if (error === null) resolve(count);
        else reject(error);
      });
    });
  }
}

function readError(code: string, why: string, file: string): Error {
  return Object.assign(new Error(`${code}: ${why}, read '${file}'`), { code });
}

function closedError(): Error {
  return Object.assign(new Error('EBADF: the file is closed'), { code: 'EBADF' });
}

function startNative(target: string, onChange: () => void, signal: AbortSignal): void {
  try {
    const watcher = fs.watch(target, { persistent: false, signal }, () => {
      if (!signal.aborted) onChange();
    });
    // The sweep stays when the system runs out of watches or the folder goes.
    watcher.on('error', () => watcher.close());
  } catch {
    // Not there yet, or no watch to be had: the sweep sees it.
  }
}

/** Names, sizes and times of the path and, for a folder, of what is directly in it. */
async function fingerprint(target: string): Promise<string> {
  try {
    const stat = await fsp.lstat(target);
    const own = `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
    if (!stat.isDirectory()) return own;
    const names = (await fsp.readdir(target)).toSorted();
    const parts = await Promise.all(names.map((name) => fingerprintOf(path.join(target, name))));
    return [own, ...parts].join('\n');
  } catch (error) {
    return systemCode(error);
  }
}

async function fingerprintOf(file: string): Promise<string> {
  try {
    const stat = await fsp.lstat(file);
    return `${file} ${stat.ino} ${stat.size} ${stat.mtimeMs}`;
  } catch (error) {
    return `${file} ${systemCode(error)}`;
  }
}

function kindOf(stat: fs.Stats): FileStat['kind'] {
  if (stat.isFile()) return 'file';
  if (stat.isDirectory()) return 'directory';
  return stat.isSymbolicLink() ? 'link' : 'other';
}

function isMissing(error: unknown): boolean {
  const code = systemCode(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}
