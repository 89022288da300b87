/**
 * What a person has trusted in this repository: content, by its SHA-256, never a path. Kept in the workspace journal; read
 * here beside its writer, so that everyone who is about to read a file of the repository can ask.
 */
import { readJournal } from '../journal/index.ts';
import type { Files } from '../kernel/ports.ts';
import type { TrustRecord } from '../protocol/index.ts';
import type { Places } from './places.ts';

export interface TrustBook {
  /** Whether a person has trusted exactly this content. */
  readonly isTrusted: (hash: string) => boolean;
  /** The newest word on each, oldest first. */
  readonly records: readonly TrustRecord[];
}

export async function readTrust(
  { files }: { readonly files: Files },
  { state }: Pick<Places, 'state'>,
): Promise<TrustBook> {
  const newest = new Map<string, TrustRecord>();
  const directory = `${state}/workspace/journal`;
  for await (const record of readJournal({
    files,
    directory,
    select: (head) => head.k === 'trust',
  })) {
    const read = trustRecordOf(record);
    if (read === null) continue;
    newest.delete(read.hash);
    newest.set(read.hash, read);
  }
  return {
    isTrusted: (hash) => newest.get(hash)?.what === 'trusted',
    records: [...newest.values()],
  };
}

function trustRecordOf(record: Readonly<Record<string, unknown>>): TrustRecord | null {
  const { at, what, hash, path } = record;
  if (typeof at !== 'string' || typeof hash !== 'string' || typeof path !== 'string') return null;
  return what === 'trusted' || what === 'revoked' ? { at, what, hash, path } : null;
}
