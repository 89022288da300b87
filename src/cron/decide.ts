/**
 * What becomes of the slots of a job: pure, over its facts and the time. What it says is recorded before anything is done.
 *
 * Invariants:
 *   C6  A slot is entered once, in the order of slots: started, put in the queue, or skipped with the reason. So of two
 *       supervisors that follow each other the second goes on where the records of the first end.
 *   C7  Of a job one slot runs at a time. What is due meanwhile is skipped, waits, or takes its place, by `overlap`.
 *   C8  Slots that nobody was there for follow `catchUp`: none, the newest, or the newest `max` in order, one after another.
 */
import type { CronSlot, CronSlotState } from '../protocol/cron.ts';
import type { JobFacts, Ledger } from './book.ts';
import { jitterOf } from './job.ts';
import { COUNTED_MAX, HISTORY_MAX, LATE_MS, QUEUE_MAX } from './limits.ts';

/** A slot of `until`, `count` and `reason` as they will be recorded. */
export interface Entry {
  readonly slot: CronSlot;
  /** Cumulative starts by the schedule. */
  readonly runs: number;
}

export interface Verdict {
  /** To be recorded, in order. */
  readonly entries: readonly Entry[];
  /** Of those, what begins now. */
  readonly begin: CronSlot | null;
  /** What runs has to end first: a newer slot takes its place. */
  readonly replace: CronSlot | null;
}

const NOTHING: Verdict = { entries: [], begin: null, replace: null };

/** When the job is looked at next: its next slot with its jitter. Null: never, or not while it is paused. */
export function dueAt(facts: JobFacts): { readonly slot: number; readonly at: number } | null {
  const { job, timetable } = facts;
  if (job.paused || spent(facts)) return null;
  const slot = timetable.next(cursorOf(facts));
  return slot === null ? null : { slot, at: slot + jitterOf(job, slot) };
}

function cursorOf({ job, ledger }: JobFacts): number {
  return ledger.cursor ?? Date.parse(job.createdAt) - 1;
}

function spent({ job, ledger }: JobFacts): boolean {
  return job.maxRuns !== null && ledger.runs >= job.maxRuns;
}

/** Everything that is due by `now`. `why` replaces the policy: all are skipped for this reason. */
export function decideDue(facts: JobFacts, now: number, why?: string): Verdict {
  if (spent(facts)) return NOTHING;
  const due = dueSlots(facts, now);
  if (due === null) return NOTHING;
  const pen = new Pen(facts, now);
  const chosen = why === undefined ? choose(facts, due, now) : [];
  const first = chosen[0] ?? null;
  const left = { ...due, count: due.count === null ? null : due.count - chosen.length };
  if (first === null) pen.skip(left, why ?? 'missed: nobody was there to start it');
  else if (left.count !== 0) {
    // The newest are taken; what is before them was missed.
    const until = due.newest[due.newest.length - chosen.length - 1] ?? first - 1;
    pen.skip({ ...left, last: until }, `missed: the newest is started instead`);
  }
  for (const slot of chosen)
    pen.take(slot, chosen.length > 1 || now - slot > LATE_MS + facts.job.jitterMs);
  return pen.verdict();
}

/** A person wants it now: no slot of the schedule, which goes on undisturbed. */
export function decideTrigger(facts: JobFacts, now: number): Verdict {
  const pen = new Pen(facts, now);
  pen.take(now, false, 'person');
  return pen.verdict();
}

/** What ran has ended: the oldest that waits is next. */
export function decideNext(facts: JobFacts, now: number): Verdict {
  const { open, history } = facts.ledger;
  const slots = [...open].flatMap((n) => history.get(n) ?? []).toSorted((a, b) => a.n - b.n);
  if (slots.some((slot) => slot.state === 'running')) return NOTHING;
  const [next] = slots;
  if (next === undefined) return NOTHING;
  const begin = started(next, facts, now);
  return { entries: [{ slot: begin, runs: facts.ledger.runs }], begin, replace: null };
}

export function ended(
  slot: CronSlot,
  end: {
    readonly state: CronSlotState;
    readonly reason: string | null;
    readonly costUsd: number | null;
  },
  at: string,
): CronSlot {
  return { ...slot, ...end, endedAt: at };
}

interface Due {
  readonly first: number;
  readonly last: number;
  /** Null: more than are counted. */
  readonly count: number | null;
  /** At most as many as may be caught up with, and one; oldest first. */
  readonly newest: readonly number[];
}

function dueSlots(facts: JobFacts, now: number): Due | null {
  const { job, timetable } = facts;
  const newest: number[] = [];
  let first: number | null = null;
  let count = 0;
  let at = timetable.next(cursorOf(facts));
  while (at !== null && at + jitterOf(job, at) <= now) {
    first ??= at;
    count += 1;
    newest.push(at);
    if (newest.length > QUEUE_MAX + 1) newest.shift();
    // Too many to walk through: on from where about as many are left as may be started.
    const near = now - 2 * QUEUE_MAX * ((at - first) / count);
    at = timetable.next(count === COUNTED_MAX ? Math.max(at, near) : at);
  }
  const last = newest.at(-1);
  if (first === null || last === undefined) return null;
  return { first, last, count: count >= COUNTED_MAX ? null : count, newest };
}

