/**
 * The one executor of effects. Results come back as events; an effect that fails in a way that no outcome covers fails the
 * run (S6), since nobody would ever hear of it otherwise.
 */
import type { ActorHandle, ActorHost } from '../../actors/index.ts';
import { type BlobStore, wholeText } from '../../journal/index.ts';
import {
  type ActorName,
  type Clock,
  type ErrorShape,
  ensureError,
  isTroupeError,
  type Logger,
} from '../../kernel/index.ts';
import type { Downward, Envelope, Grant, LiveKind, Upward } from '../../protocol/index.ts';
import type { JobsOfRun } from '../cron/author.ts';
import type { Effect } from '../effect.ts';
import type { CommandOutcome, RunEvent, Token } from '../inbox.ts';
import { KILL_GRACE_MS, STOP_GRACE_MS, THREAD_GRACE_MS } from '../limits.ts';
import type { ProcessHost } from './commands.ts';
import { dueEvent } from './due.ts';
import { messageOf, requireStorage } from './failures.ts';
import { carryOutGit, type TreeWork } from './git-effects.ts';
import type { HookRunner } from './hooks.ts';

/** What the executor asks of the process host; a bench or a simulation brings its own. */
export type CommandWork = Pick<
  ProcessHost,
  'run' | 'kill' | 'close' | 'idle' | 'clear' | 'readPage'
>;

/** What a question is answered with, and the record that the answer rests on. */
export interface Answered {
  readonly value: unknown;
  readonly seq: number;
}

export interface ExecutorDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly git: TreeWork;
  readonly blobs: Pick<BlobStore, 'put' | 'get'>;
  readonly processes: CommandWork;
  readonly memory?: { keep(notes: Of<'memory.keep'>['notes']): Promise<void> };
  /** Left out: no job outlives the run. */
  readonly jobs?: JobsOfRun;
  /** Left out: nothing runs hooks. */
  readonly hooks?: Pick<HookRunner, 'take' | 'idle' | 'close'>;
  readonly hosts: { readonly thread: ActorHost; readonly pool: ActorHost };
  readonly directories: {
    readonly journal: string;
    readonly outputs: string;
    /** File of what agents noted. */
    readonly notes?: string;
    /** See `ActorStart.ignoreFiles`. */
    readonly ignores?: readonly string[];
  };
  readonly onLive: (event: { actor: string; type: LiveKind; data: string }) => void;
  readonly post: (event: RunEvent) => void;
  readonly fail: (error: Error) => void;
  readonly answer: (token: Token, answer: Answered) => void;
  readonly refuse: (token: Token, error: ErrorShape) => void;
  /** Left out: nothing outlives the run. */
  readonly grants?: {
    give(grant: Grant): Promise<void>;
    used(id: string, at: string): Promise<void>;
  };
  readonly durableSeq: () => number;
  /** Called once, after `stopped` was posted. */
  readonly closeRun: () => Promise<void>;
}

type Of<T extends Effect['type']> = Extract<Effect, { type: T }>;
interface Life {
  readonly incarnation: number;
  readonly epoch: number;
}

export class Executor {
  private readonly deps: ExecutorDeps;
  private readonly handles = new Map<ActorName, Life & { handle: ActorHandle }>();
  /** What waits for the mail before it to be whole, by actor. */
  private readonly lines = new Map<ActorName, Promise<void>>();
  private readonly inFlight = new Set<Promise<unknown>>();
  private readonly over = new AbortController();
  /** Nobody waits for running commands any more. */
  private readonly hurry = new AbortController();
  /** Nobody waits for answers of models any more. */
  private readonly answered = new AbortController();
  private halted = false;

  constructor(deps: ExecutorDeps) {
    this.deps = deps;
  }

