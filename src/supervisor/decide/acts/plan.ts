/** `request_plan`, `submit_plan`, `review_plan`. */
import { actorOf } from '../../../actors/index.ts';
import { nearMatches, SUPERVISOR, USER } from '../../../kernel/index.ts';
import type { Draft } from '../../draft.ts';
import { PLAN_REQUEST_MS, PLAN_REQUESTS_MAX } from '../../limits.ts';
import type { Asking } from '../asking.ts';
import { mayBind, openPlanOf, requestsOf } from '../plan-gate.ts';
import { decidePlan, propose, reviewRefusal } from '../plans.ts';
import { finishAct } from '../results.ts';
import { decideReview, verdictRefusal } from '../reviews.ts';
import { heldTask, mayRun } from '../roster.ts';
import { askChain, waitsOf } from '../waits.ts';
import { type Act, type Input, text } from './act.ts';

export function requestPlan(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor, happening } = asking;
  const from = text(input, 'from');
  const about = text(input, 'about');
  const refuse = (why: string): Draft => finishAct(asking, draft, act, { ok: false, text: why });
  const facts = actorOf(state.actors, from);
  if (facts === null || facts.kind === 'subagent') {
    const members = [...state.actors.byName.values()].filter((one) => one.kind !== 'subagent');
    const near = nearMatches(
      from,
      members.map((one) => one.name),
    );
    return refuse(
      `nobody in the team is called "${from}"${near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`}`,
    );
  }
  if (facts.name === actor.name) return refuse('make the plan of your own work, and submit_plan');
  if (!mayRun(state, facts, happening.now)) return refuse(`${from} is stopped`);
  if (facts.profile.plan === 'never') {
    return refuse(`the profile ${facts.profile.name} says that ${from} is not asked for plans`);
  }
  const open = openPlanOf(state, facts.name);
  if (open !== null && open.to === actor.name) {
    return refuse(`${open.id} of ${from} waits for you already: call review_plan`);
  }
  const mine = requestsOf(state, facts.name).find((one) => one.by === actor.name);
  if (mine !== undefined)
    return refuse(`you asked ${from} already (${mine.id}); the plan comes by mail`);
  if (openOf(asking) >= PLAN_REQUESTS_MAX) {
    return refuse(`you wait for ${PLAN_REQUESTS_MAX} plans already, as many as one may ask for`);
  }
  const ask = askChain(waitsOf(state, live), { waiter: actor.name, on: facts.name });
  if ('refusal' in ask) return refuse(ask.refusal);
  const id = `request-${state.team.requests.size + 1}`;
  const binds = mayBind(state, actor.name, facts.name);
  const { name } = facts;
  draft.team({
    type: 'plan.requested',
    id,
    from: name,
    by: actor.name,
    about,
    binds,
    chain: ask.chain,
  });
  const holds = binds ? ' Until it is approved, only what changes nothing runs for you.' : '';
  const body = {
    text: `${actor.name} asks you for a plan (${id}): ${about}\n\nLook round as far as you need, then call submit_plan.${holds}`,
    request: id,
    chain: ask.chain,
  };
  const lane = 'normal' as const;
  draft.send({ to: name, lane, type: 'plan.request', body }, draft.sender(actor.name));
  live.mailDirty.add(name);
  live.askedAt.set(id, happening.monotonicMs);
  const minutes = PLAN_REQUEST_MS / 60_000;
  return finishAct(asking, draft, act, {
    ok: true,
    text: `${id}: ${from} is asked. The plan comes by mail; you are told if there is none in ${minutes} minutes. Go on with something else, or end your turn.`,
  });
}

function openOf({ state, actor }: Asking): number {
  let count = 0;
  for (const id of state.team.openRequests) {
    if (state.team.requests.get(id)?.by === actor.name) count += 1;
  }
  return count;
}

export function submitPlan(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor, payload } = asking;
  const named = text(input, 'task');
  const held = heldTask(state, actor.name);
  if (named !== '' && named !== held?.spec.id) {
    const have = held === null ? 'you work on no task' : `you work on ${held.spec.id}`;
    return finishAct(asking, draft, act, { ok: false, text: `${have}, not on ${named}` });
  }
  const plan = text(input, 'plan');
  const { id, to } = propose(draft, live, { by: actor.name, text: plan, payload });
  if (to === USER && !state.file.attended) {
    const feedback = 'headless: this run has nobody who could approve a plan';
    draft.team({ type: 'plan.decided', id, by: SUPERVISOR, approve: false, feedback });
    live.askedAt.delete(id);
    return finishAct(asking, draft, act, { ok: false, text: `${id} is rejected: ${feedback}` });
  }
  return finishAct(asking, draft, act, {
    ok: true,
    text: `${id} is with ${to}. End your turn now; the decision comes by mail and wakes you.`,
  });
}

export function reviewPlan(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor } = asking;
  const id = text(input, 'id');
  if (state.team.reviewers.has(actor.name)) return reviewDiff(asking, draft, act, input);
  const plan = state.team.plans.get(id) ?? null;
  const refusal = reviewRefusal(plan, id, actor.name);
  if (plan === null || refusal !== null) {
    const waiting = [...state.team.open].filter((one) => isFor(asking, one));
    const near = waiting.length === 0 ? '' : `; for you to decide: ${waiting.join(', ')}`;
    return finishAct(asking, draft, act, { ok: false, text: `${refusal}${near}` });
  }
  const approve = input['approve'] === true;
  decidePlan(draft, live, { plan, by: actor.name, approve, feedback: text(input, 'feedback') });
  return finishAct(asking, draft, act, {
    ok: true,
    text: `${id} of ${plan.by} is ${approve ? 'approved' : 'rejected'}; ${plan.by} is told`,
  });
}

/** A reviewer's word on the diff that it was made for. */
function reviewDiff(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor } = asking;
  const id = text(input, 'id');
  const review = state.team.reviews.get(id);
  const approve = input['approve'] === true;
  const feedback = text(input, 'feedback');
  const silent = !approve && feedback.trim() === '' ? 'say in feedback what must change' : null;
  const refusal = verdictRefusal(review, id, actor.name) ?? silent;
  if (review === undefined || refusal !== null) {
    return finishAct(asking, draft, act, { ok: false, text: `${refusal}` });
  }
  decideReview(draft, live, { review, approve, feedback });
  const said = approve ? 'approved' : 'rejected, and its author is told why';
  return finishAct(asking, draft, act, { ok: true, text: `${id} is ${said}. End your turn now.` });
}

function isFor({ state, actor }: Asking, id: string): boolean {
  return state.team.plans.get(id)?.to === actor.name;
}
