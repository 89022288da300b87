/**
 * What holds after each event: of the records alone (`facts-of-run.ts`), of what the outside saw (trees, threads, commands,
 * clients), and of the state that the records make. One object a process; what outlives processes is in `Witnessed`.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { openAsks } from '../../../src/permissions/index.ts';
import type { ActorStart, StoredRunRecord } from '../../../src/protocol/index.ts';
import { applyRecord, makeRunState, type RunState } from '../../../src/supervisor/state.ts';
import type { QueueWorld } from '../permissions/queue-world.ts';
import { Broken, hold, RunModel } from './facts-of-run.ts';
import type { SimCommands } from './sim-commands.ts';
import type { SimHost } from './sim-host.ts';
import type { SimRepo } from './sim-repo.ts';

/** Of all processes of a run. */
export interface Witnessed {
  /** Letters that were acknowledged: mailbox and position, by id. */
  readonly accepted: Map<string, { readonly to: string; readonly n: number }>;
  /** `TASK FENCE` of trees that were made ready for a claim. */
  readonly prepared: Set<string>;
}

/** Threads that were told to end may take so long. */
const END_MS = 15_000;

export class Checks {
  readonly model: RunModel;
  readonly #seen: Witnessed;
  readonly #repo: SimRepo;
  #broken: string | null = null;
  #world: QueueWorld | null = null;
  #host: SimHost | null = null;
  #commands: SimCommands | null = null;
  /** Threads of actors whose end is on record, since when. */
  readonly #ending: Map<string, number> = new Map();

  constructor(options: {
    readonly seen: Witnessed;
    readonly repo: SimRepo;
    readonly parallel: number;
  }) {
    this.#seen = options.seen;
    this.#repo = options.repo;
    this.model = new RunModel(options.parallel);
  }

  watch(parts: {
    readonly world: QueueWorld;
    readonly host: SimHost;
    readonly commands: SimCommands;
  }): void {
    this.#world = parts.world;
    this.#host = parts.host;
    this.#commands = parts.commands;
  }

  get broken(): string | null {
    return this.#broken ?? this.#repo.broken[0] ?? null;
  }

