/**
 * The loop of one run: takes events from the inbox one by one, decides, appends the record, applies it, and executes the
 * effects once the record is durable. Order is fixed: append, then act (design §3).
 *
 * Invariants
 * - S5 Effects are executed in the order of their decisions, none before its record is on stable storage.
 * - S6 A failed journal is fail-stop: nothing more is decided, everything is ended, the run is taken up by a later term.
 */
import type { ActorHandle, ActorHost } from '../actors/index.ts';
import type { Journal } from '../journal/index.ts';
import {
  type ActorName,
  type Clock,
  ensureError,
  fromErrorShape,
  type Logger,
  type TroupeError,
} from '../kernel/index.ts';
import type { StoredRunRecord, Upward } from '../protocol/index.ts';
import { decide, settle } from './decide/index.ts';
import type { Draft } from './draft.ts';
import type { Effect } from './effect.ts';
import type { ProcessHost } from './effects/commands.ts';
import { type GitWork, messageOf } from './effects/git.ts';
import type { ViewFiles } from './effects/views.ts';
import type { CommandOutcome, Happening, RunEvent, Token } from './inbox.ts';
import { KILL_GRACE_MS } from './limits.ts';
import type { Live } from './live.ts';
import { taskRows } from './rows.ts';
import { applyRecord, type RunState } from './state.ts';

export interface LoopDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly journal: Journal;
  readonly git: GitWork;
  readonly processes: ProcessHost;
  readonly views: ViewFiles;
  readonly hosts: { readonly thread: ActorHost; readonly pool: ActorHost };
  readonly directories: { readonly journal: string; readonly outputs: string };
  readonly onRecord: (record: StoredRunRecord) => void;
  readonly onLive: (event: {
    actor: string;
    type: 'text' | 'thinking' | 'tooling';
    data: string;
  }) => void;
}

/** A decision whose record is on its way to the disk. */
interface Pending {
  readonly seq: number | null;
  readonly record: StoredRunRecord | null;
  readonly effects: readonly Effect[];
}

type Answer = { resolve: (value: unknown) => void; reject: (error: Error) => void };

export class RunLoop {
  readonly state: RunState;
  readonly live: Live;
  /** Resolves when the run has ended or was interrupted and nothing of it is left; rejects when the journal failed. */
  readonly finished: Promise<void>;
  private readonly deps: LoopDeps;
  private readonly inbox: RunEvent[] = [];
  private readonly pending: Pending[] = [];
  private readonly handles = new Map<ActorName, { handle: ActorHandle; incarnation: number }>();
  private readonly answers = new Map<Token, Answer>();
  private readonly inFlight = new Set<Promise<unknown>>();
  private readonly over = new AbortController();
  private readonly settleFinished: Answer;
  private durableSeq: number;
  private busy = false;
  private tokens = 0;
  private halted: Promise<void> | null = null;
  private failure: TroupeError | Error | null = null;

  constructor(state: RunState, live: Live, deps: LoopDeps) {
    this.state = state;
    this.live = live;
    this.deps = deps;
    this.durableSeq = deps.journal.durableSeq;
    let answer: Answer | null = null;
    this.finished = new Promise<void>((resolve, reject) => {
      answer = { resolve: () => resolve(), reject };
    });
    this.settleFinished = answer ?? { resolve: () => undefined, reject: () => undefined };
    this.finished.catch(() => undefined);
    void deps.journal.failed.then((error) => this.fail(error));
  }

  /** Puts an event into the inbox and works it off, unless that is being done. */
  post(event: RunEvent): void {
    this.inbox.push(event);
    if (this.busy) return;
    this.busy = true;
    try {
      for (let next = this.inbox.shift(); next !== undefined; next = this.inbox.shift()) {
        if (this.failure === null) this.handle(next);
      }
    } catch (thrown) {
      this.fail(ensureError(thrown));
    } finally {
      this.busy = false;
    }
    this.release();
  }

