/**
 * What the files beside a run's journal say was durable: views and snapshots are written after their records are, so they
 * tell of a journal that lost its end, which by itself looks like one whose last write was never acknowledged.
 */
import type { KnownSeq } from '../journal/index.ts';
import { type Files, systemCode } from '../kernel/index.ts';
import { VIEW_END_BYTES } from './limits.ts';

/** Asked before the journal is read: a writer may be at work. `folder`: the run's. Rejects only for errors of the file system. */
export async function readKnownSeq(files: Files, folder: string): Promise<KnownSeq> {
  let known: KnownSeq = { seq: 0, from: '' };
  const note = (seq: number, from: string): void => {
    if (Number.isSafeInteger(seq) && seq > known.seq) known = { seq, from };
  };
  for (const kind of ['mailboxes', 'sessions']) {
    for (const name of await namesIn(files, `${folder}/views/${kind}`)) {
      const path = `views/${kind}/${name}`;
      note(lastSeqIn(await endOf(files, `${folder}/${path}`)), path);
    }
  }
  for (const name of await namesIn(files, `${folder}/snapshots`)) {
    if (name.endsWith('.snap')) note(Number(name.slice(0, -5)), `snapshots/${name}`);
  }
  return known;
}

/** One sentence; null when the journal, which ends at `lastSeq`, has all that is known. */
export function describeLostEnd(lastSeq: number, known: KnownSeq): string | null {
  if (known.seq <= lastSeq) return null;
  const first = lastSeq + 1;
  const which = first === known.seq ? `record ${first}` : `records ${first} to ${known.seq}`;
  return `the end of the journal: ${which} lost; it ends at record ${lastSeq}, but ${known.from} tells of record ${known.seq}`;
}

async function namesIn(files: Files, folder: string): Promise<string[]> {
  try {
    return await files.list(folder);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return [];
  }
}

/** Empty when the file went. */
async function endOf(files: Files, path: string): Promise<string> {
  try {
    const handle = await files.open(path, 'read');
    try {
      const size = await handle.size();
      const bytes = await handle.read(Math.max(0, size - VIEW_END_BYTES), VIEW_END_BYTES);
      return new TextDecoder().decode(bytes);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    return '';
  }
}

/** Of a view: one JSON object with its `seq` a line, before any text of others. The last line may be cut. */
function lastSeqIn(text: string): number {
  for (const line of text.trimEnd().split('\n').slice(-2).toReversed()) {
    const seq = /^\{[^{}]*?"seq":(\d+)/.exec(line)?.[1];
    if (seq !== undefined) return Number(seq);
  }
  return 0;
}
