/**
 * Fires jobs. What the pure decisions say is appended and durable before anything is done (C9), one change after another;
 * one timer waits for the earliest job.
 *
 * Invariants:
 *   C9   A slot is on record before it begins, so that after any crash it is known, and never begun as a new one.
 *   C10  Whatever fails in one job (its record, its run, its notice) is an entry in its history; the others go on.
 */
import {
  applyCron,
  applyDamaged,
  CLOCK_BACK_MAX_MS,
  type CronBook,
  DueHeap,
  decideDue,
  decideNext,
  decideTrigger,
  dueAt,
  type Entry,
  emptyBook,
  ended,
  JOBS_MAX,
  type JobFacts,
  readJob,
  type Verdict,
} from '../../cron/index.ts';
import type { Journal } from '../../journal/index.ts';
import { ensureError, isoTime } from '../../kernel/index.ts';
import type { CronEdit, CronEditResult, CronJob, CronSlot } from '../../protocol/index.ts';
import { CRON_LOOK_MS, CRON_TURN } from '../limits.ts';
import type { SchedulerDeps } from './contract.ts';
import { cronErrors } from './errors.ts';
import { fire, outputOf, type SlotEnd, takeUp } from './firing.ts';
import { notify } from './notify.ts';

type CronRecord = { readonly k: 'cron'; readonly what: string; readonly [field: string]: unknown };