  /** `seq`: of the record that the effect follows. Never throws. */
  execute(effect: Effect, seq: number | null): void {
    const at = seq ?? this.deps.durableSeq();
    switch (effect.type) {
      case 'reply':
        this.postReply(effect, at);
        return;
      case 'answer':
        this.deps.answer(effect.token, { value: effect.value, seq: at });
        return;
      case 'refuse':
        this.deps.refuse(effect.token, effect.error);
        return;
      case 'actor.start':
        this.startActor(effect);
        return;
      case 'actor.post':
        this.postMail(effect);
        return;
      case 'actor.interrupt':
      case 'actor.stop':
        this.stopActor(effect);
        return;
      case 'halt':
        this.halt(effect);
        return;
      case 'sweep.later':
        void this.later(effect.ms, () => ({ type: 'sweep', beats: this.beats() }));
        return;
      case 'cron.edit':
        this.track(this.editJob(effect));
        return;
      case 'asks.later':
      case 'jobs.later':
      case 'mail.later':
      case 'outlet.later':
      case 'wait.later':
        void this.later(effect.ms, () => dueEvent(effect));
        return;
      case 'call.look':
      case 'refused':
        this.tell(effect);
        return;
      case 'grant.keep':
      case 'grant.used':
      case 'memory.keep':
        this.keep(effect);
        return;
      case 'hooks.run':
      case 'hooks.cancel':
        this.track(this.deps.hooks?.take(effect, at, this.deps.post));
        return;
      case 'command.kill':
        this.deps.processes.kill(effect.id);
        return;
      case 'command.start':
        this.track(this.runCommand(effect));
        return;
      case 'output.read':
        this.track(this.readOutput(effect));
        return;
      case 'tree.prepare':
      case 'tree.commit':
      case 'tree.drop':
      case 'view.prepare':
      case 'diff.read':
      case 'merge.compute':
      case 'ref.advance':
        this.track(carryOutGit(effect, this.deps));
    }
  }

  /** Nothing is done but to report. */
  private tell(effect: Of<'call.look' | 'refused'>): void {
    if (effect.type === 'refused') {
      this.deps.logger.log('warn', 'a late word of an earlier life was refused', { ...effect });
      return;
    }
    // What is taken into the inbox is looked up on the disk on the way (`looking.ts`).
    this.deps.post({ type: 'call.looked', name: effect.name, call: effect.call });
  }

  private async editJob({ call, edit }: Of<'cron.edit'>): Promise<void> {
    const nobody = { ok: false, text: 'nobody here keeps jobs that outlive a run' };
    const told = (await this.deps.jobs?.edit(edit)) ?? nobody;
    this.deps.post({ type: 'cron.edited', call, removed: edit.type === 'remove', ...told });
  }

  /** What outlives the run. Who noted something finds it from its next call on. */
  private keep(effect: Of<'grant.keep' | 'grant.used' | 'memory.keep'>): void {
    const { grants, memory } = this.deps;
    if (effect.type === 'grant.keep') this.track(grants?.give(effect.grant));
    else if (effect.type === 'grant.used') this.track(grants?.used(effect.id, effect.at));
    else {
      const { notes } = effect;
      for (const { by } of notes.slice(-1)) this.inLine(by, () => memory?.keep(notes));
    }
  }

  /** What it does, or its life. */
  private stopActor(effect: Of<'actor.interrupt' | 'actor.stop'>): void {
    if (effect.type === 'actor.interrupt') this.forLife(effect, (handle) => handle.interrupt());
    else this.track(this.handleOf(effect)?.stop(effect.graceMs));
  }

  /** `at`: of the record that it acknowledges, when it does not say so itself. */
  private postReply(effect: Of<'reply'>, at: number): void {
    const { id, reply } = effect;
    const filled = reply.type === 'committed' && reply.seq === 0 ? { ...reply, seq: at } : reply;
    this.forLife(effect, (handle) => handle.post([{ type: 'reply', id, reply: filled }]));
  }

  /** Waits for what is being done; false when nothing was. */
  async drain(): Promise<boolean> {
    if (this.inFlight.size === 0) return false;
    await Promise.allSettled(this.inFlight);
    return true;
  }

