/** What is looked at every few seconds, whatever happens: deadlines, leases, the wall time, merges that wait. */
import { isoTime } from '../../kernel/index.ts';
import { Draft } from '../draft.ts';
import type { Happening } from '../inbox.ts';
import { BUDGET_WARN_SHARE, LEASE_MS, SWEEP_MS } from '../limits.ts';
import type { Live, LiveActor } from '../live.ts';
import type { RunState } from '../state.ts';
import { markDue } from './asks/answer.ts';
import { waitsForPerson } from './asks/end.ts';
import { warnOf } from './budget.ts';
import { waitsForOutlet } from './outlet.ts';
import { passivateIdle } from './passivate.ts';
import { openPlanOf } from './plan-gate.ts';
import { sweepTeamwork } from './team-sweep.ts';

/** Deadlines, leases and budgets; deadlines are kept here and not by the thread that may be stuck (design §6). */
export function sweep(
  state: RunState,
  live: Live,
  happening: Happening,
  beats: Readonly<Record<string, number>>,
): Draft {
  const draft = new Draft(state, happening);
  if (live.halting !== null || state.run.ended !== null) return draft;
  live.outlet.dirty = true;
  const { wallMs } = state.spending.budget;
  const used = live.wallUsedMs + happening.monotonicMs - live.startedMonotonic;
  if (wallMs !== null && used >= wallMs) {
    const spent = `${Math.round(used / 1000)} s of ${Math.round(wallMs / 1000)} s`;
    live.halting = { next: 'budget', text: `the wall time of the run is used up: ${spent}` };
    return draft.effect({ type: 'halt', graceMs: 0 });
  }
  if (wallMs !== null && used >= wallMs * BUDGET_WARN_SHARE) {
    const text = `Nine tenths of the wall time of the run are used: ${Math.round(used / 1000)} s of ${Math.round(wallMs / 1000)} s.`;
    warnOf(draft.about('run'), live, { scope: 'wall', text });
  }
  sweepTeamwork(draft, live);
  markDue(draft.about('perm'));
  if (live.mergeHold !== null) live.mergeHold = { ...live.mergeHold, waiting: false };
  for (const actor of live.actors.values()) {
    const why = overdue(state, live, happening, { actor, beat: beats[actor.name] ?? 0 });
    if (why === null || actor.doom !== null) continue;
    actor.doom = { kind: 'crashed', text: why, token: null };
    draft.effect({
      type: 'actor.stop',
      name: actor.name,
      incarnation: actor.incarnation,
      graceMs: 0,
    });
  }
  passivateIdle(draft, live);
  return draft.effect({ type: 'sweep.later', ms: SWEEP_MS });
}

/** Why an actor must be ended now: no sign of life of it or of what runs for it, or its task's deadline. */
function overdue(
  state: RunState,
  live: Live,
  happening: Happening,
  seen: { readonly actor: LiveActor; readonly beat: number },
): string | null {
  const { actor, beat } = seen;
  const working = [...live.acts.values()].some((act) => act.name === actor.name);
  if (beat !== actor.beat || working) {
    actor.beat = beat;
    actor.beatAt = happening.monotonicMs;
  } else if (happening.monotonicMs - actor.beatAt > LEASE_MS) {
    return `no sign of life for ${LEASE_MS / 1000} s`;
  }
  const task = state.claims.get(actor.name);
  const node = task === undefined ? undefined : state.graph.nodes.get(task);
  const since = task === undefined ? undefined : live.claimedAt.get(task);
  if (node === undefined || since === undefined || node.state !== 'running') return null;
  // While others look at its plan the time is theirs, and a review has a deadline of its own.
  if (openPlanOf(state, actor.name)?.task === node.spec.id) return null;
  // The task's clock stands still while a person is waited for.
  if (waitsForPerson(state, live, actor.name)) return null;
  // And while its model may not be asked.
  if (waitsForOutlet(state, live, actor.name)) return null;
  if (happening.monotonicMs - since <= node.spec.timeoutMs) return null;
  return `the deadline of task ${node.spec.id} passed (${isoTime(happening.now)})`;
}
