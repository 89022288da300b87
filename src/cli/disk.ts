/** What `troupe policy` asks of the disk: where links lead. What was seen is kept until it is to be forgotten. */
import { lstatSync, realpathSync } from 'node:fs';
import type { Resolve, Resolved } from '../permissions/index.ts';
import { lookAt } from '../platform/index.ts';

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
      const found = lookAt(path);
      seen.set(path, found);
      return found;
    },
    forget: () => seen.clear(),
  };
}
