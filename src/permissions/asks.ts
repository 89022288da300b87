/**
 * The queue of questions to a person: a fold over the changes that records carry, and what an answer may do to it. Pure.
 *
 * Invariants
 * - P30 An ask ends exactly once: allowed, denied, timed out, withdrawn or superseded. Who comes later is told who was first.
 * - P31 A call waits for one ask at a time, and an answer reaches it at most once (`ask.used`).
 * - P32 Order: first come first shown for each actor, and actors take turns.
 */
import type { ActorName, CallId } from '../kernel/ids.ts';
import type { AskBody, AskChange, AskWaiter, Grant, GrantScope } from '../protocol/ask.ts';
import { ENDED_ASKS_KEPT } from './limits.ts';

export interface AskAnswer {
  readonly effect: 'allow' | 'deny';
  readonly scope: GrantScope;
  readonly by: string;
  readonly reason: string | null;
  readonly at: string;
}

export interface Ask extends AskBody {
  readonly requestedAt: string;
  /** Rises with each ask of the run. */
  readonly number: number;
  readonly warned: boolean;
  /** Calls that the answer has not reached yet, in order. */
  readonly waiters: readonly AskWaiter[];
  /** Null while it is open. */
  readonly answer: AskAnswer | null;
}

export interface EndedAsk {
  readonly how: 'allowed' | 'denied' | 'timed-out' | 'withdrawn' | 'superseded';
  readonly by: string;
  readonly at: string;
  readonly reason: string | null;
}

export interface AskState {
  /** Open ones, and answered ones whose answer has not reached all of its calls. */
  readonly asks: Map<string, Ask>;
  readonly byCall: Map<CallId, string>;
  /** The last ones that ended, oldest first. */
  readonly ended: Map<string, EndedAsk>;
  /** Grants of scope `run`. */
  readonly grants: Map<string, Grant>;
  /** Grants of the workspace that may not be in its journal yet. */
  readonly unkept: Map<string, Grant>;
  /** Denials in a row. */
  readonly denials: Map<ActorName, number>;
  denialsOfRun: number;
  readonly paused: Map<ActorName, string>;
  count: number;
}

export function makeAskState(): AskState {
  return {
    asks: new Map(),
    byCall: new Map(),
    ended: new Map(),
    grants: new Map(),
    unkept: new Map(),
    denials: new Map(),
    denialsOfRun: 0,
    paused: new Map(),
    count: 0,
  };
}

export function applyAsk(state: AskState, change: AskChange, at: string): void {
  switch (change.type) {
    case 'ask.put': {
      state.count += 1;
      const { ask, waiter } = change;
      state.asks.set(ask.id, {
        ...ask,
        requestedAt: at,
        number: state.count,
        warned: false,
        waiters: [waiter],
        answer: null,
      });
      state.byCall.set(waiter.call, ask.id);
      return;
    }
    case 'ask.joined':
      update(state, change.id, (ask) => {
        state.byCall.set(change.waiter.call, ask.id);
        const others = ask.waiters.filter((one) => one.call !== change.waiter.call);
        return { ...ask, waiters: [...others, change.waiter] };
      });
      return;
    case 'ask.warned':
      update(state, change.id, (ask) => ({ ...ask, warned: true }));
      return;
    case 'ask.renewed':
      update(state, change.id, (ask) => ({ ...ask, warned: false, expiresAt: change.expiresAt }));
      return;
    case 'ask.answered': {
      const { id, effect, scope, by, reason } = change;
      answer(state, id, { effect, scope, by, reason, at });
      return;
    }
    case 'ask.timed-out':
      answer(state, change.id, { effect: 'deny', scope: 'once', by: TIME, reason: TIMED_OUT, at });
      return;
    case 'ask.withdrawn':
      drop(state, change.id, change.call);
      endIfEmpty(state, change.id, { how: 'withdrawn', by: '', at, reason: change.reason });
      return;
    case 'ask.superseded':
      for (const { call } of state.asks.get(change.id)?.waiters ?? []) {
        if (state.byCall.get(call) === change.id) state.byCall.delete(call);
      }
      update(state, change.id, (ask) => ({ ...ask, waiters: [] }));
      endIfEmpty(state, change.id, { how: 'superseded', by: '', at, reason: change.reason });
      return;
    case 'ask.used':
      drop(state, change.id, change.call);
      if (state.asks.get(change.id)?.waiters.length === 0) state.asks.delete(change.id);
      return;
    case 'grant.given':
    case 'grant.kept':
    case 'grant.used':
    case 'grant.revoked':
    case 'actor.paused':
    case 'actor.unpaused':
      applyGrant(state, change, at);
  }
}

function applyGrant(
  state: AskState,
  change: Exclude<AskChange, { type: `ask.${string}` }>,
  at: string,
): void {
  switch (change.type) {
    case 'grant.given':
      (change.grant.scope === 'run' ? state.grants : state.unkept).set(
        change.grant.id,
        change.grant,
      );
      return;
    case 'grant.kept':
      state.unkept.delete(change.id);
      return;
    case 'grant.used': {
      const grant = state.grants.get(change.id);
      if (grant !== undefined) state.grants.set(grant.id, { ...grant, lastUsedAt: at });
      return;
    }
    case 'grant.revoked':
      state.grants.delete(change.id);
      return;
    case 'actor.paused':
      state.paused.set(change.actor, change.text);
      return;
    case 'actor.unpaused':
      state.paused.delete(change.actor);
      state.denials.delete(change.actor);
      state.denialsOfRun = 0;
  }
}

