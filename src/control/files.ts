/** Small files written whole: a reader sees the old one or the new one, and after a crash one of them is there. */
import { systemCode } from '../kernel/errors.ts';
import type { Files } from '../kernel/ports.ts';

export function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 1));
}

/** Written and synced, not yet under its final name. */
export async function writeSynced(files: Files, path: string, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  const handle = await files.open(path, 'create');
  try {
    for (let done = 0; done < bytes.length; ) done += handle.write(bytes.subarray(done));
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** `temporary` lies in the same folder as `path`. */
export async function writeWhole(
  files: Files,
  path: string,
  what: { readonly text: string; readonly temporary: string },
): Promise<void> {
  await writeSynced(files, what.temporary, what.text);
  await files.rename(what.temporary, path);
  await files.syncDirectory(folderOf(path));
}

/** Null when it is missing. */
export async function readText(files: Files, path: string): Promise<string | null> {
  try {
    return new TextDecoder().decode(await files.readFile(path));
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Null when it is missing; throws a SyntaxError when it is not JSON. */
export async function readJson(files: Files, path: string): Promise<unknown> {
  const text = await readText(files, path);
  return text === null ? null : JSON.parse(text);
}

/** Empty when it is missing. */
export async function listFolder(files: Files, path: string): Promise<string[]> {
  try {
    return await files.list(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    throw error;
  }
}
