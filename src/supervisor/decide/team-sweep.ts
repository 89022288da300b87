/**
 * Deadlines of what members ask of each other, and what follows from an end. Time is counted in this term alone, by a
 * clock that nobody sets: a restart or a sleeping machine lets nothing expire at once.
 */
import { actorOf } from '../../actors/index.ts';
import { type ActorName, USER } from '../../kernel/index.ts';
import { Draft } from '../draft.ts';
import type { Happening } from '../inbox.ts';
import {
  PLAN_PERSON_MS,
  PLAN_REQUEST_MS,
  PLAN_REVIEW_MS,
  SHUTDOWN_ANSWER_MS,
  SHUTDOWN_WORK_MS,
} from '../limits.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import type { Plan, PlanRequest } from '../teamwork.ts';
import { endStopped } from './ends.ts';
import { openPlanOf } from './plan-gate.ts';
import { tellDecision } from './plans.ts';
import { mayRun } from './roster.ts';
import { endText, force } from './shutdowns.ts';

/** Part of each sweep. */
export function sweepTeamwork(draft: Draft, live: Live): void {
  const { state, happening } = draft;
  const isOver = (id: string, ms: number): boolean => {
    const since = live.askedAt.get(id);
    if (since === undefined) live.askedAt.set(id, happening.monotonicMs);
    return since !== undefined && happening.monotonicMs - since >= ms;
  };
  for (const id of state.team.open) {
    const plan = state.team.plans.get(id);
    if (plan === undefined || !isOver(id, plan.to === USER ? PLAN_PERSON_MS : PLAN_REVIEW_MS)) {
      continue;
    }
    expire(draft, live, plan);
  }
  for (const id of state.team.openRequests) {
    const request = state.team.requests.get(id);
    if (request === undefined || request.overdue) continue;
    if (openPlanOf(state, request.from) === null && isOver(id, PLAN_REQUEST_MS)) {
      overdue(draft, live, request);
    }
  }
  for (const asked of state.team.shutdowns.values()) {
    if (asked.state !== 'asked' && asked.state !== 'working') continue;
    const ms = asked.state === 'asked' ? SHUTDOWN_ANSWER_MS : SHUTDOWN_WORK_MS;
    if (isOver(asked.id, ms)) force(draft, live, asked);
  }
}

/** Without a word in time a plan is not approved: the gate stays shut, and whoever planned may ask again. */
function expire(draft: Draft, live: Live, plan: Plan): void {
  draft.about('sup').team({ type: 'plan.closed', id: plan.id, why: 'expired' });
  tellDecision(draft, live, plan, {
    from: draft.supervisor(),
    approve: false,
    text: `${plan.id} has expired: ${plan.to} has not decided in time. Nothing is approved; submit it again, or give the task up with fail_task.`,
  });
  notify(draft, live, plan.to, {
    type: 'plan.decided',
    text: `${plan.id} of ${plan.by} has expired, since nobody decided on it in time; its gate stays shut.`,
    about: { plan: plan.id },
  });
}

function overdue(draft: Draft, live: Live, request: PlanRequest): void {
  const { id, from, by } = request;
  draft.about('sup').team({ type: 'plan.overdue', id });
  const minutes = PLAN_REQUEST_MS / 60_000;
  notify(draft, live, by, {
    type: 'plan.decided',
    text: `${from} has not made the plan that you asked for (${id}) within ${minutes} minutes. The request stands.`,
    about: { request: id },
  });
  notify(draft, live, from, {
    type: 'plan.request',
    text: `${by} still waits for your plan (${id}): ${request.about}`,
    about: { request: id },
  });
}

function notify(
  draft: Draft,
  live: Live,
  to: ActorName,
  letter: {
    readonly type: 'plan.decided' | 'plan.request';
    readonly text: string;
    readonly about: Readonly<Record<string, string>>;
  },
): void {
  const facts = actorOf(draft.state.actors, to);
  if (to !== USER && (facts === null || !mayRun(draft.state, facts, draft.happening.now))) return;
  const { type, text, about } = letter;
  draft.notice({ to, lane: 'normal', type, body: { text, ...about } });
  if (to !== USER) live.mailDirty.add(to);
}

/** What follows from the end of an actor, or of a supervisor, and was not done yet; null when nothing. */
export function settleTeamwork(state: RunState, live: Live, happening: Happening): Draft | null {
  for (const id of state.team.untold) {
    const draft = new Draft(state, happening).about('sup').team({ type: 'plan.told', id });
    const request = state.team.requests.get(id);
    if (request === undefined) return draft;
    notify(draft, live, request.by, {
      type: 'plan.decided',
      text: `No plan will come for ${id}: the life of ${request.from} has ended. Ask again if it goes on, or ask somebody else.`,
      about: { request: id },
    });
    return draft;
  }
  for (const asked of state.team.shutdowns.values()) {
    // A9: it was to be ended, and the thread that it had is gone, with its supervisor or by itself.
    if (asked.state !== 'ready' && asked.state !== 'forced') continue;
    if (live.actors.has(asked.name)) continue;
    const facts = actorOf(state.actors, asked.name);
    if (facts === null) continue;
    const draft = new Draft(state, happening);
    const { name, incarnation } = facts;
    const how = asked.state === 'ready' ? 'it was ready' : 'its time was over';
    endStopped(draft, live, { name, incarnation, text: endText(asked, how) });
    return draft;
  }
  return null;
}