  /** A durable record, in order. */
  take(record: StoredRunRecord): void {
    this.#try(() => {
      this.model.apply(record);
      for (const mail of record.mail ?? []) this.#assigned(mail.type, mail.task, record.s);
      for (const change of record.run ?? []) {
        if (change.type === 'run.interrupted' || change.type === 'run.ended')
          this.#stopped(change.type);
      }
    });
  }

  /** T3: who is given a task has a tree that was made ready for this claim. */
  #assigned(type: string, task: string | undefined, s: number): void {
    if (type !== 'task.assign' && type !== 'task.rework') return;
    const fence = this.model.tasks.get(task ?? '')?.fence;
    hold(
      this.#seen.prepared.has(`${task} ${fence}`),
      `T3: ${task} is given out by claim ${fence} (${s}), whose tree is not ready`,
    );
  }

  /** S4. */
  #stopped(what: string): void {
    const host = this.#host;
    if (host === null || what === 'run.ended') return;
    hold(
      host.threads.size === 0,
      `S4: the run is stopped, and ${host.names().join(', ')} still lives`,
    );
    const left = [...(this.#commands?.running.keys() ?? [])];
    hold(left.length === 0, `S4: the run is stopped, and ${left.join(', ')} still runs`);
  }

  prepared(task: string, fence: number): void {
    this.#seen.prepared.add(`${task} ${fence}`);
  }

  dropped(owner: string): void {
    const task = this.model.tasks.get(owner);
    const used = task !== undefined && ['running', 'verifying', 'merging'].includes(task.state);
    this.#try(() => hold(!used, `W: the tree of ${owner} is removed while it is ${task?.state}`));
  }

  /** W5. */
  moved(to: string): void {
    const meant = [...this.model.tasks.values()].some(({ intent }) => intent === to);
    this.#try(() => hold(meant, 'W5: the integration branch moves, and no record says so before'));
  }

  written(root: string): void {
    this.#try(() =>
      hold(this.#repo.trees.has(root), `W: something is written to ${root}, which is no tree`),
    );
  }

  commandStarted(id: string): void {
    this.#try(() => hold(this.model.procs.has(id), `S5: ${id} is run, and no record says so`));
  }

  /** A4, S5. */
  threadStarted({ name, incarnation, epoch }: ActorStart, twice: boolean): void {
    const known = this.model.actors.get(name);
    this.#try(() => {
      hold(!twice, `A4: ${name} ${incarnation} has a second thread`);
      hold(
        known?.phase === 'started' && known.incarnation === incarnation && known.epoch === epoch,
        `S5: a thread of ${name} ${incarnation}/${epoch} is started, and on record is ${known?.phase} ${known?.incarnation}/${known?.epoch}`,
      );
    });
  }

  accepted(id: string, to: string, n: number): void {
    this.#seen.accepted.set(id, { to, n });
    this.#try(() => this.#kept(id));
  }

  /** M1. */
  #kept(id: string): void {
    const { to, n } = this.#seen.accepted.get(id) ?? { to: '', n: 0 };
    hold(
      this.model.boxes.get(to)?.[n - 1]?.id === id,
      `M1: ${id} was acknowledged as ${n} of ${to}, and is not there`,
    );
  }

  /** After recovery. */
  recovered(): void {
    this.#try(() => {
      for (const id of this.#seen.accepted.keys()) this.#kept(id);
    });
  }

  /** Nothing moves. `whole`: also that replay equals live, which takes longer. */
  settled(whole: boolean): void {
    const world = this.#world;
    if (world === null || this.broken !== null) return;
    this.#try(() => {
      this.#threads(world);
      this.#calls(world);
      this.#asks(world);
      const { total } = world.state.usage;
      hold(
        total.inputTokens + total.outputTokens === this.model.tokens,
        `B1: ${total.inputTokens + total.outputTokens} tokens are charged, and ${this.model.tokens} were used`,
      );
      if (whole) this.#replay(world);
    });
  }

  /** A4, S2: nobody lives whose end is on record, nor a child longer than who it works for. */
  #threads({ clock }: QueueWorld): void {
    const names = new Set(this.#host?.names());
    for (const { start } of this.#host?.threads.values() ?? []) {
      const { name, incarnation } = start;
      const actor = this.model.actors.get(name);
      const over = actor?.phase !== 'started' || actor.incarnation !== incarnation;
      const orphan = actor?.kind === 'subagent' && !names.has(actor.parent ?? '');
      if (!over && !orphan) {
        this.#ending.delete(name);
        continue;
      }
      const since = this.#ending.get(name) ?? clock.monotonicMs();
      this.#ending.set(name, since);
      const why = orphan ? `it works for ${actor.parent}, who is gone` : `it has ended`;
      hold(clock.monotonicMs() - since <= END_MS, `S2: a thread of ${name} goes on, and ${why}`);
    }
  }

  /** P31: what waits for a person waits for an ask. */
  #calls({ state, live }: QueueWorld): void {
    if (live.halting !== null) return;
    for (const { call, looking, name } of live.waiting.values()) {
      const ask = state.asks.asks.get(state.asks.byCall.get(call) ?? '');
      hold(
        looking || (ask !== undefined && ask.answer === null),
        `P31: ${call} of ${name} waits for nothing`,
      );
    }
  }

  /** P30. */
  #asks({ state, live }: QueueWorld): void {
    if (live.halting !== null) return;
    for (const ask of openAsks(state.asks)) {
      for (const { call, actor } of ask.waiters) {
        hold(
          !live.actors.has(actor) || live.waiting.has(call),
          `P30: ${actor} lives and does not wait for ${call} of ${ask.id}`,
        );
        hold(
          this.model.actors.get(actor)?.phase !== 'ended',
          `P30: ${actor} has ended, and ${ask.id} still asks for it`,
        );
      }
    }
  }

  #replay({ state, records }: QueueWorld): void {
    const again = makeRunState(state.file);
    for (const record of records) applyRecord(again, record);
    deepStrictEqual(factsOf(again), factsOf(state), 'S1: replay equals live');
  }

  /** What is to be true of a run that has ended. */
  finished(): void {
    this.#try(() => {
      const { model } = this;
      hold(model.ended !== null, 'S3: the run has not ended');
      hold(model.aside.size === 0, `B1: ${model.aside.size} requests are never charged`);
      if (model.ended === 'budget') return;
      for (const [id, { state, commit }] of model.tasks) {
        hold(
          ['done', 'failed', 'cancelled'].includes(state),
          `S3: the run has ended, and ${id} is ${state}`,
        );
        if (state !== 'done' || commit === null) continue;
        hold(
          this.#repo.contains(this.#repo.main, commit),
          `W: ${id} is done, and its work is not on the integration branch`,
        );
      }
      for (const [name, box] of model.boxes) {
        const actor = model.actors.get(name);
        if (actor === undefined || actor.kind === 'subagent' || actor.phase === 'ended') continue;
        for (let n = 1; n <= box.length; n += 1) {
          const at = `${name} ${n}`;
          hold(
            model.took.has(at) || model.dead.has(at),
            `M3: the run has ended, and ${name} never took in ${box[n - 1]?.id} (${n})`,
          );
        }
      }
      hold(
        (this.#host?.threads.size ?? 0) === 0,
        `S4: the run has ended, and ${this.#host?.names().join(', ')} still lives`,
      );
      hold(
        (this.#commands?.running.size ?? 0) === 0,
        'S4: the run has ended, and a command still runs',
      );
    });
  }

  #try(check: () => void): void {
    if (this.#broken !== null) return;
    try {
      check();
    } catch (error) {
      if (error instanceof Broken || error instanceof Error) this.#broken = error.message;
      else throw error;
    }
  }
}

const FACTS = [
  'actors',
  'asks',
  'claims',
  'procs',
  'usage',
  'spending',
  'openCalls',
  'run',
  'trees',
  'background',
  'deaths',
  'team',
  'midTurn',
  'assigned',
] as const satisfies readonly (keyof RunState)[];

/** The facts that decisions rest on, without how indexes came to be. */
function factsOf(state: RunState): unknown {
  const nodes = Array.from(
    state.graph.nodes.values(),
    ({ spec, state: now, fence, attemptsUsed, owner, merging }) => ({
      id: spec.id,
      now,
      fence,
      attemptsUsed,
      owner,
      merging,
    }),
  );
  return { ...Object.fromEntries(FACTS.map((name) => [name, state[name]])), nodes };
}
