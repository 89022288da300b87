/** Who waits for whom now, from the facts: asks for plans, foreground subagents (M7). */
import { actorOf } from '../../actors/index.ts';
import { cycleError, type Wait, waitChain, waitCycle } from '../../mailbox/index.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { openPlanOf } from './plan-gate.ts';

/**
 * A plan that lies with its reviewer is an answer, and is never refused for a ring: what was asked before it is met by it.
 * A shutdown is none either, since it ends by force.
 */
export function waitsOf(state: RunState, live: Live): Wait[] {
  const waits: Wait[] = [];
  for (const id of state.team.openRequests) {
    const request = state.team.requests.get(id);
    if (request === undefined) continue;
    const answered = openPlanOf(state, request.from)?.to === request.by;
    if (!answered) waits.push({ waiter: request.by, on: request.from });
  }
  for (const id of state.team.open) {
    const plan = state.team.plans.get(id);
    if (plan !== undefined) waits.push({ waiter: plan.by, on: plan.to });
  }
  for (const act of live.acts.values()) {
    const child = act.tool.startsWith('task:') ? act.tool.slice('task:'.length) : null;
    if (child !== null && actorOf(state.actors, child) !== null) {
      waits.push({ waiter: act.name, on: child });
    }
  }
  return waits;
}

/** The chain that an ask of `waiter` carries, or in words why it would close a ring. */
export function askChain(
  waits: readonly Wait[],
  next: Wait,
): { readonly chain: string[] } | { readonly refusal: string } {
  const ring = waitCycle(waits, next);
  if (ring === null) return { chain: waitChain(waits, next.waiter) };
  const error = cycleError(ring);
  return { refusal: `${error.code}: ${error.message}. ${error.hint}` };
}
