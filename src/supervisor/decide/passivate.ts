/**
 * Threads of actors that have had nothing to do for a while are given back; mail makes them another one (design §6).
 *
 * Invariants
 * - A10 A thread is given back only when its actor is idle, has no mail, no task in hand, no open call, ask, plan or
 *   process, and nobody that works for it. Mail that comes meanwhile is not handed to the ending thread: it waits for
 *   its end and then wakes the actor, in the same incarnation and a higher epoch.
 */
import { actorOf } from '../../actors/index.ts';
import type { ActorName } from '../../kernel/index.ts';
import { hasUnread } from '../../mailbox/index.ts';
import type { Draft } from '../draft.ts';
import { THREAD_GRACE_MS } from '../limits.ts';
import type { Live, LiveActor } from '../live.ts';
import type { RunState } from '../state.ts';
import { openShutdown } from '../teamwork.ts';
import { runningOf } from './background.ts';
import { placeHolder } from './roster.ts';

/** Part of each sweep. */
export function passivateIdle(draft: Draft, live: Live): void {
  const { state, happening } = draft;
  for (const actor of live.actors.values()) {
    const { name, incarnation } = actor;
    if (happening.monotonicMs - actor.quietAt < live.passivateMs) continue;
    if (!isAtRest(state, live, actor)) continue;
    actor.doom = { kind: 'passivated', text: 'idle' };
    actor.phase = 'stopping';
    draft.effect({ type: 'actor.stop', name, incarnation, graceMs: THREAD_GRACE_MS });
  }
}

function isAtRest(state: RunState, live: Live, actor: LiveActor): boolean {
  const { name } = actor;
  const facts = actorOf(state.actors, name);
  if (facts === null || facts.kind === 'subagent' || facts.phase.kind !== 'started') return false;
  if (actor.phase !== 'idle' || actor.doom !== null) return false;
  if (hasUnread(state.mail, name) || live.mailDirty.has(name)) return false;
  if (state.claims.has(name) || openShutdown(state.team, name) !== null) return false;
  if ((state.openCalls.get(name)?.size ?? 0) > 0) return false;
  return !hasOpen(state, live, name) && !hasHelpers(state, live, name);
}

/** Questions, plans and processes of its own, or that lie with it. */
function hasOpen(state: RunState, live: Live, name: ActorName): boolean {
  const mine = (one: { readonly name: ActorName }): boolean => one.name === name;
  if ([...live.acts.values(), ...live.waiting.values(), ...live.hooking.values()].some(mine)) {
    return true;
  }
  if (live.held.has(name) || state.asks.paused.has(name)) return true;
  for (const ask of state.asks.asks.values()) {
    if (ask.answer === null && ask.waiters.some(({ actor }) => actor === name)) return true;
  }
  for (const id of state.team.open) {
    const plan = state.team.plans.get(id);
    if (plan?.by === name || plan?.to === name) return true;
  }
  for (const id of state.team.openRequests) {
    if (state.team.requests.get(id)?.from === name) return true;
  }
  return runningOf(state, name).length > 0;
}

/** Subagents at work, of it or of those. */
export function hasHelpers(state: RunState, live: Live, name: ActorName): boolean {
  for (const other of live.actors.keys()) {
    if (other !== name && placeHolder(state, other) === name) return true;
  }
  return false;
}
