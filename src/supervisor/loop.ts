/**
 * The loop of one run: takes events from the inbox one by one, decides, appends the record, applies it, and hands the
 * effects to the executor once the record is durable. Order is fixed: append, then act (design §3).
 *
 * Invariants
 * - S5 Effects are executed in the order of their decisions, none before its record is on stable storage.
 * - S7 On a full disk what was begun is recorded from the journal's reserve (`decide/full-disk.ts`); then the run stops.
 * - S6 A failed journal is fail-stop: nothing more is decided, everything is ended, the run is taken up by a later term.
 */

import type { Journal, RecordBody } from '../journal/index.ts';
import {
  type Clock,
  ensureError,
  fromErrorShape,
  isoTime,
  isTroupeError,
  type Logger,
  type TroupeError,
} from '../kernel/index.ts';
import { type ChainKeys, type ChainTip, isAudited, markFor } from '../permissions/index.ts';
import type { Envelope, RunRecord, StoredRunRecord } from '../protocol/index.ts';
import { fullShape, NO_SPACE_TEXT } from './decide/full-disk.ts';
import { decide, noticedBy, settle } from './decide/index.ts';
import type { Draft } from './draft.ts';
import type { Effect } from './effect.ts';
import { type Answered, Executor, type ExecutorDeps } from './effects/executor.ts';
import { Intake } from './effects/intake.ts';
import { Looking } from './effects/looking.ts';
import { noteLetter, type ViewFiles } from './effects/views.ts';
import { inboxFull } from './errors.ts';
import type { Happening, RunEvent, Token } from './inbox.ts';
import { InboxQueue } from './inbox-queue.ts';
import {
  AUDIT_HEAD_STEP,
  COMMIT_BYTES_MAX,
  COMMIT_RECORDS_MAX,
  INBOX_BYTES_MAX,
} from './limits.ts';
import type { Live } from './live.ts';
import { byReference, type Outgoing, textOf } from './outtake.ts';
import type { PolicySource } from './policy-source.ts';
import { taskRows } from './rows.ts';
import type { SnapshotFormat } from './snapshot.ts';
import { Snapshotter } from './snapshotter.ts';
import { applyRecord, type RunState } from './state.ts';
import type { Damage } from './take-up.ts';
import { putTaskTexts } from './task-texts.ts';

export interface LoopDeps
  extends Omit<ExecutorDeps, 'post' | 'fail' | 'answer' | 'refuse' | 'durableSeq' | 'closeRun'> {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly journal: Journal;
  readonly views: Pick<
    ViewFiles,
    'note' | 'noteTasks' | 'flush' | 'hurry' | 'close' | 'sizes' | 'sync'
  >;
  readonly format: SnapshotFormat;
  /** Chains the log for the audit. */
  readonly audit?: { readonly keys: ChainKeys; head(tip: ChainTip): Promise<void> };
  readonly damage: Damage;
  /** Trees that are not as the last term left them. */
  readonly trees?: readonly string[];
  /** Where the policy comes from, and its mark when it was read; without it the policy never changes. */
  readonly policy?: { readonly source: PolicySource; readonly mark: string };
  readonly onRecord: (record: StoredRunRecord) => void;
}

/** A decision whose record is on its way to the disk. */
interface Pending {
  readonly seq: number | null;
  readonly record: StoredRunRecord | null;
  /** Letters that it put into mailboxes. */
  readonly letters: readonly Envelope[];
  readonly effects: readonly Effect[];
}

const FULL: ReadonlySet<string> = new Set(['journal/full', 'supervisor/full']);

interface Answer {
  readonly resolve: (answer: Answered) => void;
  readonly reject: (error: Error) => void;
}

