/**
 * The view files of a run that nobody works on, held against its journal, and made anew from it. What a term does by itself
 * at its start, for runs that no term will come to.
 */
import { crc32, readJournal } from '../journal/index.ts';
import type { Clock, Files, Logger } from '../kernel/index.ts';
import { systemCode } from '../kernel/index.ts';
import type { Envelope, RunFile, StoredRunRecord, TaskRow } from '../protocol/index.ts';
import { noteLetter, ViewFiles, viewLines } from './effects/views.ts';
import { VIEWS_ANEW_RECORDS } from './limits.ts';
import { NOT_ALIVE } from './live.ts';
import { taskRows } from './rows.ts';
import { applyRecord, makeRunState, type RunState } from './state.ts';

export interface ViewPlace {
  readonly files: Files;
  /** The run's. */
  readonly folder: string;
}

/** Names of the view files that are missing or not what the journal says; none when the run has not begun. */
export async function differingViews(place: ViewPlace, file: RunFile): Promise<string[]> {
  const wanted = new Map<string, { bytes: number; crc: number }>();
  const utf8 = new TextEncoder();
  const state = await fold(place, file, (record, letters) => {
    for (const [name, text] of viewLines(record, letters)) {
      const bytes = utf8.encode(`${text}\n`);
      const before = wanted.get(name) ?? { bytes: 0, crc: 0 };
      const crc = crc32(bytes, 0, bytes.length, before.crc);
      wanted.set(name, { bytes: before.bytes + bytes.length, crc });
    }
    return Promise.resolve();
  });
  if (state.lastSeq === 0) return [];
  const differing: string[] = [];
  for (const [name, one] of wanted) {
    if (!(await holds(place, name, one))) differing.push(name);
  }
  if (!(await holdsTasks(place, state))) differing.push('tasks.json');
  return differing;
}

/** Takes what is there away and writes all views; nobody may hold the run. */
export async function makeViewsAnew(
  place: ViewPlace & { readonly clock: Clock; readonly logger: Logger },
  file: RunFile,
): Promise<void> {
  const views = new ViewFiles({ ...place, directory: `${place.folder}/views` });
  await views.open();
  let noted = 0;
  const state = await fold(place, file, async (record, letters) => {
    views.note(record, letters);
    noted += 1;
    // What waits to be written is in memory.
    if (noted % VIEWS_ANEW_RECORDS === 0) await views.flush();
  });
  views.noteTasks(() => taskRows(state, NOT_ALIVE));
  await views.close();
}

async function fold(
  { files, folder }: ViewPlace,
  file: RunFile,
  take: (record: StoredRunRecord, letters: readonly Envelope[]) => Promise<void>,
): Promise<RunState> {
  const state = makeRunState(file);
  for await (const stored of readJournal({ files, directory: `${folder}/journal` })) {
    if (stored.k === 'seg' || stored.k === 'seal') continue;
    const record = stored as unknown as StoredRunRecord;
    const letters: Envelope[] = [];
    applyRecord(state, record, (change) => noteLetter(letters, change));
    await take(record, letters);
  }
  return state;
}

const CHUNK = 1024 * 1024;

async function holds(
  { files, folder }: ViewPlace,
  name: string,
  wanted: { readonly bytes: number; readonly crc: number },
): Promise<boolean> {
  const path = `${folder}/views/${name}`;
  const stat = await files.stat(path);
  if (stat?.kind !== 'file' || stat.size !== wanted.bytes) return false;
  const handle = await files.open(path, 'read');
  try {
    let crc = 0;
    for (let at = 0; at < wanted.bytes; at += CHUNK) {
      const bytes = await handle.read(at, Math.min(CHUNK, wanted.bytes - at));
      crc = crc32(bytes, 0, bytes.length, crc);
    }
    return crc === wanted.crc;
  } finally {
    await handle.close();
  }
}

/** Ids and states: the rest of a row depends on who asks when. */
async function holdsTasks({ files, folder }: ViewPlace, state: RunState): Promise<boolean> {
  const told = taskRows(state, NOT_ALIVE).map(({ id, attempt }) => `${id} ${attempt}`);
  try {
    const text = new TextDecoder().decode(await files.readFile(`${folder}/views/tasks.json`));
    const rows: unknown = JSON.parse(text);
    if (!Array.isArray(rows)) return false;
    const there = rows.map((row: TaskRow) => `${row.id} ${row.attempt}`);
    return there.join('\n') === told.join('\n');
  } catch (error) {
    if (error instanceof SyntaxError || systemCode(error) !== '') return false;
    throw error;
  }
}
