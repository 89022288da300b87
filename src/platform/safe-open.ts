/**
 * File operations of the agents' file tools: inside a root, on regular files and folders only, without a gap between
 * the check and the use (`safe-walk.ts`).
 *
 * They run in worker threads. A thread with a pending read of a FIFO can't be ended by anybody, so nothing here opens
 * without O_NONBLOCK or reads before `isFile` is known. All work is done before the promise is returned.
 *
 * All failures are `TroupeError`s `path/…` that name the path as it was given.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../kernel/errors.ts';
import { ignoring, type PlatformCode, platformError } from './errors.ts';
import { READ_BYTES_MAX } from './limits.ts';
import { namedPathError, type Place, walk } from './safe-walk.ts';

export interface InsideStat {
  readonly kind: 'file' | 'directory' | 'other';
  readonly size: number;
  readonly mtimeMs: number;
  /** Permission bits. */
  readonly mode: number;
}

export interface InsideEntry {
  readonly name: string;
  /** A link is told as one, wherever it leads. */
  readonly kind: 'file' | 'directory' | 'link' | 'other';
}

/** An open regular file. */
export interface InsideFile {
  readonly descriptor: number;
  readonly stat: InsideStat;
  /** Idempotent. */
  close(): void;
}

export interface InsideContent {
  readonly bytes: Uint8Array;
  /** Of the whole file. */
  readonly size: number;
  readonly mtimeMs: number;
}

/** Opens an existing regular file; `write` neither creates nor cuts it. */
export async function openInside(
  root: string,
  relative: string,
  mode: 'read' | 'write',
): Promise<InsideFile> {
  return atPlace(root, relative, (place) => openFile(place, relative, mode));
}

/**
 * A file or `length` bytes of it from `offset`. Without a `length`, a file of more than `sizeMax` bytes (default 32 MiB)
 * is `path/too-large`.
 */
export async function readInside(
  root: string,
  relative: string,
  options: { offset?: number; length?: number; sizeMax?: number } = {},
): Promise<InsideContent> {
  const file = await openInside(root, relative, 'read');
  try {
    const { size, mtimeMs } = file.stat;
    const offset = options.offset ?? 0;
    const sizeMax = options.sizeMax ?? READ_BYTES_MAX;
    const length = Math.min(options.length ?? sizeMax + 1, Math.max(size - offset, 0));
    if (length > sizeMax) {
      throw failure('path/too-large', relative, `has ${String(size)} bytes`, { size, sizeMax });
    }
    return { bytes: readBytes(file.descriptor, offset, length), size, mtimeMs };
  } catch (error) {
    throw namedPathError(error, relative);
  } finally {
    file.close();
  }
}

/**
 * Writes a whole file: readers see the old content or the new, also after a crash when `sync` is set. An existing file
 * keeps its mode and, as far as we may, its owner. Folders on the way must exist.
 */
export async function writeInside(
  root: string,
  relative: string,
  bytes: Uint8Array,
  options: { mustExist?: boolean; mustNotExist?: boolean; sync?: boolean } = {},
): Promise<InsideStat> {
  return atPlace(root, relative, (place) => {
    const { stat } = place;
    if (place.name === '' || stat?.isDirectory() === true) {
      throw failure('path/not-a-file', relative, 'is a directory');
    }
    if (stat === null && options.mustExist === true) {
      throw failure('path/not-found', relative, 'does not exist');
    }
    if (stat !== null && options.mustNotExist === true) {
      throw failure('path/exists', relative, 'exists already');
    }
    if (stat !== null && !stat.isFile()) {
      throw failure('path/not-a-file', relative, 'is no regular file');
    }
    if (stat !== null && stat.nlink > 1) {
      throw failure('path/hard-linked', relative, 'has other names, which may lie outside');
    }
    return toInsideStat(replace(place, bytes, options.sync === true));
  });
}

/** Follows links that stay inside; null when there is nothing, or a link to nothing. */
export async function statInside(root: string, relative: string): Promise<InsideStat | null> {
  try {
    return atPlace(root, relative, ({ stat }) => (stat === null ? null : toInsideStat(stat)));
  } catch (error) {
    if (systemCode(error) === 'path/not-found') return null;
    throw error;
  }
}