/** The slots that are started or wait, oldest first. */
function choose({ job, ledger }: JobFacts, due: Due, now: number): readonly number[] {
  const { catchUp, maxRuns } = job;
  const onTime = now - due.last <= LATE_MS + job.jitterMs;
  const wanted = catchUp.kind === 'all' ? catchUp.max : catchUp.kind === 'one' || onTime ? 1 : 0;
  const allowed = maxRuns === null ? wanted : Math.min(wanted, maxRuns - ledger.runs);
  return allowed === 0 ? [] : due.newest.slice(-allowed);
}

/** Writes the entries of one decision, each seeing the ones before it. */
class Pen {
  readonly #facts: JobFacts;
  readonly #now: number;
  readonly #entries: Entry[] = [];
  #n: number;
  #runs: number;
  #running: CronSlot | null;
  #waiting: number;
  #begin: CronSlot | null = null;
  #replace: CronSlot | null = null;

  constructor(facts: JobFacts, now: number) {
    const { ledger } = facts;
    this.#facts = facts;
    this.#now = now;
    this.#n = ledger.n;
    this.#runs = ledger.runs;
    const open = [...ledger.open].flatMap((n) => ledger.history.get(n) ?? []);
    this.#running = open.find((slot) => slot.state === 'running') ?? null;
    this.#waiting = open.length - (this.#running === null ? 0 : 1);
  }

  verdict(): Verdict {
    return { entries: this.#entries, begin: this.#begin, replace: this.#replace };
  }

  /** Skips for one reason that follow each other are one entry, so that they do not push out the history. */
  skip(
    { first, last, count }: Pick<Due, 'first' | 'last' | 'count'>,
    reason: string,
    trigger: CronSlot['trigger'] = 'schedule',
  ): void {
    const before = this.#facts.ledger.history.get(this.#n);
    const joined =
      this.#entries.length === 0 &&
      before?.state === 'skipped' &&
      before.reason === reason &&
      before.trigger === 'schedule' &&
      trigger === 'schedule'
        ? before
        : null;
    const together = joined?.count === null || count === null ? null : (joined?.count ?? 0) + count;
    const slot: CronSlot = {
      ...this.#blank(joined?.n ?? this.#nextN(), trigger),
      slot: joined?.slot ?? iso(first),
      until: joined === null && first === last ? null : iso(last),
      count: together,
      state: 'skipped',
      reason,
      endedAt: iso(this.#now),
    };
    this.#write(slot);
  }

  take(at: number, late: boolean, by?: 'person'): void {
    const { overlap } = this.#facts.job;
    const trigger = by ?? (late ? 'catch-up' : 'schedule');
    const running = this.#running ?? this.#begin;
    if (running === null && this.#waiting === 0) {
      this.#begin = started(this.#taken(at, trigger), this.#facts, this.#now);
      this.#write(this.#begin);
      return;
    }
    // What is caught up with comes one after another, whatever becomes of what overlaps.
    if (overlap === 'skip' && trigger !== 'catch-up') {
      const run = running?.run == null ? '' : ` (${running.run})`;
      this.skip(
        { first: at, last: at, count: 1 },
        `overlap: the one before still runs${run}`,
        trigger,
      );
    } else if (overlap === 'replace' && this.#waiting === 0) {
      this.#replace = this.#running;
      this.#wait(at, trigger);
    } else if (overlap === 'replace') {
      this.skip({ first: at, last: at, count: 1 }, 'overlap: one takes its place already', trigger);
    } else if (this.#waiting >= QUEUE_MAX) {
      const reason = `overlap: ${QUEUE_MAX} wait already`;
      this.skip({ first: at, last: at, count: 1 }, reason, trigger);
    } else this.#wait(at, trigger);
  }

  #wait(at: number, trigger: CronSlot['trigger']): void {
    this.#waiting += 1;
    this.#write({ ...this.#taken(at, trigger), state: 'queued' });
  }

  #taken(at: number, trigger: CronSlot['trigger']): CronSlot {
    if (trigger !== 'person') this.#runs += 1;
    return { ...this.#blank(this.#nextN(), trigger), slot: iso(at) };
  }

  #write(slot: CronSlot): void {
    this.#entries.push({ slot, runs: this.#runs });
  }

  #blank(n: number, trigger: CronSlot['trigger']): CronSlot {
    const { job } = this.#facts;
    return {
      name: job.name,
      job: job.id,
      n,
      slot: '',
      until: null,
      count: 1,
      trigger,
      state: 'queued',
      run: null,
      reason: null,
      startedAt: null,
      endedAt: null,
      costUsd: null,
    };
  }

  /** The ring of the journal must not lose one that has not ended. */
  #nextN(): number {
    this.#n += 1;
    while (takenPlace(this.#facts.ledger, this.#n)) this.#n += 1;
    return this.#n;
  }
}

function takenPlace({ open }: Ledger, n: number): boolean {
  for (const one of open) if (one % HISTORY_MAX === n % HISTORY_MAX) return true;
  return false;
}

function started(slot: CronSlot, { job }: JobFacts, now: number): CronSlot {
  const run = job.work.kind === 'team' || job.work.kind === 'prompt' ? runIdOf(slot) : null;
  return { ...slot, state: 'running', startedAt: iso(now), run };
}

/** The same for the same slot of the same job: a run that was begun is never begun again (C6). */
function runIdOf({ name, job, slot }: Pick<CronSlot, 'name' | 'job' | 'slot'>): string {
  const stamp = slot.toLowerCase().replaceAll(/[-:.z]/g, '');
  return `cron-${name.slice(0, 15)}-${job.slice(0, 6)}-${stamp}`;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}
