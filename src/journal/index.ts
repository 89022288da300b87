/**
 * Room `journal`: the append-only JSONL log that is the only durable truth of a run and of a workspace.
 *
 * It owns framing, chaining, group commit, recovery, reading, following, snapshots (bytes in, bytes out), packing of ended
 * journals, compaction, and the store of payloads beside it. It knows nothing of what records mean; the lock on the folder
 * is the supervisor's.
 *
 * Invariants: J1–J3 record.ts · J4–J6 scan.ts · J7–J8, J16 segment.ts · J8–J11 writer.ts · J5–J6, J12–J13 recovery.ts
 * · J15 snapshot.ts · J17 seal.ts · J18 compact.ts · J19–J20 blobs.ts
 */
export { writeAtomic } from './atomic.ts';
export {
  type BlobDeps,
  type BlobRef,
  BlobStore,
  blobsBeside,
  INLINE_BYTES_MAX,
  wholeText,
} from './blobs.ts';
export type { CompactOptions, Worth } from './compact.ts';
export { crc32 } from './crc32.ts';
export { damagedLines } from './damaged.ts';
export type { JournalErrorCode } from './errors.ts';
export { type FollowJournalOptions, followJournal } from './follow.ts';
export type { Appended, AppendOptions, Journal, LiveRecord } from './handle.ts';
export { type OpenJournalOptions, openJournal, type SnapshotOptions } from './journal.ts';
export type { JournalLimits } from './limits.ts';
export { type ReadJournalOptions, readJournal } from './reader.ts';
export type { Level, RecordBody, RecordHead, StoredRecord } from './record.ts';
export type { Compaction, CutTail, RecoveryReport } from './recovery.ts';
export type { Damage, DamageCause, TornTail } from './scan.ts';
export { type SealJournalOptions, type SealReport, sealJournal } from './seal.ts';
export {
  type JournalProblem,
  type JournalProblemKind,
  type KnownSeq,
  type VerifyJournalOptions,
  type VerifyReport,
  verifyJournal,
} from './verify.ts';