export class CronScheduler {
  readonly book: CronBook = emptyBook();
  readonly #deps: SchedulerDeps;
  readonly #heap: DueHeap<{ readonly name: string; readonly ticket: number }> = new DueHeap();
  /** The one entry of each job in the heap that counts. */
  readonly #tickets: Map<string, number> = new Map();
  /** By job: the slot that a newer one replaces. */
  readonly #replaced: Set<string> = new Set();
  readonly #working: Set<Promise<void>> = new Set();
  #journal: Journal | null = null;
  #ticket = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #timer: { readonly at: number; readonly stop: AbortController } | null = null;
  #latest = 0;
  #state: 'idle' | 'armed' | 'closed' = 'idle';

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
  }

  get armed(): boolean {
    return this.#state === 'armed';
  }

  /** One record of the workspace journal, in order. */
  take(record: { readonly k: string; readonly [field: string]: unknown }): void {
    applyCron(this.book, record);
  }

  /** A line of it that is lost. */
  takeDamaged(line: string, seq: number): void {
    applyDamaged(this.book, line, seq);
  }

  open(journal: Journal): void {
    this.#journal = journal;
  }

  /** Takes up what was cut off, then waits for what is due. Does nothing in a supervisor that does not stay. */
  async start(): Promise<void> {
    if (this.#deps.host?.armed !== true || this.#state !== 'idle') return;
    this.#state = 'armed';
    this.#latest = this.#deps.clock.now();
    await this.#deps.commands.sweep();
    await this.#inTurn(async () => {
      await this.#lookAtClock(this.#deps.clock.now());
      for (const facts of this.book.jobs.values()) await this.#recover(facts);
    });
    for (const name of this.book.jobs.keys()) this.#schedule(name);
    this.#arm();
  }

  /** Durable when it resolves. Throws `cron/…`. */
  edit(edit: CronEdit, by: string): Promise<CronEditResult> {
    return this.#inTurn(() => this.#edit(edit, by));
  }

  /** Runs that go on are stopped by the supervisor; their slots stay open, and the next term takes them up. */
  async close(): Promise<void> {
    this.#state = 'closed';
    this.#timer?.stop.abort();
    await this.#deps.commands.close();
    await this.#turn.catch(() => undefined);
  }

  /** After the runs have ended. */
  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.allSettled(this.#working);
    await this.#turn.catch(() => undefined);
  }

  async #edit(edit: CronEdit, by: string): Promise<CronEditResult> {
    const now = this.#deps.clock.now();
    const name = edit.type === 'add' ? edit.job.name : edit.name;
    if (edit.type === 'add') {
      if (this.book.jobs.has(name) || this.book.broken.has(name)) throw cronErrors.exists(name);
      if (this.book.jobs.size >= JOBS_MAX) throw cronErrors.full(JOBS_MAX);
      const read = readJob(edit.job, this.book.zones);
      if (read.kind === 'broken') throw cronErrors.broken(name, read.why);
      await this.#append([jobRecord(edit.job, now)]);
    } else if (edit.type === 'remove') {
      await this.#remove(name, now);
    } else if (edit.type === 'trigger') {
      if (!this.armed) throw cronErrors.notUp(name);
      const verdict = decideTrigger(this.#facts(name), now);
      await this.#carryOut([{ name, verdict }]);
      return this.#told(name, verdict);
    } else {
      const facts = this.#facts(name);
      // What was due while it was paused is told before it goes on.
      if (edit.type === 'resume' && facts.job.paused) {
        await this.#append(entryRecords(decideDue(facts, now, 'paused').entries, now));
      }
      await this.#append([jobRecord({ ...facts.job, paused: edit.type === 'pause', by }, now)]);
    }
    this.#schedule(name);
    this.#arm();
    return { name, armed: this.armed, state: null, run: null };
  }

  #told(name: string, { entries }: Verdict): CronEditResult {
    const last = entries.at(-1)?.slot;
    return { name, armed: true, state: last?.state ?? null, run: last?.run ?? null };
  }

  async #remove(name: string, now: number): Promise<void> {
    const facts = this.book.jobs.get(name);
    if (facts === undefined && !this.book.broken.has(name)) throw this.#unknown(name);
    const at = isoTime(now);
    const slots = [...(this.book.ledgers.get(name)?.history.values() ?? [])];
    await this.#append([
      ...slots.map(({ n }) => ({
        k: 'cron' as const,
        at,
        what: 'slot.dropped',
        name,
        body: { n },
      })),
      { k: 'cron', at, what: 'job.removed', name },
    ]);
    for (const slot of slots) if (slot.state === 'running') this.#stop(slot, `${name} is removed`);
  }

  #facts(name: string): JobFacts {
    const facts = this.book.jobs.get(name);
    if (facts === undefined) throw this.#unknown(name);
    return facts;
  }

  #unknown(name: string): Error {
    const broken = this.book.broken.get(name);
    if (broken !== undefined) return cronErrors.broken(name, broken.why);
    return cronErrors.unknown(name, [...this.book.jobs.keys()]);
  }

  #schedule(name: string): void {
    const facts = this.book.jobs.get(name);
    const due = facts === undefined ? null : dueAt(facts);
    if (!this.armed || due === null) {
      this.#tickets.delete(name);
      return;
    }
    this.#ticket += 1;
    this.#tickets.set(name, this.#ticket);
    this.#heap.add(due.at, { name, ticket: this.#ticket });
  }

  #arm(): void {
    const first = this.#heap.firstAt();
    if (!this.armed || first === null) return;
    const { clock } = this.#deps;
    // Timers know nothing of a clock that is set, or of sleep: it is looked at again and again.
    const at = Math.min(first, clock.now() + CRON_LOOK_MS);
    if (this.#timer !== null && this.#timer.at <= at) return;
    this.#timer?.stop.abort();
    const stop = new AbortController();
    this.#timer = { at, stop };
    clock.sleep(Math.max(0, at - clock.now()), stop.signal).then(
      () => {
        this.#timer = null;
        return this.#inTurn(() => this.#look());
      },
      () => undefined,
    );
  }

  async #look(): Promise<void> {
    const now = this.#deps.clock.now();
    await this.#lookAtClock(now);
    const due: { name: string; verdict: Verdict }[] = [];
    while ((this.#heap.firstAt() ?? Number.POSITIVE_INFINITY) <= now && due.length < CRON_TURN) {
      const taken = this.#heap.take();
      if (taken === null || this.#tickets.get(taken.name) !== taken.ticket) continue;
      const facts = this.book.jobs.get(taken.name);
      if (facts !== undefined) due.push({ name: taken.name, verdict: decideDue(facts, now) });
    }
    await this.#carryOut(due);
    for (const { name } of due) this.#schedule(name);
    this.#arm();
  }

  /** A clock that was set back a little is waited for; one that was set back far was wrong before. */
  async #lookAtClock(now: number): Promise<void> {
    const before = this.#latest;
    this.#latest = now;
    if (before === now) return;
    const furthest = Math.max(before, this.book.furthest);
    if (furthest - now <= CLOCK_BACK_MAX_MS) return;
    const at = isoTime(now);
    await this.#append([
      { k: 'cron', at, what: 'clock.back', name: '', from: isoTime(furthest), to: at },
    ]);
    this.#deps.logger.log('warn', 'the clock was set back: jobs go on from its new time', {
      from: isoTime(furthest),
      to: at,
    });
    for (const name of this.book.jobs.keys()) this.#schedule(name);
  }

  /** Record, then act (C9). */
  async #carryOut(
    all: readonly { readonly name: string; readonly verdict: Verdict }[],
  ): Promise<void> {
    const now = this.#deps.clock.now();
    await this.#append(all.flatMap(({ verdict }) => entryRecords(verdict.entries, now)));
    for (const { name, verdict } of all) {
      const facts = this.book.jobs.get(name);
      if (facts === undefined) continue;
      const { begin, replace } = verdict;
      if (replace !== null) {
        this.#replaced.add(keyOf(replace));
        this.#stop(replace, `a newer slot of ${name}`);
      }
      if (begin !== null) this.#work(begin, fire(this.#deps, facts.job, begin));
    }
  }

  /** What was open when the last term ended. */
  async #recover(facts: JobFacts): Promise<void> {
    const { job, ledger } = facts;
    for (const n of [...ledger.open].toSorted((a, b) => a - b)) {
      const slot = ledger.history.get(n);
      if (slot?.state !== 'running') continue;
      const isRun = job.work.kind === 'team' || job.work.kind === 'prompt';
      if (job.work.kind === 'mail' || (isRun && job.onCrash === 'resume')) {
        this.#work(slot, takeUp(this.#deps, job, slot));
        continue;
      }
      const effects = isRun ? 'see its run' : 'its effects are unknown';
      const reason = `cut off by the end of the supervisor; ${effects}`;
      const end: SlotEnd = { state: 'interrupted', reason, costUsd: null };
      await this.#end(slot, end);
    }
    if ([...ledger.open].every((n) => ledger.history.get(n)?.state !== 'running')) {
      await this.#next(job.name);
    }
  }

  #work(slot: CronSlot, firing: Promise<SlotEnd>): void {
    const work = firing.then((end) => {
      // What the end of the supervisor has cut off stays open for the next one.
      if (this.#state === 'closed' && end.state === 'interrupted') return;
      return this.#inTurn(async () => {
        const replaced = this.#replaced.delete(keyOf(slot)) && end.state === 'interrupted';
        const reason = 'a newer slot took its place';
        await this.#end(slot, replaced ? { ...end, state: 'replaced', reason } : end);
        await this.#next(slot.name);
      });
    });
    const watched = work
      .then(undefined, () => undefined)
      .finally(() => this.#working.delete(watched));
    this.#working.add(watched);
  }

  async #end(slot: CronSlot, end: SlotEnd): Promise<void> {
    const facts = this.book.jobs.get(slot.name);
    if (facts?.job.id !== slot.job) return;
    const now = this.#deps.clock.now();
    const whole = ended(slot, end, isoTime(now));
    await this.#append(entryRecords([{ slot: whole, runs: facts.ledger.runs }], now));
    notify(this.#deps, facts.job, whole);
  }

  async #next(name: string): Promise<void> {
    const facts = this.book.jobs.get(name);
    if (facts === undefined || !this.armed) return;
    await this.#carryOut([{ name, verdict: decideNext(facts, this.#deps.clock.now()) }]);
  }

  #stop(slot: CronSlot, by: string): void {
    if (slot.run === null) this.#deps.commands.kill(outputOf(slot));
    else this.#deps.runs.stop(slot.run, by).catch(() => undefined);
  }

  async #append(records: readonly CronRecord[]): Promise<void> {
    const journal = this.#journal;
    if (journal === null || records.length === 0) return;
    const written = records.map((record) => journal.append(record).durable);
    await Promise.all(written);
    for (const record of records) applyCron(this.book, record);
  }

  /** One after another. A failed journal is fail-stop: nothing is fired any more. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch((error: unknown) => {
      if (ensureError(error).name === 'TroupeError' && codeOf(error).startsWith('cron/')) return;
      this.#deps.logger.log('error', `cron stopped: ${ensureError(error).message}`);
      if (this.#state === 'armed') this.#state = 'closed';
    });
    return turn;
  }
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

function keyOf({ name, job, n }: CronSlot): string {
  return `${name} ${job} ${n}`;
}

function jobRecord(job: CronJob, now: number): CronRecord {
  return { k: 'cron', at: isoTime(now), what: 'job', name: job.name, body: job };
}

function entryRecords(entries: readonly Entry[], now: number): CronRecord[] {
  const at = isoTime(now);
  return entries.map(({ slot, runs }) => ({
    k: 'cron',
    at,
    what: 'slot',
    name: slot.name,
    runs,
    body: slot,
  }));
}
