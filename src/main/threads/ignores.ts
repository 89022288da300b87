/** What git leaves out of the tree for this person and this clone. A file that can't be read leaves out nothing. */
import { readInside } from '../../platform/index.ts';
import type { ActorStart } from '../../protocol/index.ts';

const BYTES_MAX = 256 * 1024;

export async function readIgnores({
  ignoreFiles = [],
}: Pick<ActorStart, 'ignoreFiles'>): Promise<string[]> {
  const texts: string[] = [];
  for (const file of ignoreFiles) {
    const cut = file.lastIndexOf('/');
    try {
      const options = { length: BYTES_MAX, sizeMax: BYTES_MAX };
      const { bytes } = await readInside(file.slice(0, cut), file.slice(cut + 1), options);
      texts.push(new TextDecoder().decode(bytes));
    } catch {
      // It is not there, or is no regular file.
    }
  }
  return texts;
}
