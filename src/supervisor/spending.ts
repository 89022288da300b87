/**
 * What a run has spent and what is put aside for requests that are under way; a part of the fold of `state.ts`.
 *
 * Invariants
 * - B1 What was put aside is charged exactly once: as the answer's own usage, as what a failed request cost, or, when
 *   nobody is left to say what became of it, as a whole and as an estimate.
 * - B2 Spending never falls, whatever ends or starts again.
 */
import { type ActorTable, actorOf } from '../actors/index.ts';
import type { ActorName, TaskId } from '../kernel/index.ts';
import {
  addUsage,
  type Budget,
  NO_USAGE,
  type RunChange,
  type SpendChange,
  type StoredRunRecord,
  type Usage,
} from '../protocol/index.ts';

/** Put aside for one request. */
export interface Reservation {
  readonly id: string;
  readonly actor: ActorName;
  readonly task: TaskId | null;
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly usd: number;
}

export interface QuotaHold {
  readonly provider: string;
  readonly until: string;
  readonly text: string;
  /** It does not answer, so many times in a row; left out: its quota is used up. */
  readonly down?: number;
}

export interface Spending {
  /** In force: as the team file says, or as the last resume did. */
  budget: Budget;
  readonly open: Map<string, Reservation>;
  /** Of each actor with all that work for it. */
  readonly withChildren: Map<ActorName, Usage>;
  /** Answers: of the run, of each actor with all that work for it, of each task. */
  turns: number;
  readonly turnsOf: Map<ActorName, number>;
  readonly turnsAt: Map<TaskId, number>;
  /** Scopes that were warned of. */
  readonly warned: Set<string>;
  /** Providers that are not asked now. */
  readonly quotas: Map<string, QuotaHold>;
}

export function makeSpending(budget: Budget): Spending {
  return {
    budget: { ...budget },
    open: new Map(),
    withChildren: new Map(),
    turns: 0,
    turnsOf: new Map(),
    turnsAt: new Map(),
    warned: new Set(),
    quotas: new Map(),
  };
}

/** The part of a run's state that this is about. */
interface Spender {
  readonly actors: ActorTable;
  readonly usage: {
    total: Usage;
    readonly byActor: Map<string, Usage>;
    readonly byTask: Map<string, Usage>;
    readonly byModel: Map<string, Usage>;
  };
  readonly spending: Spending;
}

interface Spent {
  readonly actor: ActorName;
  readonly task: TaskId | null;
  readonly model: string;
  readonly usage: Usage;
}

export function noteUsage(state: Spender, { actor, task, model, usage }: Spent): void {
  const all = state.usage;
  all.total = addUsage(all.total, usage);
  addTo(all.byActor, actor, usage);
  addTo(all.byModel, model, usage);
  if (task !== null) addTo(all.byTask, task, usage);
  for (const name of lineOf(state, actor)) addTo(state.spending.withChildren, name, usage);
}

/** An actor and those that it works for, nearest first. */
export function lineOf(state: Spender, name: ActorName): ActorName[] {
  const line = [name];
  for (let one = actorOf(state.actors, name); one !== null && one.parent !== null; ) {
    if (line.includes(one.parent)) break;
    line.push(one.parent);
    one = actorOf(state.actors, one.parent);
  }
  return line;
}

export function applySpending(state: Spender, record: StoredRunRecord): void {
  for (const change of record.run ?? []) applyRun(state, change);
  for (const change of record.actors ?? []) {
    if (change.type === 'actor.added') continue;
    voidAll(state, ({ actor }) => actor === change.name);
  }
  noteTurns(state, record);
  const actor = record.a;
  if (actor === undefined) return;
  for (const change of record.spend ?? []) applySpend(state, actor, change);
}

function applyRun(state: Spender, change: RunChange): void {
  const { spending } = state;
  if (change.type === 'run.resumed') {
    if (change.budget !== undefined) {
      spending.budget = { ...spending.budget, ...change.budget };
      // With more of it there is something to warn of again.
      for (const scope of RUN) spending.warned.delete(scope);
    }
    voidAll(state, () => true);
  } else if (change.type === 'run.interrupted' || change.type === 'run.ended') {
    voidAll(state, () => true);
  } else if (change.type === 'run.warned') {
    spending.warned.add(change.scope ?? 'run');
  } else if (change.type === 'quota.hit') {
    const { provider, until, text, down } = change;
    const isDown = down === undefined ? {} : { down };
    spending.quotas.set(provider, { provider, until, text, ...isDown });
  } else if (change.type === 'quota.over') spending.quotas.delete(change.provider);
}

const RUN = ['run', 'wall'];

function applySpend(state: Spender, actor: ActorName, change: SpendChange): void {
  const { open } = state.spending;
  switch (change.type) {
    case 'spend.reserved': {
      const { id, model, task, input, output, usd } = change;
      open.set(id, { id, actor, task, model, input, output, usd });
      return;
    }
    case 'spend.answered':
      open.delete(change.id);
      return;
    case 'spend.settled': {
      const { id, model, task, usage } = change;
      open.delete(id);
      noteUsage(state, { actor, task, model, usage });
      return;
    }
  }
}

function noteTurns(state: Spender, record: StoredRunRecord): void {
  const actor = record.a;
  for (const entry of record.entries ?? []) {
    if (entry.type !== 'answer' || actor === undefined) continue;
    const { spending } = state;
    spending.turns += 1;
    for (const name of lineOf(state, actor)) count(spending.turnsOf, name);
    if (entry.task !== null) count(spending.turnsAt, entry.task);
  }
}

function voidAll(state: Spender, which: (one: Reservation) => boolean): void {
  for (const one of state.spending.open.values()) {
    if (!which(one)) continue;
    state.spending.open.delete(one.id);
    noteUsage(state, { ...one, usage: wholeOf(one) });
  }
}

/** B1: all that it may have cost. */
function wholeOf({ input, output, usd }: Reservation): Usage {
  return {
    ...NO_USAGE,
    inputTokens: input,
    outputTokens: output,
    costUsd: usd,
    estimated: true,
  };
}

function count<K>(map: Map<K, number>, key: K): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}

function addTo<K>(map: Map<K, Usage>, key: K, usage: Usage): void {
  map.set(key, addUsage(map.get(key) ?? NO_USAGE, usage));
}
