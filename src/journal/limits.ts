/** Every bound of the journal, with its default. A caller overrides single ones; tests make them small. */
import { ANCESTORS_SYNCED } from './levels.ts';

export interface JournalLimits {
  /** One batch: one write call and one sync. */
  readonly batchBytesMax: number;
  readonly batchRecordsMax: number;
  /** One record with its line feed. */
  readonly lineBytesMax: number;
  /** Waiting for the disk; past it `append` throws `journal/overloaded`. */
  readonly queueBytesMax: number;
  /** A segment rolls at either. */
  readonly segmentBytesMax: number;
  readonly segmentAgeMsMax: number;
  /** Kept free for the records that tell of a full disk; 0: no reserve. */
  readonly reserveBytes: number;
  /** Quiet time after which a `seal` record covers the last batch. */
  readonly sealIdleMs: number;
  /** While it writes, how often it looks whether the segment is still in its folder. */
  readonly presenceMs: number;
  /** After a full disk, how long `append` refuses before the next attempt. */
  readonly fullRetryMs: number;
  /** One read while scanning; grows to hold a long line. */
  readonly windowBytes: number;
  /** How often a follower looks although nothing called. */
  readonly followSweepMs: number;
  /** Folders above the journal whose entries are made durable at open, besides those it created. */
  readonly ancestorsSyncedMax: number;
  /** Record beginnings tried inside one damaged line. */
  readonly salvageStartsMax: number;
}

const KIB = 1024;
const MIB = 1024 * KIB;

const JOURNAL_LIMITS: JournalLimits = {
  batchBytesMax: 4 * MIB,
  batchRecordsMax: 4096,
  lineBytesMax: 16 * MIB,
  queueBytesMax: 64 * MIB,
  segmentBytesMax: 64 * MIB,
  segmentAgeMsMax: 24 * 60 * 60 * 1000,
  reserveBytes: 16 * MIB,
  sealIdleMs: 20,
  presenceMs: 100,
  fullRetryMs: 250,
  windowBytes: MIB,
  followSweepMs: 1000,
  ancestorsSyncedMax: ANCESTORS_SYNCED,
  salvageStartsMax: 1024,
};

export function withDefaults(limits: Partial<JournalLimits> | undefined): JournalLimits {
  return { ...JOURNAL_LIMITS, ...limits };
}

/** Of damaged bytes that are looked at for what they were about. */
export const DAMAGED_READ_MAX: number = 1024 * 1024;
