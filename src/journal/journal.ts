/** Opening a journal for writing: recovery first, then the writer. The caller holds the lock on the folder. */
import type { Clock, Files, Random } from '../kernel/index.ts';
import { invariant, isTroupeError, mintId, systemCode } from '../kernel/index.ts';
import type { CompactOptions } from './compact.ts';
import { compact, LiveSet } from './compact.ts';
import * as errors from './errors.ts';
import type { Journal } from './handle.ts';
import { parentOf } from './levels.ts';
import type { JournalLimits } from './limits.ts';
import { withDefaults } from './limits.ts';
import type { RecordHead, RecordView, StoredRecord } from './record.ts';
import { tryReadRecord } from './record.ts';
import { recover } from './recovery.ts';
import { Reserve } from './reserve.ts';
import { OpenSegment } from './segment.ts';
import { SnapshotStore } from './snapshot.ts';
import { Tail } from './tail.ts';
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
  readonly snapshots?: SnapshotOptions | undefined;
  /** For a journal of which only what is live must be kept; never for a run's. Not together with `snapshots.restore`. */
  readonly compact?: CompactOptions | undefined;
}

export interface SnapshotOptions {
  /** Default: `snapshots` beside the journal's folder. */
  readonly directory?: string;
  /**
   * Takes the state of `writeSnapshot` before any record is given; `onRecord` then gets only records after `seq`. False
   * when it can't be used: nothing was changed, and an older one, or none, is tried. Left out, all is replayed.
   */
  readonly restore?: (state: Uint8Array, seq: number) => boolean;
}

const READ_ONLY_CODES = new Set(['EACCES', 'EPERM', 'EROFS']);

/**
 * Recovers what is there, or makes a new journal, which is then durable. Rejects `journal/newer-version` and
 * `journal/foreign` without any change, `journal/full`, `journal/failed`.
 */
export async function openJournal(options: OpenJournalOptions): Promise<Journal> {
  try {
    return await start(options);
  } catch (error) {
    const cause = isTroupeError(error) ? error.cause : error;
    const code = systemCode(cause);
    if (READ_ONLY_CODES.has(code)) throw errors.readOnly(options.directory, cause);
    if (code === '' || isTroupeError(error)) throw error;
    throw errors.failed(options.directory, 'open', error);
  }
}

async function start(options: OpenJournalOptions): Promise<Journal> {
  const { files, clock, directory, name } = options;
  const limits = withDefaults(options.limits);
  const snapshots = new SnapshotStore({
    files,
    directory: options.snapshots?.directory ?? `${parentOf(directory)}/snapshots`,
  });
  const restore = options.snapshots?.restore;
  invariant(
    options.compact === undefined || restore === undefined,
    'J18: what a snapshot spares is not seen, so it could not be compacted',
  );
  const live = options.compact === undefined ? null : new LiveSet(options.compact.worthOf);
  const onView = live === null ? undefined : liveSetSink(live);
  const replayed = await recover({ ...options, limits, snapshots, restore, onView });
  const compacted =
    live === null
      ? null
      : await compact({ ...options, limits }, live, {
          recovered: replayed,
          slackBytes: options.compact?.slackBytes,
        });
  const recovered = compacted?.recovered ?? replayed;
  const log = recovered.report.log === '' ? mintId('log', options) : recovered.report.log;
  const compaction = compacted?.compaction ?? null;
  const report = { ...recovered.report, log, compaction };
  const reserve = new Reserve({ files, directory, bytes: limits.reserveBytes });
  await reserve.restore();
  const { crc, next, nextSegment, sealed, file, lines } = recovered;
  const segment = file === null ? null : await OpenSegment.reopen({ files, directory, file });
  const tail = new Tail({ files, directory, name, log, segment, lines, nextSegment });
  const deps = { files, clock, directory, name, limits, reserve, snapshots, report };
  const writer = new Writer(deps, { tail, crc, next, sealed });
  if (!report.created) return writer;
  try {
    await writer.create();
  } catch (error) {
    await writer.close({ seal: false });
    throw error;
  }
  return writer;
}

function liveSetSink(live: LiveSet): (view: RecordView) => void {
  return (view) => {
    const record = tryReadRecord(view);
    if (record !== null) live.note(record, view.end - view.start);
  };
}
