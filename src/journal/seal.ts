/**
 * Packing the segments of a journal that gets no more records, each whole, as `<segment>.jsonl.gz`. Readers do not see the
 * difference. The caller holds the lock on the folder and has closed the journal.
 *
 * Invariants:
 *   J17  A plain segment goes only after its packed twin was read back from the disk, is equal, and is durable with its
 *        entry. It may end at any point and be run again; until a plain one is gone it is the one that counts (J16).
 */
import type { Files } from '../kernel/index.ts';
import { systemCode } from '../kernel/index.ts';
import { writeAtomic } from './atomic.ts';
import * as errors from './errors.ts';
import type { JournalLimits } from './limits.ts';
import { isFull } from './reserve.ts';
import { isBase, isPacked, sortSegments } from './segment.ts';
import { pack, unpack } from './source.ts';
import { verifyJournal } from './verify.ts';

export interface SealJournalOptions {
  readonly files: Files;
  readonly directory: string;
  readonly limits?: Partial<JournalLimits> | undefined;
  /** Aborted: it ends behind the segment at hand. */
  readonly signal?: AbortSignal | undefined;
}

export interface SealReport {
  /** Segments packed by this call. */
  readonly packed: number;
  /** Of those: bytes before and after. */
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

/**
 * Resolves when all segments are packed, or the signal aborted. Rejects `journal/damaged` before any change when something in it is not as a
 * writer left it, `journal/full` and `journal/failed` with what was packed until then kept.
 */
export async function sealJournal(options: SealJournalOptions): Promise<SealReport> {
  const { files, directory } = options;
  const { problems } = await verifyJournal(options);
  const problem = problems[0];
  if (problem !== undefined) throw errors.damaged(directory, problem.detail);
  try {
    return await packAll(files, directory, options.signal);
  } catch (error) {
    if (isFull(error)) throw errors.full(directory, error);
    if (systemCode(error) === '') throw error;
    throw errors.failed(directory, 'packing', error);
  }
}

async function packAll(
  files: Files,
  directory: string,
  signal: AbortSignal | undefined,
): Promise<SealReport> {
  const { counting } = await sortSegments(files, directory);
  const report = { packed: 0, bytesBefore: 0, bytesAfter: 0 };
  for (const name of counting) {
    if (signal?.aborted === true) break;
    if (isPacked(name) || isBase(name)) continue;
    const plain = await files.readFile(`${directory}/${name}`);
    const packed = await pack(plain);
    const check = async (path: string): Promise<void> => {
      const back = await unpack(await files.readFile(path));
      if (!back.whole || !equal(back.bytes, plain)) {
        throw errors.failed(directory, 'packing', new Error(`${path} does not unpack to ${name}`));
      }
    };
    await writeAtomic(files, { directory, name: `${name}.gz` }, { parts: [packed], check });
    await files.remove(`${directory}/${name}`);
    await files.syncDirectory(directory);
    report.packed += 1;
    report.bytesBefore += plain.length;
    report.bytesAfter += packed.length;
  }
  return report;
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
