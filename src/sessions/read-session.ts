/**
 * An actor's transcript, read from the run's journal by the heads of its records: what others did is passed over
 * without being parsed. Takes no lock and repairs nothing.
 */

import { type BlobStore, readJournal } from '../journal/index.ts';
import type { ActorName, Files } from '../kernel/index.ts';
import type { PlacedEntry, SessionEntry } from '../protocol/index.ts';
import { wholeEntry } from './payloads.ts';

export interface ReadSessionOptions {
  readonly files: Files;
  /** The run's `journal/` folder. */
  readonly directory: string;
  readonly actor: ActorName;
  /** Last sequence wanted; what came later belongs to the reader's future. */
  readonly upTo: number;
  /** First sequence wanted; what is older belongs to an earlier life of the name. */
  readonly from?: number | undefined;
  /** Where large parts lie; without it their heads are given (M8). */
  readonly blobs?: Pick<BlobStore, 'get'>;
}

/** Entries in order; none when there is no journal. Entries of a type that this version does not know are left out. */
export async function readSession(options: ReadSessionOptions): Promise<PlacedEntry[]> {
  const { files, directory, actor, upTo, blobs, from = 0 } = options;
  const placed: PlacedEntry[] = [];
  const records = readJournal({
    files,
    directory,
    select: (head) =>
      head.s > upTo || (head.s >= from && head.k === 'step' && head.address === actor),
  });
  for await (const record of records) {
    if (record.s > upTo) break;
    const entries: unknown = record['entries'];
    const at = typeof record['at'] === 'string' ? record['at'] : '';
    for (const entry of Array.isArray(entries) ? entries : []) {
      if (!isEntry(entry)) continue;
      const whole = blobs === undefined ? entry : await wholeEntry(blobs, entry);
      placed.push({ seq: record.s, at, entry: whole });
    }
  }
  return placed;
}

const TYPES: ReadonlySet<unknown> = new Set<SessionEntry['type']>([
  'mail',
  'answer',
  'result',
  'compaction',
]);

/** Our own records, checked by their chain: the type is all that has to be known. */
function isEntry(value: unknown): value is SessionEntry {
  return typeof value === 'object' && value !== null && 'type' in value && TYPES.has(value.type);
}
