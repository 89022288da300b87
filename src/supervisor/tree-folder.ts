/** The folder of a run's trees, in which nobody else works: it goes with the last tree. */
import type { Files } from '../kernel/index.ts';

export async function removeEmpty(files: Files, folder: string): Promise<void> {
  if ((await files.stat(folder)) === null) return;
  if ((await files.list(folder)).length > 0) return;
  await files.remove(folder);
  const parent = folder.slice(0, folder.lastIndexOf('/'));
  if ((await files.list(parent)).length === 0) await files.remove(parent);
}