export class RunLoop {
  readonly state: RunState;
  readonly live: Live;
  /** What the journal had lost when it was opened, for people. */
  readonly damage: readonly string[];
  readonly trees: readonly string[];
  /** Resolves when the run has ended or was interrupted and nothing of it is left; rejects when the journal failed. */
  readonly finished: Promise<void>;
  private readonly deps: LoopDeps;
  private readonly executor: Executor;
  private readonly intake: Intake;
  private readonly snapshots: Snapshotter;
  private readonly inbox = new InboxQueue();
  private readonly looking: Looking | undefined;
  private readonly pending: Pending[] = [];
  private readonly answers = new Map<Token, Answer>();
  private readonly end: Answer;
  private durableSeq: number;
  /** Where the audit chain stood when the last record became durable: what the journal refused is no part of it. */
  private durableTip: ChainTip;
  /** Records that are not durable yet. */
  private uncommitted = 0;
  private busy = false;
  private closed = false;
  private tokens = 0;
  private failure: Error | null = null;
  private full: TroupeError | null = null;

  constructor(state: RunState, live: Live, deps: LoopDeps) {
    this.state = state;
    this.live = live;
    this.deps = deps;
    this.durableSeq = deps.journal.durableSeq;
    this.durableTip = state.audit;
    this.damage = deps.damage.known;
    this.trees = deps.trees ?? [];
    void deps.damage.more.then((damage) => {
      if (damage.length > 0 && !this.closed) this.post({ type: 'damaged', damage });
    });
    let end: Answer = { resolve: () => undefined, reject: () => undefined };
    this.finished = new Promise<void>((resolve, reject) => {
      end = { resolve: () => resolve(), reject };
    });
    this.end = end;
    this.finished.catch(() => undefined);
    this.looking = this.makeLooking();
    this.intake = new Intake({
      blobs: deps.blobs,
      looking: this.looking,
      decide: (event) => this.work(event),
      failed: (event, error) => this.notStored(event, error),
    });
    this.snapshots = new Snapshotter(deps, state.lastSeq);
    this.executor = new Executor({
      ...deps,
      post: (event) => this.post(event),
      fail: (error) => this.failed(error),
      answer: (token, answered) => this.take(token)?.resolve(answered),
      refuse: (token, error) => this.take(token)?.reject(fromErrorShape(error)),
      durableSeq: () => this.durableSeq,
      closeRun: () => this.closeRun(),
    });
    void deps.journal.failed.then((error) => this.fail(error));
    void deps.journal.full.then((error) => this.diskFull(error));
  }

  private makeLooking(): Looking | undefined {
    const { policy, logger } = this.deps;
    if (policy === undefined) return undefined;
    const { state, live } = this;
    const decide = (event: RunEvent): void => this.work(event);
    return new Looking({ source: policy.source, state, live, logger, decide }, policy.mark);
  }

  /** Takes an event in: what is large in it is stored first (M8). */
  post(event: RunEvent): void {
    this.intake.take(event);
  }

  /** Resolves when the policy as it is now was decided on. */
  async lookAgain(): Promise<void> {
    if (this.failure === null && this.state.run.ended === null) await this.looking?.refresh();
  }

  /** Puts an event into the inbox and works that off, unless it is being done. */
  private work(event: RunEvent): void {
    this.inbox.push(event);
    this.workOff();
  }

  /** S9: what actors and clients want waits while much is on its way to the disk, and then they take turns. */
  private workOff(): void {
    if (this.busy) return;
    this.busy = true;
    try {
      for (;;) {
        const next = this.inbox.take(this.hasRoom());
        if (next === undefined) break;
        if (this.failure === null) this.handle(next);
      }
    } catch (thrown) {
      this.fail(ensureError(thrown));
    } finally {
      this.busy = false;
    }
    this.release();
  }

  private hasRoom(): boolean {
    if (this.failure !== null || this.uncommitted === 0) return true;
    return (
      this.uncommitted < COMMIT_RECORDS_MAX && this.deps.journal.queuedBytes < COMMIT_BYTES_MAX
    );
  }

  /** Posts an event that carries a token; resolves with the answer, once it is durable. */
  ask(make: (token: Token) => RunEvent): Promise<Answered> {
    if (this.failure !== null) return Promise.reject(this.failure);
    if (this.inbox.bytes > INBOX_BYTES_MAX) return Promise.reject(inboxFull(this.state.file.id));
    this.tokens += 1;
    const token = this.tokens;
    return new Promise((resolve, reject) => {
      this.answers.set(token, { resolve, reject });
      this.post(make(token));
    });
  }