  /** Posts an event that carries a token; resolves with the answer, once it is durable. */
  ask(make: (token: Token) => RunEvent): Promise<unknown> {
    if (this.failure !== null) return Promise.reject(this.failure);
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
      if (next === null) return;
      this.commit(next);
    }
  }

  private commit(draft: Draft): void {
    const record = draft.record();
    if (record === null) {
      if (draft.effects.length > 0)
        this.pending.push({ seq: null, record: null, effects: draft.effects });
      return;
    }
    const { k, ...body } = record;
    const { seq, durable } = this.deps.journal.append({ k, ...body });
    const stored: StoredRunRecord = { ...record, s: seq, d: this.durableSeq };
    applyRecord(this.state, stored);
    this.pending.push({ seq, record: stored, effects: draft.effects });
    durable.then(
      () => {
        this.durableSeq = Math.max(this.durableSeq, seq);
        this.release();
      },
      (thrown: unknown) => this.fail(ensureError(thrown)),
    );
  }

  /** S5: executes what is durable, in order. */
  private release(): void {
    if (this.busy) return;
    for (;;) {
      const head = this.pending[0];
      if (head === undefined || (head.seq !== null && head.seq > this.durableSeq)) return;
      this.pending.shift();
      if (this.failure !== null) continue;
      if (head.record !== null) this.announce(head.record);
      for (const effect of head.effects) this.execute(effect, head.seq);
    }
  }

  private announce(record: StoredRunRecord): void {
    const { views } = this.deps;
    views.note(record);
    if (record.tasks !== undefined || record.run !== undefined) {
      views.noteTasks(() =>
        taskRows(this.state, { alive: this.state.run.ended === null, phases: {} }),
      );
    }
    void views.flush();
    this.deps.onRecord(record);
  }

  private execute(effect: Effect, seq: number | null): void {
    switch (effect.type) {
      case 'reply': {
        const { reply } = effect;
        const filled =
          reply.type === 'committed' ? { ...reply, seq: seq ?? this.durableSeq } : reply;
        this.handleOf(effect)?.post([{ type: 'reply', id: effect.id, reply: filled }]);
        return;
      }
      case 'answer':
        this.take(effect.token)?.resolve(effect.value);
        return;
      case 'refuse':
        this.take(effect.token)?.reject(fromErrorShape(effect.error));
        return;
      case 'actor.start':
        this.startActor(effect);
        return;
      case 'actor.post':
        this.handleOf(effect)?.post(effect.messages);
        return;
      case 'actor.interrupt':
        this.handleOf(effect)?.interrupt();
        return;
      case 'actor.stop':
        this.track(this.handleOf(effect)?.stop(effect.graceMs));
        return;
      case 'halt':
        this.halt(effect.graceMs);
        return;
      case 'sweep.later':
        this.sweepLater(effect.ms);
        return;
      case 'command.kill':
        this.deps.processes.kill(effect.id);
        return;
      case 'command.start':
        this.track(this.runCommand(effect));
        return;
      default:
        this.track(this.gitWork(effect));
    }
  }

  private async gitWork(
    effect: Extract<
      Effect,
      { type: `tree.${string}` | `view.${string}` | 'merge.compute' | 'ref.advance' }
    >,
  ): Promise<void> {
    const { git } = this.deps;
    switch (effect.type) {
      case 'tree.prepare': {
        const { task, fence } = effect;
        this.post({ type: 'tree.prepared', task, fence, outcome: await git.prepare(effect) });
        return;
      }
      case 'tree.commit': {
        const { task, fence } = effect;
        this.post({ type: 'tree.committed', task, fence, outcome: await git.commit(effect) });
        return;
      }
      case 'tree.drop':
        this.post({ type: 'tree.dropped', owner: effect.owner, ...(await git.drop(effect)) });
        return;
      case 'view.prepare':
        this.post({ type: 'view.ready', outcome: await git.view(effect) });
        return;
      case 'merge.compute': {
        const { task, fence } = effect;
        this.post({ type: 'merge.computed', task, fence, outcome: await git.merge(effect) });
        return;
      }
      case 'ref.advance':
        this.post({
          type: 'ref.advanced',
          task: effect.task,
          to: effect.to,
          moved: await git.advance(effect),
        });
    }
  }

  private async runCommand(effect: Extract<Effect, { type: 'command.start' }>): Promise<void> {
    const outcome = await this.commandOutcome(effect);
    this.post({ type: 'command.ended', id: effect.id, outcome });
  }

  private async commandOutcome(
    effect: Extract<Effect, { type: 'command.start' }>,
  ): Promise<CommandOutcome> {
    const { processes, git } = this.deps;
    const { id, command, timeoutMs, tailOnly, place } = effect;
    try {
      if (place.kind === 'tree') {
        const outcome = await processes.run({ id, command, cwd: place.path, timeoutMs, tailOnly });
        if (place.restore !== null && place.task !== null) {
          await git.restore(place.task, { path: place.path, commit: place.restore });
        }
        return outcome;
      }
      const scratch = await git.scratch(place.commit);
      try {
        return await processes.run({ id, command, cwd: scratch.path, timeoutMs, tailOnly });
      } finally {
        await scratch.drop();
      }
    } catch (thrown) {
      const text = messageOf(thrown);
      return { code: null, signal: null, why: 'failed', left: [], text, cut: false, durationMs: 0 };
    }
  }

  private startActor(effect: Extract<Effect, { type: 'actor.start' }>): void {
    const { start } = effect;
    const { name, incarnation } = start;
    const { journal, outputs } = this.deps.directories;
    const host = this.deps.hosts[effect.host];
    const full = {
      ...start,
      journalDirectory: journal,
      outputsDirectory: outputs,
      upToSeq: this.durableSeq,
    };
    const handle = host.start(full, {
      onRequests: (requests) => this.onRequests(name, incarnation, requests),
      onExit: (exit) => {
        if (this.handles.get(name)?.incarnation === incarnation) this.handles.delete(name);
        this.post({ type: 'actor.exited', name, incarnation, exit });
      },
    });
    this.handles.set(name, { handle, incarnation });
  }

  private onRequests(name: ActorName, incarnation: number, requests: readonly Upward[]): void {
    for (const upward of requests) {
      if (upward.request.type === 'live') {
        const { event, data } = upward.request;
        this.deps.onLive({ actor: name, type: event, data });
      }
      this.post({ type: 'request', name, incarnation, upward });
    }
  }

  private handleOf(effect: { name: ActorName; incarnation: number }): ActorHandle | null {
    const entry = this.handles.get(effect.name);
    return entry !== undefined && entry.incarnation === effect.incarnation ? entry.handle : null;
  }

  private take(token: Token): Answer | undefined {
    const answer = this.answers.get(token);
    this.answers.delete(token);
    return answer;
  }

  private track(work: Promise<unknown> | undefined): void {
    if (work === undefined) return;
    const tracked: Promise<unknown> = work
      .catch((thrown: unknown) => {
        this.deps.logger.log('error', 'an effect failed', { cause: messageOf(thrown) });
        this.fail(ensureError(thrown));
      })
      .finally(() => this.inFlight.delete(tracked));
    this.inFlight.add(tracked);
  }

  /** Ends threads and processes, and waits for git; then reports `stopped`. A second call only shortens the grace. */
  private halt(graceMs: number): void {
    const ends = [...this.handles.values()].map(({ handle }) => handle.stop(graceMs));
    const processes = this.deps.processes.close(graceMs);
    if (this.halted !== null) return;
    this.halted = (async () => {
      await Promise.allSettled(ends);
      const left = await processes;
      await Promise.allSettled(this.inFlight);
      this.post({ type: 'stopped', left });
      await this.closeRun();
    })();
    this.halted.catch((thrown: unknown) => this.fail(ensureError(thrown)));
  }

  private async closeRun(): Promise<void> {
    await this.deps.journal.flush();
    this.release();
    while (this.inFlight.size > 0) {
      await Promise.allSettled(this.inFlight);
      await this.deps.journal.flush();
      this.release();
    }
    this.over.abort();
    await this.deps.views.close();
    await this.deps.journal.close({ seal: true });
    for (const answer of this.answers.values()) answer.reject(new Error('the run has ended'));
    this.answers.clear();
    this.settleFinished.resolve(undefined);
  }

  private sweepLater(ms: number): void {
    this.deps.clock.sleep(ms, this.over.signal).then(
      () => {
        const beats: Record<string, number> = {};
        for (const [name, { handle }] of this.handles) beats[name] = handle.heartbeat();
        this.post({ type: 'sweep', beats });
      },
      () => undefined,
    );
  }

  /** S6. What is running is ended by force; the journal is left as it is. */
  private fail(error: Error): void {
    if (this.failure !== null) return;
    this.failure = error;
    this.over.abort();
    this.deps.logger.log('error', 'the run cannot go on', { cause: error.message });
    const ends = [...this.handles.values()].map(({ handle }) => handle.kill());
    void Promise.allSettled([...ends, this.deps.processes.close(KILL_GRACE_MS)])
      .then(() => this.deps.journal.close({ seal: false }).catch(() => undefined))
      .then(() => this.deps.views.close())
      .finally(() => {
        for (const answer of this.answers.values()) answer.reject(error);
        this.answers.clear();
        this.settleFinished.reject(error);
      });
  }
}
