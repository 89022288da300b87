/**
 * Subagents and the tree that they work in.
 *
 * Invariants
 * - A13 A subagent works in the tree of the claim that its member held when it was started. When that claim is over it is
 *   ended, and until its thread is gone nothing that it asks for is done: the tree is someone else's now, or gone.
 */
import type { ActorName } from '../../kernel/index.ts';
import { Draft } from '../draft.ts';
import type { Happening } from '../inbox.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { placeHolder, workplaceOf } from './roster.ts';

/** Of the claim in whose tree this actor, or the member that it belongs to, works now; 0: of none. */
export function fenceOf(state: RunState, name: ActorName): number {
  return workplaceOf(state, placeHolder(state, name))?.fence ?? 0;
}

export function isOutOfPlace(state: RunState, live: Live, name: ActorName): boolean {
  const fence = live.helpers.get(name);
  return fence !== undefined && fence !== fenceOf(state, name);
}

/** A13: ends the next one whose claim is over; null when there is none. Who only read may read on. */
export function endStrayHelper(state: RunState, live: Live, happening: Happening): Draft | null {
  for (const [name, fence] of live.helpers) {
    const actor = live.actors.get(name);
    if (actor === undefined || actor.doom !== null || fence === 0) continue;
    if (!isOutOfPlace(state, live, name)) continue;
    actor.doom = { kind: 'stopped', text: 'the task that it worked on is over' };
    actor.phase = 'stopping';
    const { incarnation } = actor;
    const draft = new Draft(state, happening);
    return draft.effect({ type: 'actor.stop', name, incarnation, graceMs: 0 });
  }
  return null;
}
