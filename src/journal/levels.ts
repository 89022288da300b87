/** Folders that are made, and made durable, level by level. */
import type { Files } from '../kernel/index.ts';
import { systemCode } from '../kernel/index.ts';

/** Creates missing folders one by one, each made durable before the next, so that a crash leaves at most one unsure. */
export async function makeLevels(files: Files, directory: string): Promise<void> {
  const absent: string[] = [];
  let level = directory;
  while (level !== '' && (await files.stat(level)) === null) {
    absent.unshift(level);
    level = parentOf(level);
  }
  if (absent.length > 0 && level !== '') await syncIfAllowed(files, parentOf(level));
  for (const folder of absent) {
    await files.makeDirectory(folder);
    await files.syncDirectory(parentOf(folder) || '/');
  }
}

/** Folders above a journal, a store of payloads or of snapshots that are made durable besides those it created. */
export const ANCESTORS_SYNCED = 4;

/** The entries of the levels above that whoever made them may not have synced. */
export async function syncAncestors(files: Files, directory: string, count: number): Promise<void> {
  let level = directory;
  for (let done = 0; done < count && level !== ''; done += 1) {
    level = parentOf(level);
    await syncIfAllowed(files, level);
  }
}

/** Folders that this user may not open are not ours to make durable. */
async function syncIfAllowed(files: Files, directory: string): Promise<void> {
  try {
    await files.syncDirectory(directory || '/');
  } catch (error) {
    const code = systemCode(error);
    if (code !== 'EACCES' && code !== 'EPERM' && code !== 'EROFS') throw error;
  }
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