  /** Resolves when everything decided until now is durable; rejects when the journal failed. */
  async recorded(): Promise<void> {
    await this.deps.journal.flush();
    if (this.failure !== null) throw this.failure;
  }

  private handle(event: RunEvent): void {
    const { clock } = this.deps;
    const happening: Happening = { event, now: clock.now(), monotonicMs: clock.monotonicMs() };
    this.commit(decide(this.state, this.live, happening));
    for (;;) {
      const next = settle(this.state, this.live, happening);
      if (next === null) break;
      this.commit(next);
    }
    // On a full disk the space is for records.
    if (this.full === null) this.snapshots.consider(this.state, happening.monotonicMs);
  }

  private commit(draft: Draft): void {
    const record = draft.record();
    const { effects } = draft;
    if (record === null) {
      if (effects.length > 0) this.pending.push({ seq: null, record: null, letters: [], effects });
      return;
    }
    const out = byReference(record, this.live.hash);
    const marked = this.chained(out.record);
    const after = out.payloads.size === 0 ? undefined : this.store(out, record);
    const { seq, durable } = this.deps.journal.append({ ...marked }, { reserved: true, after });
    const stored: StoredRunRecord = { ...marked, s: seq, d: this.durableSeq };
    this.uncommitted += 1;
    const letters: Envelope[] = [];
    applyRecord(this.state, stored, (change) => noteLetter(letters, change));
    if (stored.texts !== undefined) putTaskTexts(this.state, (ref) => textOf(out, ref));
    // Before the rest: the end of a run is also the end of its processes, and waits for hooks that run.
    const noticed = noticedBy(this.live, this.state, stored);
    this.pending.push({ seq, record: stored, letters, effects: [...noticed, ...effects] });
    durable.then(
      () => {
        this.durableSeq = Math.max(this.durableSeq, seq);
        this.durableTip = stored.audit ?? this.durableTip;
        this.uncommitted -= 1;
        this.release();
        if (this.inbox.size > 0) this.workOff();
      },
      (thrown: unknown) => this.fail(ensureError(thrown)),
    );
  }

  /**
   * J21. Without room for files the record is written whole, from the reserve (S7); what the audit chain has marked stays
   * as it was marked, and the answer with the call has the whole.
   */
  private async store({ payloads }: Outgoing, whole: RunRecord): Promise<RecordBody | null> {
    try {
      for (const bytes of payloads.values()) await this.deps.blobs.put(bytes);
      return null;
    } catch (thrown) {
      if (!this.noteFull(ensureError(thrown))) throw thrown;
      return isAudited({ ...whole }) ? null : { ...whole };
    }
  }

  /** P50. */
  private chained(record: RunRecord, tip: ChainTip = this.state.audit): RunRecord {
    const { audit } = this.deps;
    if (audit === undefined || !isAudited({ ...record })) return record;
    return { ...record, audit: markFor({ ...record }, tip, audit.keys) };
  }

  /** S5: hands over what is durable, in order. */
  private release(): void {
    if (this.busy) return;
    for (;;) {
      const head = this.pending[0];
      if (head === undefined || (head.seq !== null && head.seq > this.durableSeq)) return;
      this.pending.shift();
      if (this.failure !== null) continue;
      if (head.record !== null) this.announce(head.record, head.letters);
      for (const effect of head.effects) this.executor.execute(effect, head.seq);
    }
  }

  private announce(record: StoredRunRecord, letters: readonly Envelope[]): void {
    const { views } = this.deps;
    views.note(record, letters);
    if (record.tasks !== undefined || record.run !== undefined) {
      const alive = this.state.run.ended === null;
      views.noteTasks(() => taskRows(this.state, { alive, phases: {} }));
    }
    void views.flush();
    this.snapshots.announced(record.s);
    this.noteHead(record);
    this.deps.onRecord(record);
  }

