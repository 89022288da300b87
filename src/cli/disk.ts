/** What `troupe policy` asks of the disk: where links lead, and whose a file is. Looks, and changes nothing. */
import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import type { Resolve, Resolved } from '../permissions/index.ts';

const LINKS_MAX = 40;

export interface Disk {
  readonly resolve: Resolve;
  /** Forgets what was seen. */
  readonly forget: () => void;
}

/** Null when there is no such folder: then names stand for themselves. */
export function realFolder(path: string): string | null {
  try {
    return lstatSync(path).isDirectory() || lstatSync(path).isSymbolicLink()
      ? realpathSync(path)
      : null;
  } catch {
    return null;
  }
}

export function makeDisk(): Disk {
  const seen = new Map<string, Resolved>();
  return {
    resolve(path) {
      const known = seen.get(path);
      if (known !== undefined) return known;
      const found = follow(path);
      seen.set(path, found);
      return found;
    },
    forget: () => seen.clear(),
  };
}

/** Name by name; a dangling link is followed too, since a write would make what it names. */
function follow(path: string): Resolved {
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
    stats = look(here);
    if (stats?.isSymbolicLink() === true) {
      links += 1;
      if (links > LINKS_MAX) return { path: here, kind: 'special', links: 1 };
      const target = readlinkSync(here);
      if (target.startsWith('/')) done.length = 0;
      open = [...open, ...target.split('/').toReversed()];
      continue;
    }
    done.push(name);
  }
  const real = `/${done.join('/')}`;
  const last = stats ?? look(real);
  if (last === null) return { path: real, kind: 'missing', links: 1 };
  const kind = last.isDirectory() ? 'directory' : last.isFile() ? 'file' : 'special';
  return { path: real, kind, links: kind === 'file' ? last.nlink : 1 };
}

function look(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

/** Owned by root, and nobody else may write it. */
export function ownedByAdmin(path: string): boolean {
  const stats = look(path);
  return stats?.isFile() === true && stats.uid === 0 && (stats.mode & 0o022) === 0;
}