  /** Ends threads and processes by force; nothing is reported any more. */
  async abandon(): Promise<void> {
    this.over.abort();
    this.deps.hooks?.close();
    const ends = [...this.handles.values()].map(({ handle }) => handle.kill());
    await Promise.allSettled([...ends, this.deps.processes.close(KILL_GRACE_MS)]);
  }

  private async runCommand(effect: Of<'command.start'>): Promise<void> {
    const outcome = await this.commandOutcome(effect);
    this.deps.post({ type: 'command.ended', id: effect.id, outcome });
  }

  private async commandOutcome(effect: Of<'command.start'>): Promise<CommandOutcome> {
    const { processes, git } = this.deps;
    const { id, command, by, timeoutMs, tailOnly, place, background } = effect;
    const what = { id, command, by, timeoutMs, tailOnly, background };
    try {
      if (place.kind === 'tree') {
        // Without a task the place is the view, which is for reading.
        const writable = place.task !== null;
        const outcome = await processes.run({ ...what, cwd: place.path, writable });
        if (place.restore !== null && place.task !== null) {
          await git.restore(place.task, { path: place.path, commit: place.restore });
        }
        return outcome;
      }
      const scratch = await git.scratch(place.commit);
      try {
        return await processes.run({ ...what, cwd: scratch.path, writable: true });
      } finally {
        await scratch.drop();
      }
    } catch (thrown) {
      requireStorage(thrown);
      const text = messageOf(thrown);
      return { code: null, signal: null, why: 'failed', left: [], text, cut: false, durationMs: 0 };
    }
  }

  private startActor(effect: Of<'actor.start'>): void {
    const { name, incarnation, epoch } = effect.start;
    const { journal, outputs, notes, ignores } = this.deps.directories;
    const start = {
      ...effect.start,
      journalDirectory: journal,
      outputsDirectory: outputs,
      ...(notes === undefined ? {} : { notesFile: notes }),
      ...(ignores === undefined ? {} : { ignoreFiles: ignores }),
      upToSeq: this.deps.durableSeq(),
    };
    const handle = this.deps.hosts[effect.host].start(start, {
      onRequests: (requests) => this.onRequests({ name, incarnation, epoch }, requests),
      onExit: (exit) => {
        if (this.handles.get(name)?.epoch === epoch) this.handles.delete(name);
        this.deps.post({ type: 'actor.exited', name, incarnation, epoch, exit });
      },
    });
    this.handles.set(name, { handle, incarnation, epoch });
  }

  /** Who receives mail receives the whole of it (M8). */
  private postMail(effect: Of<'actor.post'>): void {
    if (!effect.messages.some(isByReference)) {
      this.forLife(effect, (handle) => handle.post(effect.messages));
      return;
    }
    this.forLife(effect, async (handle) => {
      const messages: Downward[] = [];
      for (const message of effect.messages) messages.push(await this.whole(message));
      handle.post(messages);
    });
  }

  private async whole(message: Downward): Promise<Downward> {
    if (!isByReference(message)) return message;
    const envelopes: Envelope[] = [];
    for (const envelope of message.envelopes) {
      const text = await wholeText(this.deps.blobs, envelope.body);
      envelopes.push({ ...envelope, body: { ...envelope.body, text } });
    }
    return { ...message, envelopes };
  }

  /** A4. What waits in line for one life of an actor never reaches the next one. */
  private forLife(
    to: { readonly name: ActorName; readonly incarnation: number },
    act: (handle: ActorHandle) => void | Promise<void>,
  ): void {
    const handle = this.handleOf(to);
    if (handle !== null) this.inLine(to.name, () => act(handle));
  }

  /** At once, or behind what one actor waits for already: what it is told keeps its order (M4, M5). */
  private inLine(name: ActorName, act: () => void | Promise<void>): void {
    const before = this.lines.get(name);
    const done = before === undefined ? act() : before.then(act);
    if (!(done instanceof Promise)) return;
    const line = done.finally(() => {
      if (this.lines.get(name) === line) this.lines.delete(name);
    });
    this.lines.set(name, line);
    this.track(line);
  }

