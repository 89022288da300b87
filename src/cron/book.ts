/**
 * All jobs and what became of their slots: a fold over the records of kind `cron` in the workspace journal.
 *
 * Invariants:
 *   C4  Replay equals live: `applyCron` reads nothing but the record.
 *   C5  A record that is no job, or no slot, is set aside with the reason; the others live on.
 *   C6  A slot of a job is entered once: `cursor` and the history say which were.
 */
import type { CronJob, CronSlot } from '../protocol/cron.ts';
import { readJob } from './job.ts';
import { BROKEN_MAX, HISTORY_MAX } from './limits.ts';
import { type Timetable, Zones } from './timetable.ts';

export interface JobFacts {
  readonly job: CronJob;
  readonly timetable: Timetable;
  readonly ledger: Ledger;
}

/** What became of the slots of one job. */
export interface Ledger {
  /** `CronJob.id`. */
  readonly job: string;
  /** Every slot up to here was entered; null: none was. */
  cursor: number | null;
  /** Of the newest entry. */
  n: number;
  /** Slots that were started by the schedule. */
  runs: number;
  /** The newest entries, oldest first, by `n`. */
  readonly history: Map<number, CronSlot>;
  /** Those of them that have not ended. */
  readonly open: Set<number>;
}

export interface Broken {
  readonly name: string;
  readonly why: string;
  /** What stands there. */
  readonly value: unknown;
}

export interface CronBook {
  readonly jobs: Map<string, JobFacts>;
  readonly broken: Map<string, Broken>;
  /** By name of the job; a compacted journal may tell of slots before it tells of their job. */
  readonly ledgers: Map<string, Ledger>;
  /** Sequence of the newest word on each job, as far as it was read. */
  readonly told: Map<string, number>;
  readonly zones: Zones;
  /** The furthest that any job has come. Kept, since a look at all jobs would cost each firing their number. */
  furthest: number;
}

export function emptyBook(): CronBook {
  const [jobs, broken, ledgers, told] = [new Map(), new Map(), new Map(), new Map()];
  return { jobs, broken, ledgers, told, zones: new Zones(), furthest: 0 };
}

type Fields = Readonly<Record<string, unknown>>;

/** One record; of other kinds nothing is taken. The name of the job that it changed; null: of none, or of all. */
export function applyCron(book: CronBook, record: { readonly k: string } & Fields): string | null {
  if (record.k !== 'cron') return null;
  const name = typeof record['name'] === 'string' ? record['name'] : '';
  if (typeof record['s'] === 'number' && String(record['what']).startsWith('job')) {
    book.told.set(name, record['s']);
  }
  switch (record['what']) {
    case 'job':
      return applyJob(book, name, record['body']);
    case 'job.removed':
      book.jobs.delete(name);
      book.broken.delete(name);
      book.ledgers.delete(name);
      return name;
    case 'slot':
      return applySlot(book, name, record);
    case 'clock.back':
      book.furthest = Math.min(book.furthest, momentOf(record['to']));
      for (const ledger of book.ledgers.values()) {
        if (ledger.cursor !== null) ledger.cursor = Math.min(ledger.cursor, momentOf(record['to']));
      }
      return null;
    default:
      return null;
  }
}

function applyJob(book: CronBook, name: string, body: unknown): string {
  const read = readJob(body, book.zones);
  const why = read.kind === 'broken' ? read.why : read.job.name === name ? null : 'another name';
  if (why !== null || read.kind === 'broken') {
    book.jobs.delete(name);
    if (book.broken.size < BROKEN_MAX) book.broken.set(name, { name, why: why ?? '', value: body });
    return name;
  }
  book.broken.delete(name);
  // What is changed of a job keeps its history; one that was added anew begins its own.
  const { job, timetable } = read;
  book.jobs.set(name, { job, timetable, ledger: ledgerOf(book, name, job.id) });
  return name;
}

const JOB_LINE = /"k":"cron".*?"what":"job(?:\.removed)?","name":"([a-z0-9][a-z0-9_-]{0,47})"/;

/**
 * A line of the journal that is damaged, with the sequence it stood at: the newest word on a job that can't be believed any
 * more. The job is set aside, rather than that an older word on it counts. Applied after all records.
 */
export function applyDamaged(book: CronBook, line: string, seq: number): void {
  const [, name] = JOB_LINE.exec(line) ?? [];
  if (name === undefined || (book.told.get(name) ?? 0) > seq) return;
  book.jobs.delete(name);
  if (book.broken.size >= BROKEN_MAX) return;
  const why = 'its line in the journal is damaged, or was edited by hand';
  book.broken.set(name, { name, why, value: null });
}

function ledgerOf(book: CronBook, name: string, job: string): Ledger {
  const known = book.ledgers.get(name);
  if (known?.job === job) return known;
  const ledger = { job, cursor: null, n: 0, runs: 0, history: new Map(), open: new Set<number>() };
  book.ledgers.set(name, ledger);
  return ledger;
}

const STATES: ReadonlySet<string> = new Set([
  'queued',
  'running',
  'done',
  'failed',
  'cancelled',
  'budget',
  'replaced',
  'interrupted',
  'skipped',
]);

function applySlot(book: CronBook, name: string, record: Fields): string | null {
  const slot = record['body'] as CronSlot | undefined;
  if (typeof slot?.job !== 'string' || !Number.isSafeInteger(slot.n)) return null;
  const at = momentOf(slot.until ?? slot.slot);
  if (!STATES.has(slot.state) || Number.isNaN(at)) return null;
  const ledger = ledgerOf(book, name, slot.job);
  ledger.history.set(slot.n, slot);
  ledger.n = Math.max(ledger.n, slot.n);
  if (slot.trigger !== 'person') {
    ledger.cursor = Math.max(ledger.cursor ?? at, at);
    book.furthest = Math.max(book.furthest, at);
  }
  if (typeof record['runs'] === 'number') ledger.runs = Math.max(ledger.runs, record['runs']);
  if (slot.state === 'queued' || slot.state === 'running') ledger.open.add(slot.n);
  else ledger.open.delete(slot.n);
  for (const n of ledger.history.keys()) {
    if (ledger.history.size <= HISTORY_MAX) break;
    if (!ledger.open.has(n)) ledger.history.delete(n);
  }
  return name;
}

function momentOf(value: unknown): number {
  return typeof value === 'string' ? Date.parse(value) : Number.NaN;
}

/**
 * What the workspace journal keeps of a record: the newest word on each job, and of its entries a ring, so that a job that
 * fires each second does not grow it. Null: it is none of cron's.
 */
export function cronKey(record: Fields): { readonly key: string; readonly end: boolean } | null {
  const { k, what, name, body } = record;
  if (k !== 'cron' || typeof name !== 'string') return null;
  if (what === 'job' || what === 'job.removed') {
    return { key: `cron ${name}`, end: what === 'job.removed' };
  }
  if (what === 'clock.back') return { key: 'cron-clock', end: false };
  const n = (body as CronSlot | undefined)?.n;
  if (what !== 'slot' && what !== 'slot.dropped') return null;
  return { key: `cron-slot ${name} ${(n ?? 0) % HISTORY_MAX}`, end: what === 'slot.dropped' };
}