/** Who answers when nobody does. */
export const TIME = 'time';
const TIMED_OUT = 'timed_out: nobody answered in time';

function update(state: AskState, id: string, change: (ask: Ask) => Ask): void {
  const ask = state.asks.get(id);
  if (ask !== undefined) state.asks.set(id, change(ask));
}

function drop(state: AskState, id: string, call: CallId): void {
  if (state.byCall.get(call) === id) state.byCall.delete(call);
  update(state, id, (ask) => ({ ...ask, waiters: ask.waiters.filter((one) => one.call !== call) }));
}

function answer(state: AskState, id: string, given: AskAnswer): void {
  const ask = state.asks.get(id);
  if (ask === undefined || ask.answer !== null) return;
  state.asks.set(id, { ...ask, answer: given });
  const { effect, by, at, reason } = given;
  const how = effect === 'allow' ? 'allowed' : by === TIME ? 'timed-out' : 'denied';
  end(state, id, { how, by, at, reason });
  count(state, ask, effect);
}

/** Denials are those of people and of time; what rules say is no answer. */
function count(state: AskState, ask: Ask, effect: 'allow' | 'deny'): void {
  for (const actor of new Set(ask.waiters.map((one) => one.actor))) {
    if (effect === 'allow') state.denials.delete(actor);
    else {
      state.denials.set(actor, (state.denials.get(actor) ?? 0) + 1);
      state.denialsOfRun += 1;
    }
  }
}

function endIfEmpty(state: AskState, id: string, ended: EndedAsk): void {
  const ask = state.asks.get(id);
  if (ask === undefined || ask.waiters.length > 0) return;
  state.asks.delete(id);
  if (ask.answer === null) end(state, id, ended);
}

function end(state: AskState, id: string, ended: EndedAsk): void {
  state.ended.set(id, ended);
  for (const oldest of state.ended.keys()) {
    if (state.ended.size <= ENDED_ASKS_KEPT) return;
    state.ended.delete(oldest);
  }
}

/** P32: the oldest of each actor, in order of age, then their second ones, and so on. */
export function openAsks(state: AskState): Ask[] {
  const turns = new Map<string, number>();
  const placed: { readonly ask: Ask; readonly turn: number }[] = [];
  for (const ask of state.asks.values()) {
    const [first] = ask.waiters;
    if (ask.answer !== null || first === undefined) continue;
    const turn = turns.get(first.actor) ?? 0;
    turns.set(first.actor, turn + 1);
    placed.push({ ask, turn });
  }
  return placed
    .toSorted((a, b) => a.turn - b.turn || a.ask.number - b.ask.number)
    .map(({ ask }) => ask);
}

export function askOfCall(state: AskState, call: CallId): Ask | null {
  const id = state.byCall.get(call);
  return id === undefined ? null : (state.asks.get(id) ?? null);
}

/** What this actor waits for, oldest first. */
export function asksOf(state: AskState, actor: ActorName): Ask[] {
  return [...state.asks.values()].filter(
    (ask) => ask.answer === null && ask.waiters.some((one) => one.actor === actor),
  );
}

/** The open ask that the same question of the same profile may join. */
export function equalAsk(state: AskState, digest: string): Ask | null {
  for (const ask of state.asks.values()) {
    if (ask.answer === null && ask.digest === digest) return ask;
  }
  return null;
}

export type AnswerCheck =
  | { readonly kind: 'ok'; readonly ask: Ask }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'several'; readonly ids: readonly string[] }
  | { readonly kind: 'ended'; readonly id: string; readonly ended: EndedAsk }
  /** It asks about something else than what was shown. */
  | { readonly kind: 'stale'; readonly ask: Ask };

/** What every id begins with, and so many characters after it name one: less is a slip, not an answer. */
const ASK_PREFIX = 'ask_';
const ID_CHARS_MIN = 4;

const names = (id: string, one: string): boolean =>
  id.length >= ASK_PREFIX.length + ID_CHARS_MIN && one.startsWith(id);

/** P30. `id` may be the beginning of one; without a digest the answer is for what is asked now. */
export function checkAnswer(state: AskState, id: string, digest: string | null): AnswerCheck {
  const ended = state.ended.get(id);
  if (ended !== undefined) return { kind: 'ended', id, ended };
  const open = [...state.asks.values()].filter((ask) => ask.answer === null);
  const found = open.filter((ask) => ask.id === id);
  const near = found.length > 0 ? found : open.filter((ask) => names(id, ask.id));
  const [ask] = near;
  if (near.length > 1) return { kind: 'several', ids: near.map((one) => one.id) };
  if (ask === undefined) {
    const past = [...state.ended].filter(([one]) => names(id, one));
    const [last] = past;
    return last === undefined || past.length > 1
      ? { kind: 'unknown' }
      : { kind: 'ended', id: last[0], ended: last[1] };
  }
  return digest !== null && digest !== ask.digest ? { kind: 'stale', ask } : { kind: 'ok', ask };
}