/** A folder's entries by name. */
export async function listInside(root: string, relative: string): Promise<readonly InsideEntry[]> {
  return atPlace(root, relative, (place) => {
    if (place.stat === null) throw failure('path/not-found', relative, 'does not exist');
    if (!place.stat.isDirectory()) {
      throw failure('path/not-a-directory', relative, 'is no directory');
    }
    const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
    // The root is named by its own descriptor, which is a link of /proc: nothing can exchange it.
    const noFollow = place.name === '' ? 0 : O_NOFOLLOW;
    const descriptor = openSync(place.path, O_RDONLY | O_DIRECTORY | noFollow);
    try {
      place.recheck();
      const path =
        process.platform === 'linux' ? `/proc/self/fd/${String(descriptor)}` : place.path;
      return readdirSync(path, { withFileTypes: true })
        .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    } finally {
      closeSync(descriptor);
    }
  });
}

/** The folder and those above it; no error when it exists. */
export async function makeDirectoriesInside(root: string, relative: string): Promise<void> {
  walk({ root, relative, missing: 'make' }).close();
}

function atPlace<T>(root: string, relative: string, work: (place: Place) => T): T {
  const place = walk({ root, relative, missing: 'fail' });
  try {
    return work(place);
  } catch (error) {
    throw namedPathError(error, relative);
  } finally {
    place.close();
  }
}

function openFile(place: Place, relative: string, mode: 'read' | 'write'): InsideFile {
  if (place.stat === null) throw failure('path/not-found', relative, 'does not exist');
  // Before the open, because opening a device may already do something.
  if (!place.stat.isFile()) throw notAFile(place.stat, relative);
  if (mode === 'write' && place.stat.nlink > 1) {
    throw failure('path/hard-linked', relative, 'has other names, which may lie outside');
  }
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;
  const access = mode === 'read' ? O_RDONLY : O_RDWR;
  const descriptor = openSync(place.path, access | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw notAFile(stat, relative);
    place.recheck();
    let open = true;
    const close = (): void => {
      if (open) closeSync(descriptor);
      open = false;
    };
    return { descriptor, stat: toInsideStat(stat), close };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function readBytes(descriptor: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(descriptor, bytes, filled, length - filled, offset + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

function replace(place: Place, bytes: Uint8Array, sync: boolean): Stats {
  const temporary = join(place.folder, `.troupe-${randomBytes(8).toString('hex')}.tmp`);
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
  const descriptor = openSync(temporary, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o666);
  try {
    if (place.stat !== null) keepOwnerAndMode(descriptor, place.stat);
    for (let written = 0; written < bytes.length; ) {
      written += writeSync(descriptor, bytes, written, bytes.length - written);
    }
    if (sync) fsyncSync(descriptor);
    place.recheck();
    const now = lstatSync(place.path, { throwIfNoEntry: false });
    if (now !== undefined && !now.isFile()) {
      throw platformError({
        code: 'path/changed',
        message: `${place.name} is no longer a regular file`,
        retryable: true,
      });
    }
    renameSync(temporary, place.path);
    if (sync) syncFolder(place.folder);
    return fstatSync(descriptor);
  } catch (error) {
    ignoring(['ENOENT'], () => {
      unlinkSync(temporary);
    });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function keepOwnerAndMode(descriptor: number, old: Stats): void {
  const mine = fstatSync(descriptor);
  if (mine.uid !== old.uid || mine.gid !== old.gid) {
    ignoring(['EPERM', 'EINVAL'], () => {
      fchownSync(descriptor, old.uid, old.gid);
    });
  }
  // After the owner, whose change takes special bits away.
  fchmodSync(descriptor, old.mode & 0o7777);
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function notAFile(stat: Stats, relative: string): Error {
  const what = stat.isDirectory() ? 'is a directory' : `is a ${specialKind(stat)}, not a file`;
  return failure('path/not-a-file', relative, what);
}

function specialKind(stat: Stats): string {
  if (stat.isFIFO()) return 'named pipe';
  if (stat.isSocket()) return 'socket';
  return 'device';
}

function failure(
  code: PlatformCode,
  path: string,
  what: string,
  data: Readonly<Record<string, unknown>> = {},
): Error {
  return platformError({ code, message: `${path} ${what}`, data: { path, ...data } });
}

function toInsideStat(stat: Stats): InsideStat {
  const kind = kindOf(stat);
  return {
    kind: kind === 'link' ? 'other' : kind,
    size: stat.size,
    mtimeMs: stat.mtimeMs,
    mode: stat.mode & 0o7777,
  };
}

function kindOf(entry: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}): InsideEntry['kind'] {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'link' : 'other';
}
