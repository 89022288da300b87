/** What is remembered: the notes of agents, then what people wrote. A file that can't be read is as if it were empty. */
import { FILE_BYTES_MAX, type Note, parseNotes } from '../../memory/index.ts';
import { readInside } from '../../platform/index.ts';
import type { ActorStart } from '../../protocol/index.ts';

export async function readNotes(
  start: Pick<ActorStart, 'notesFile' | 'memory'>,
): Promise<readonly Note[]> {
  const { notesFile, memory = [] } = start;
  const own = notesFile === undefined ? [] : [placeOf(notesFile)];
  const notes: Note[] = [];
  for (const { root, path } of [...own, ...memory]) {
    try {
      const { bytes } = await readInside(root, path, {
        length: FILE_BYTES_MAX,
        sizeMax: FILE_BYTES_MAX,
      });
      notes.push(...parseNotes(new TextDecoder().decode(bytes)));
    } catch {
      // It is not there, is no regular file, or lies elsewhere.
    }
  }
  return notes;
}

function placeOf(file: string): { readonly root: string; readonly path: string } {
  const cut = file.lastIndexOf('/');
  return { root: file.slice(0, cut), path: file.slice(cut + 1) };
}
