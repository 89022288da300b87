/** A whole file that is either there with all its content, durable, or not at all. */
import type { Files } from '../kernel/index.ts';

/**
 * tmp → write → fsync → `check` → rename → fsync of the folder. A crash leaves at most `<name>.tmp` behind, which the next
 * attempt replaces. `check` may read the finished file back, and throw.
 */
export async function writeAtomic(
  files: Files,
  target: { readonly directory: string; readonly name: string },
  content: {
    readonly parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
    readonly check?: (path: string) => Promise<void>;
  },
): Promise<void> {
  const { directory, name } = target;
  const path = `${directory}/${name}.tmp`;
  await files.remove(path);
  try {
    await fill(files, path, content.parts);
    await content.check?.(path);
    await files.rename(path, `${directory}/${name}`);
  } catch (error) {
    // The space is needed where the disk is full; what it does not give back, the next attempt takes.
    await files.remove(path).catch(() => undefined);
    throw error;
  }
  await files.syncDirectory(directory);
}

async function fill(
  files: Files,
  path: string,
  parts: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<void> {
  const handle = await files.open(path, 'create');
  try {
    for await (const bytes of parts) {
      for (let at = 0; at < bytes.length; ) at += handle.write(bytes.subarray(at));
    }
    await handle.datasync();
  } finally {
    await handle.close();
  }
}
