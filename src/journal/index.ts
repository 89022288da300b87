/**
 * Room `journal`: the append-only JSONL log that is the only durable truth of a run and of a workspace.
 *
 * It owns framing, chaining, group commit, recovery, reading and following. It knows nothing of what records mean; the
 * lock on the folder is the supervisor's. Deliberately absent: snapshots and compression.
 *
 * Invariants: J1–J3 record.ts · J4–J6 scan.ts · J7–J8 segment.ts · J8–J11 writer.ts · J5–J6, J12–J13 recovery.ts
 */
export type { JournalErrorCode } from './errors.ts';
export { type FollowJournalOptions, followJournal } from './follow.ts';
export type { Appended, AppendOptions, Journal } from './handle.ts';
export { type OpenJournalOptions, openJournal } from './journal.ts';
export { JOURNAL_LIMITS, type JournalLimits } from './limits.ts';
export { type ReadJournalOptions, readJournal } from './reader.ts';
export type { RecordBody, RecordHead, StoredRecord } from './record.ts';
export type { CutTail, RecoveryReport } from './recovery.ts';
export type { Damage, DamageCause, TornTail } from './scan.ts';
export {
  type JournalProblem,
  type JournalProblemKind,
  type VerifyJournalOptions,
  type VerifyReport,
  verifyJournal,
} from './verify.ts';
