/** What the disk says of single paths: where links lead, whose a file is, what is in it. Looks, and changes nothing. */
import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
} from 'node:fs';
import { HASHED_BYTES_MAX, LINKS_MAX } from './limits.ts';

export interface PathLook {
  /** Absolute, no link left in it as far as it exists. */
  readonly path: string;
  readonly kind: 'file' | 'directory' | 'special' | 'missing';
  /** Hard links of a file; 1 for everything else. */
  readonly links: number;
}

/** Name by name; a dangling link is followed too, since a write would make what it names. Never throws. */
export function lookAt(path: string): PathLook {
  let open = path.split('/').toReversed();
  const done: string[] = [];
  let links = 0;
  let stats: Stats | null = null;
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === '' || name === '.') continue;
    if (name === '..') {
      done.pop();
      stats = null;
      continue;
    }
    const here = `/${[...done, name].join('/')}`;
    const seen = look(here);
    if (seen === 'unknown') return { path: here, kind: 'special', links: 1 };
    stats = seen;
    if (stats?.isSymbolicLink() === true) {
      links += 1;
      const target = links > LINKS_MAX ? null : targetOf(here);
      if (target === null) return { path: here, kind: 'special', links: 1 };
      if (target.startsWith('/')) done.length = 0;
      open = [...open, ...target.split('/').toReversed()];
      continue;
    }
    done.push(name);
  }
  const real = `/${done.join('/')}`;
  const last = stats ?? look(real);
  if (last === 'unknown') return { path: real, kind: 'special', links: 1 };
  if (last === null) return { path: real, kind: 'missing', links: 1 };
  const kind = last.isDirectory() ? 'directory' : last.isFile() ? 'file' : 'special';
  return { path: real, kind, links: kind === 'file' ? last.nlink : 1 };
}

/** Null: nothing is there. What can't be looked at may be a link to anywhere, and is never taken for a name that is free. */
function look(path: string): Stats | null | 'unknown' {
  try {
    return lstatSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? null : 'unknown';
  }
}

/** Null when it is gone meanwhile. */
function targetOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/** Owned by root, and nobody else may write it: a file, or the folder that it lies in. */
export function ownedByAdmin(path: string): boolean {
  const stats = look(path);
  if (stats === null || stats === 'unknown' || stats.uid !== 0 || (stats.mode & 0o022) !== 0)
    return false;
  return stats.isFile() || stats.isDirectory();
}

/** Changes when the file does, without reading it; empty when there is none. */
export function markOf(path: string): string {
  const stats = lookThrough(path);
  if (stats === null) return '';
  if (stats === 'unknown') return 'unknown';
  return [stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(':');
}

function lookThrough(path: string): Stats | null | 'unknown' {
  const { kind, path: real } = lookAt(path);
  return kind === 'missing' ? null : look(real);
}

/** SHA-256 in hex of a regular file of at most 8 MiB; null for everything else. Never waits for a FIFO. */
export function hashOfFile(path: string): string | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const { size } = fstatSync(descriptor);
    if (!fstatSync(descriptor).isFile() || size > HASHED_BYTES_MAX) return null;
    const bytes = new Uint8Array(size);
    let filled = 0;
    while (filled < size) {
      const count = readSync(descriptor, bytes, filled, size - filled, filled);
      if (count === 0) break;
      filled += count;
    }
    return createHash('sha256').update(bytes.subarray(0, filled)).digest('hex');
  } catch {
    return null;
  } finally {
    closeSync(descriptor);
  }
}
