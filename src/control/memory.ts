/** What is remembered of a repository, for people. */
import type { Note } from '../memory/index.ts';
import { FILE_BYTES_MAX, parseNotes, recall } from '../memory/index.ts';
import type { MemoryRow } from '../protocol/views.ts';
import type { Workspace } from './workspace.ts';

export type { MemoryRow } from '../protocol/views.ts';

/** Oldest first: what agents noted, then the person's own files. */
export async function memoryRows(workspace: Workspace): Promise<MemoryRow[]> {
  const { deps, places } = workspace;
  const redactor = await workspace.redactor();
  const rows: MemoryRow[] = [];
  for (const path of [
    `${places.state}/workspace/memory/MEMORY.md`,
    `${places.userConfig}/memory/MEMORY.md`,
    `${places.workspace}/.troupe/memory/MEMORY.md`,
  ]) {
    const stat = await deps.files.stat(path);
    if (stat?.kind !== 'file' || stat.size > FILE_BYTES_MAX) continue;
    const text = new TextDecoder().decode(await deps.files.readFile(path));
    for (const { text: said, noted } of parseNotes(text)) {
      const { at, by, run } = noted ?? { at: null, by: null, run: null };
      rows.push({ text: redactor.text(said), at, by, run, path });
    }
  }
  return rows;
}

/** As agents are told it: those that fit the query best, else the newest. */
export function recalled(rows: readonly MemoryRow[], query: string): string[] {
  const notes = rows.map(({ text, at, by, run }): Note => {
    const noted = at === null || by === null || run === null ? null : { at, by, run, id: '' };
    return { text, noted };
  });
  return recall(notes, { query, charsMax: FILE_BYTES_MAX });
}
