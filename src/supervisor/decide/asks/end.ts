/** Ends of waiting that are no answer: the actor is gone, interrupted, or has given the call up. */
import { actorOf } from '../../../actors/index.ts';
import type { ActorName, CallId } from '../../../kernel/index.ts';
import { askOfCall } from '../../../permissions/index.ts';
import type { Draft } from '../../draft.ts';
import type { Live, WaitingCall } from '../../live.ts';
import type { RunState } from '../../state.ts';
import { dropHooks, dropHooksOf } from '../hooks.ts';
import { finishAct } from '../results.ts';
import { placeHolder } from '../roster.ts';

/** All that an actor asks is off (S2): it died, was stopped, or its run has ended. */
export function withdrawOf(draft: Draft, live: Live, name: ActorName, reason: string): void {
  for (const ask of draft.state.asks.asks.values()) {
    for (const { actor, call } of ask.waiters) {
      if (actor === name) draft.ask({ type: 'ask.withdrawn', id: ask.id, call, reason });
    }
  }
  for (const waiting of live.waiting.values()) {
    if (waiting.name === name) live.waiting.delete(waiting.call);
  }
  dropHooks(draft, live, name, null);
  live.held.delete(name);
  if (draft.state.asks.paused.has(name)) draft.ask({ type: 'actor.unpaused', actor: name });
}

/** One call was closed by its thread. */
export function withdrawCall(draft: Draft, live: Live, call: CallId, reason: string): void {
  dropHooksOf(draft, live, call);
  const ask = askOfCall(draft.state.asks, call);
  if (ask !== null) draft.ask({ type: 'ask.withdrawn', id: ask.id, call, reason });
  stopWaiting(draft, live, call);
}

/** Interrupt mail: what waits is off, and its result says so; file calls are closed by the thread itself. */
export function interruptAsks(draft: Draft, live: Live, name: ActorName): void {
  const actor = live.actors.get(name);
  dropHooks(draft, live, name, 'interrupted by mail while hooks looked at it; it was not run');
  for (const waiting of live.waiting.values()) {
    if (waiting.name !== name) continue;
    withdrawCall(draft, live, waiting.call, 'its actor was interrupted by mail');
    if (waiting.asked.type !== 'act' || actor === undefined) continue;
    const { request, call, asked } = waiting;
    finishAct(
      { actor, request },
      draft,
      { call, tool: asked.tool },
      {
        ok: false,
        text: 'interrupted by mail while it waited for an answer of a person; it was not run',
      },
    );
  }
}

/** The request is no longer kept from its answer; its task's clock stood still meanwhile. */
export function stopWaiting(draft: Draft, live: Live, call: CallId): WaitingCall | null {
  const waiting = live.waiting.get(call);
  if (waiting === undefined) return null;
  live.waiting.delete(call);
  const { monotonicMs } = draft.happening;
  const task = draft.state.claims.get(placeHolder(draft.state, waiting.name));
  const since = task === undefined ? undefined : live.claimedAt.get(task);
  if (task !== undefined && since !== undefined) {
    live.claimedAt.set(task, Math.min(monotonicMs, since + monotonicMs - waiting.since));
  }
  const actor = live.actors.get(waiting.name);
  const still = [...live.waiting.values()].some((one) => one.name === waiting.name);
  if (actor !== undefined && actor.phase === 'waiting' && !still) {
    actor.phase = 'tooling';
    actor.since = draft.at;
  }
  return waiting;
}

/** Whether this member, or a subagent that works for it, waits for a person. */
export function waitsForPerson(state: RunState, live: Live, name: ActorName): boolean {
  for (const waiting of live.waiting.values()) {
    if (waiting.name === name || placeHolder(state, waiting.name) === name) return true;
  }
  return false;
}

/** A paused actor goes on, since somebody wrote to it: it is told what it was denied last. */
export function unpause(draft: Draft, live: Live, name: ActorName): void {
  if (!draft.state.asks.paused.has(name)) return;
  draft.ask({ type: 'actor.unpaused', actor: name });
  const held = live.held.get(name);
  live.held.delete(name);
  const actor = live.actors.get(name);
  if (held === undefined || actor === undefined || actorOf(draft.state.actors, name) === null)
    return;
  actor.phase = 'tooling';
  actor.since = draft.at;
  refuse(draft, held.waiting, { actor, text: held.text });
}

/** Tells the thread that its call is not run, and why. */
export function refuse(
  draft: Draft,
  waiting: WaitingCall,
  what: { readonly actor: Parameters<typeof finishAct>[0]['actor']; readonly text: string },
): void {
  const { actor, text } = what;
  const { request, call, asked } = waiting;
  if (asked.type === 'act') {
    finishAct(
      { actor, request },
      draft,
      { call, tool: asked.tool },
      { ok: false, text: `not run: ${text}` },
    );
    return;
  }
  draft.effect({
    type: 'reply',
    name: actor.name,
    incarnation: actor.incarnation,
    id: request,
    reply: { type: 'refused', reason: text },
  });
}
