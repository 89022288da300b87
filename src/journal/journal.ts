/** Opening a journal for writing: recovery first, then the writer. The caller holds the lock on the folder. */
import type { Clock, Files, Random } from '../kernel/index.ts';
import { isTroupeError, mintId, systemCode } from '../kernel/index.ts';
import * as errors from './errors.ts';
import type { Journal } from './handle.ts';
import type { JournalLimits } from './limits.ts';
import { withDefaults } from './limits.ts';
import type { RecordHead, StoredRecord } from './record.ts';
import { recover } from './recovery.ts';
import { Reserve } from './reserve.ts';
import { OpenSegment } from './segment.ts';
import { Writer } from './writer.ts';

export interface OpenJournalOptions {
  readonly files: Files;
  readonly clock: Clock;
  readonly random: Random;
  /** Absolute; made when missing. */
  readonly directory: string;
  /** Written into every segment's head; another one there is refused. */
  readonly name: string;
  readonly limits?: Partial<JournalLimits> | undefined;
  /** Every intact record, in order, before the promise resolves. */
  readonly onRecord?: ((record: StoredRecord) => void) | undefined;
  /** Which of them; decided on the head, without parsing the rest. */
  readonly select?: ((head: RecordHead) => boolean) | undefined;
}

/**
 * Recovers what is there, or makes a new journal, which is then durable. Rejects `journal/newer-version` and
 * `journal/foreign` without any change, `journal/full`, `journal/failed`.
 */
export async function openJournal(options: OpenJournalOptions): Promise<Journal> {
  try {
    return await start(options);
  } catch (error) {
    if (systemCode(error) === '' || isTroupeError(error)) throw error;
    throw errors.failed(options.directory, 'open', error);
  }
}

async function start(options: OpenJournalOptions): Promise<Journal> {
  const { files, clock, directory, name } = options;
  const limits = withDefaults(options.limits);
  const recovered = await recover({ ...options, limits });
  const log = recovered.report.log === '' ? mintId('log', options) : recovered.report.log;
  const report = { ...recovered.report, log };
  const reserve = new Reserve({ files, directory, bytes: limits.reserveBytes });
  await reserve.restore();
  const { crc, next, nextSegment, sealed } = recovered;
  const segment =
    recovered.segment === null
      ? null
      : await OpenSegment.reopen({ files, directory, segment: recovered.segment });
  const deps = { files, clock, directory, name, limits, reserve, report };
  const writer = new Writer(deps, { log, crc, next, segment, nextSegment, sealed });
  if (!report.created) return writer;
  try {
    await writer.create();
  } catch (error) {
    await writer.close({ seal: false });
    throw error;
  }
  return writer;
}