  private onRequests(who: Life & { name: ActorName }, requests: readonly Upward[]): void {
    for (const upward of requests) {
      if (upward.request.type === 'live') {
        const { event, data } = upward.request;
        this.deps.onLive({ actor: who.name, type: event, data });
        // Nothing is decided on a piece of an answer: what it belongs to was told before it.
        if (event === 'text' || (event === 'thinking' && data !== '')) continue;
      }
      this.deps.post({ type: 'request', ...who, upward });
    }
  }

  private handleOf(effect: { name: ActorName; incarnation: number }): ActorHandle | null {
    const entry = this.handles.get(effect.name);
    return entry !== undefined && entry.incarnation === effect.incarnation ? entry.handle : null;
  }

  private track(work: Promise<unknown> | undefined): void {
    if (work === undefined) return;
    const watched = this.watch(work);
    this.inFlight.add(watched);
    void watched.finally(() => this.inFlight.delete(watched));
  }

  private async watch(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (thrown) {
      // A full disk is told once, by what stops the run for it.
      const isFull = isTroupeError(thrown) && thrown.code.endsWith('/full');
      const level = isFull ? 'info' : 'error';
      this.deps.logger.log(level, 'an effect failed', { cause: messageOf(thrown) });
      this.deps.fail(ensureError(thrown));
    }
  }

  /**
   * Lets what runs come to its end, for `graceMs` at most; then ends threads and processes, waits for git, and reports
   * `stopped`. A second call only shortens the grace.
   */
  private halt(effect: Of<'halt'>): void {
    if (effect.graceMs === 0) this.hurry.abort();
    if (effect.forAnswers !== true) this.answered.abort();
    if (this.halted) return;
    this.halted = true;
    void this.watch(this.finishHalt(effect));
  }

  private async finishHalt(effect: Of<'halt'>): Promise<void> {
    const { graceMs, forAnswers } = effect;
    const { clock } = this.deps;
    if (forAnswers === true) {
      await clock.sleep(graceMs, this.answered.signal).catch(() => undefined);
    }
    await this.graceOver(forAnswers === true ? STOP_GRACE_MS : graceMs);
    this.deps.hooks?.close();
    // Of the end of the run somebody may still be told; what looks for leftovers would take that for one.
    await this.deps.hooks?.idle();
    const ends = [...this.handles.values()].map(({ handle }) => handle.stop(THREAD_GRACE_MS));
    const processes = this.deps.processes.close(KILL_GRACE_MS);
    await Promise.allSettled(ends);
    const left = await processes;
    await this.drain();
    this.over.abort();
    this.deps.post({ type: 'stopped', left });
    await this.deps.closeRun();
  }

  /** Resolves when no command and no hook runs any more, when the grace is over, or when somebody is in a hurry. */
  private async graceOver(graceMs: number): Promise<void> {
    const waiting = this.deps.clock.sleep(graceMs, this.hurry.signal).catch(() => undefined);
    const { processes, hooks } = this.deps;
    await Promise.race([Promise.all([processes.idle(), hooks?.idle()]), waiting]);
    this.hurry.abort();
    await waiting;
  }

  private async later(ms: number, event: () => RunEvent): Promise<void> {
    try {
      await this.deps.clock.sleep(ms, this.over.signal);
    } catch {
      // The run is over.
      return;
    }
    this.deps.post(event());
  }

  private async readOutput({ call, id, offset }: Of<'output.read'>): Promise<void> {
    const page = await this.deps.processes.readPage(id, offset);
    this.deps.post({ type: 'output.read', call, page });
  }

  private beats(): Record<string, number> {
    const beats: Record<string, number> = {};
    for (const [name, { handle }] of this.handles) beats[name] = handle.heartbeat();
    return beats;
  }
}

function isByReference(message: Downward): message is Extract<Downward, { type: 'mail' }> {
  return message.type === 'mail' && message.envelopes.some(({ body }) => body.blob !== undefined);
}
