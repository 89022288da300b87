/** What stands where records are lost: for those who want to say what it was about. Nothing of it counts. */
import type { Files } from '../kernel/index.ts';
import { DAMAGED_READ_MAX } from './limits.ts';
import type { Damage } from './scan.ts';
import { openSource } from './source.ts';

/** The damaged bytes as lines, as far as they are read; none when they can't be. */
export async function damagedLines(
  files: Files,
  directory: string,
  { file, offset, bytes }: Damage,
): Promise<string[]> {
  try {
    const source = await openSource(files, `${directory}/${file}`);
    try {
      const found = await source.read(offset, Math.min(bytes, DAMAGED_READ_MAX));
      return new TextDecoder().decode(found).split('\n');
    } finally {
      await source.close();
    }
  } catch {
    return [];
  }
}