  /** P51. */
  private noteHead({ audit: mark, run }: StoredRunRecord): void {
    if (mark === undefined) return;
    if (mark.n % AUDIT_HEAD_STEP === 0 || run !== undefined) void this.deps.audit?.head(mark);
  }

  /** Nothing of a client's mail was taken in; what an actor did can't be left out: without room for a file it is inline. */
  private notStored(event: RunEvent, error: Error): void {
    const isFull = this.noteFull(error);
    if (event.type === 'send') this.take(event.token)?.reject(this.full ?? error);
    else if (isFull) this.work(event);
    else this.fail(error);
  }

  private failed(error: Error): void {
    if (!this.noteFull(error)) this.fail(error);
  }

  /** S7: whether it was that. */
  private noteFull(error: Error): boolean {
    if (!isTroupeError(error) || !FULL.has(error.code)) return false;
    this.diskFull(error);
    return true;
  }

  private diskFull(error: TroupeError): void {
    if (this.full !== null) return;
    const shape = fullShape(error, this.state);
    this.full = fromErrorShape(shape);
    // Who runs it is told by the error that it ends with.
    this.deps.logger.log('info', 'the disk is full: the run stops', { cause: error.message });
    this.work({ type: 'disk.full', error: shape });
  }

  private take(token: Token): Answer | undefined {
    const answer = this.answers.get(token);
    this.answers.delete(token);
    return answer;
  }

  /** After `stopped`: what its record asked for is done, then files are closed. */
  private async closeRun(): Promise<void> {
    await this.intake.idle();
    while (this.inbox.size > 0) await this.deps.journal.flush();
    this.closed = true;
    do {
      await this.deps.journal.flush();
      this.release();
    } while (await this.executor.drain());
    await this.deps.audit?.head(this.state.audit);
    this.deps.views.hurry();
    if (this.full === null) await this.snapshots.leave(this.state);
    await this.deps.views.close();
    await this.deps.journal.close({ seal: true });
    this.rejectAnswers(new Error('the run has ended'));
    // Ended by itself at the same time, it needs nobody to take it up.
    if (this.full !== null && this.state.run.ended === null) this.end.reject(this.full);
    else this.end.resolve({ value: undefined, seq: this.durableSeq });
  }

  /** S6. What is running is ended by force; the journal is left as it is. */
  private fail(error: Error): void {
    if (this.failure !== null) return;
    // Without room for what was begun; it is resumed as after an orderly stop.
    const isFull = isTroupeError(error) && FULL.has(error.code);
    this.failure = isFull ? fromErrorShape(fullShape(error, this.state)) : error;
    const level = isFull ? 'info' : 'error';
    this.deps.logger.log(level, 'the run cannot go on', { cause: error.message });
    void this.abandon(this.failure);
  }

  private async abandon(cause: Error): Promise<void> {
    await this.executor.abandon();
    await this.tellFull(cause);
    await Promise.allSettled([this.deps.journal.close({ seal: false }), this.deps.views.close()]);
    this.rejectAnswers(cause);
    this.end.reject(cause);
  }

  /** The journal keeps the last of its reserve for this one record: why the run stands still. */
  private async tellFull(cause: Error): Promise<void> {
    const { journal, clock } = this.deps;
    if (!isTroupeError(cause) || cause.code !== 'journal/full') return;
    const record = {
      at: isoTime(clock.now()),
      run: [{ type: 'run.interrupted', text: NO_SPACE_TEXT }],
    };
    try {
      const last = this.chained({ k: 'run', ...record } as RunRecord, this.durableTip);
      await journal.append({ ...last, k: 'run' }, { reserved: 'last' }).durable;
    } catch (thrown) {
      this.deps.logger.log('error', 'nothing more could be recorded', {
        cause: ensureError(thrown).message,
      });
    }
  }

  private rejectAnswers(error: Error): void {
    for (const answer of this.answers.values()) answer.reject(error);
    this.answers.clear();
  }
}
