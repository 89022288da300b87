/** What is looked at every few seconds, whatever happens: deadlines, leases, the wall time, merges that wait. */
import { isoTime, USER } from '../../kernel/index.ts';
import { parkedFor } from '../breaker.ts';
import { Draft } from '../draft.ts';
import type { Happening } from '../inbox.ts';
import { BUDGET_WARN_SHARE, LEASE_MS, STALLED_SWEEPS, SWEEP_FAR_MS, SWEEP_MS } from '../limits.ts';
import type { Live, LiveActor } from '../live.ts';
import type { RunState } from '../state.ts';
import { markDue } from './asks/answer.ts';
import { waitsForPerson } from './asks/end.ts';
import { warnOf } from './budget.ts';
import { waitsForOutlet } from './outlet.ts';
import { passivateIdle } from './passivate.ts';
import { openPlanOf } from './plan-gate.ts';
import { endLateReviews } from './reviews.ts';
import { startable } from './tasks.ts';
import { sweepTeamwork } from './team-sweep.ts';

/** Deadlines, leases and budgets; deadlines are kept here and not by the thread that may be stuck (design §6). */
export function sweep(
  state: RunState,
  live: Live,
  happening: Happening,
  beats: Readonly<Record<string, number>>,
): Draft {
  const draft = new Draft(state, happening);
  live.sweepAt = null;
  if (live.halting !== null || state.run.ended !== null) return draft;
  live.outlet.dirty = true;
  checkDispatch(draft, live);
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
    const late = overdue(state, live, happening, { actor, beat: beats[actor.name] ?? 0 });
    if (late === null || actor.doom !== null) continue;
    actor.doom = { kind: 'crashed', ...late };
    draft.effect({
      type: 'actor.stop',
      name: actor.name,
      incarnation: actor.incarnation,
      graceMs: 0,
    });
  }
  endLateReviews(draft, live);
  passivateIdle(draft, live);
  return draft;
}

/**
 * A12. Plans the next sweep, when something can fall due by itself: often while threads live or people and actors have
 * deadlines, once at the end of what has an end, and not at all for actors that are asleep.
 */
export function planSweep(state: RunState, live: Live, happening: Happening): Draft | null {
  // The usual case, at the price of a comparison.
  if (live.sweepAt !== null && live.sweepAt <= happening.monotonicMs + SWEEP_MS) return null;
  const ms = dueIn(state, live, happening);
  if (ms === null) return null;
  const at = happening.monotonicMs + ms;
  if (live.sweepAt !== null && live.sweepAt <= at) return null;
  live.sweepAt = at;
  return new Draft(state, happening).effect({ type: 'sweep.later', ms });
}

function dueIn(state: RunState, live: Live, happening: Happening): number | null {
  const { team, asks, spending } = state;
  const busy =
    live.actors.size + live.claimedAt.size + live.outlet.queue.size + live.taskOps.size > 0 ||
    live.mergeHold !== null ||
    team.open.size + team.openRequests.size > 0 ||
    [...asks.asks.values()].some((ask) => ask.answer === null) ||
    live.stalled !== null ||
    startable(state, happening.now) !== null;
  const wallMs = wallLeft(state, live, happening);
  // A short wall time has its warning and its end in time, however often else is looked.
  if (busy) return Math.max(1, Math.ceil(Math.min(SWEEP_MS, wallMs ?? SWEEP_MS)));
  const ends = [...spending.quotas.values()].map(({ until }) => Date.parse(until) - happening.now);
  const parkedMs = parkedFor(state.breaker, happening.now);
  if (parkedMs > 0) ends.push(parkedMs);
  if (wallMs !== null) ends.push(wallMs);
  if (ends.length === 0) return null;
  return Math.min(SWEEP_FAR_MS, Math.max(SWEEP_MS, Math.ceil(Math.min(...ends))));
}

/** Until the warning, then until the end; null without a bound. */
function wallLeft(state: RunState, live: Live, { monotonicMs }: Happening): number | null {
  const { wallMs } = state.spending.budget;
  if (wallMs === null) return null;
  const used = live.wallUsedMs + monotonicMs - live.startedMonotonic;
  const warnAt = wallMs * BUDGET_WARN_SHARE;
  return (used < warnAt ? warnAt : wallMs) - used;
}

/** Why an actor must be ended now: no sign of life of it or of what runs for it, or its task's deadline. */
function overdue(
  state: RunState,
  live: Live,
  happening: Happening,
  seen: { readonly actor: LiveActor; readonly beat: number },
): { readonly cause: 'hang' | 'deadline'; readonly text: string } | null {
  const { actor, beat } = seen;
  const working = [...live.acts.values()].some((act) => act.name === actor.name);
  if (beat !== actor.beat || working) {
    actor.beat = beat;
    actor.beatAt = happening.monotonicMs;
  } else if (happening.monotonicMs - actor.beatAt > LEASE_MS) {
    return { cause: 'hang', text: `no sign of life for ${LEASE_MS / 1000} s` };
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
  const text = `the deadline of task ${node.spec.id} passed (${isoTime(happening.now)})`;
  return { cause: 'deadline', text };
}

/** S14. What is looked at here would have been begun by the decision before: found twice, it is a fault of ours, and is told. */
function checkDispatch(draft: Draft, live: Live): void {
  const { state, happening } = draft;
  const node = state.file.replay === undefined ? startable(state, happening.now) : null;
  if (node === null) {
    live.stalled = null;
    return;
  }
  const task = node.spec.id;
  const times = live.stalled?.task === task ? live.stalled.times + 1 : 1;
  live.stalled = { task, times };
  if (times !== STALLED_SWEEPS) return;
  const text = `task ${task} is ready, a slot and a worker are free, and nothing was begun`;
  draft.about('run').runChange({ type: 'run.alarm', what: 'stalled', task, text });
  draft.notice({
    to: USER,
    lane: 'normal',
    type: 'chat.message',
    task,
    body: {
      text: `Troupe found a fault of its own: ${text}. \`troupe stop\` and \`troupe resume\` look at everything anew.`,
    },
  });
}
