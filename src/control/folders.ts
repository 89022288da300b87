/**
 * Folders that people or repositories fill: what is read of them. A repository's own files are read when they are files
 * that lie in it: a link could show a model what lies elsewhere, and a pipe never ends.
 */
import { systemCode } from '../kernel/errors.ts';
import type { Files } from '../kernel/ports.ts';
import { whyNot } from '../kernel/unread.ts';
import { ENTRIES_MAX, SMALL_BYTES_MAX } from './limits.ts';

export interface FolderQuery {
  /** The root that every folder on the way must lie in without a link; null: links are the person's own. */
  readonly within: string | null;
  /** Of names; `''`: all. */
  readonly suffix: string;
  readonly note: (text: string) => void;
}

/** Names in a folder, sorted, at most `ENTRIES_MAX`; none when it is missing. */
export async function filesIn(files: Files, folder: string, query: FolderQuery): Promise<string[]> {
  if (query.within !== null) {
    const link = await linkOnTheWay(files, query.within, folder);
    if (link !== null) {
      query.note(`${link} is no folder of the repository and is not read`);
      return [];
    }
  }
  try {
    const names = (await files.list(folder)).filter((name) => name.endsWith(query.suffix));
    if (names.length > ENTRIES_MAX) {
      query.note(`${folder} has ${names.length} entries; the first ${ENTRIES_MAX} are read`);
    }
    return names.slice(0, ENTRIES_MAX);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error))) return [];
    throw error;
  }
}

/** The first part of the way below `root` that is there and is no folder; null when there is none. */
async function linkOnTheWay(files: Files, root: string, folder: string): Promise<string | null> {
  let here = root;
  for (const part of folder.slice(root.length + 1).split('/')) {
    here += `/${part}`;
    const stat = await files.stat(here);
    if (stat === null) return null;
    if (stat.kind !== 'directory') return here;
  }
  return null;
}

/** The bytes; or, as text, why a file of people's settings is not read. It never blocks and is bounded. */
export async function readSmall(
  files: Files,
  path: string,
  { links, max = SMALL_BYTES_MAX }: { readonly links: boolean; readonly max?: number },
): Promise<Uint8Array | string> {
  try {
    const kind = (await files.stat(path))?.kind;
    if (kind === 'link' && !links)
      return 'it is a link, and links of a repository are not followed';
    return await files.readFile(path, max);
  } catch (error) {
    const code = systemCode(error);
    if (code === '') throw error;
    return whyNot(code, max);
  }
}
