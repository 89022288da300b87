/**
 * Plans: submitted by who will do the work, decided by the one it was sent to, or by the user. One outcome each (A7):
 * whatever comes second, late or from somebody else changes nothing and says so.
 */
import { actorOf } from '../../actors/index.ts';
import { type ActorName, EXIT, LEAD, SUPERVISOR, USER } from '../../kernel/index.ts';
import type { MailSender } from '../../mailbox/index.ts';
import type { PayloadRef } from '../../protocol/index.ts';
import { Draft } from '../draft.ts';
import type { Happening, RunEvent } from '../inbox.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import type { Plan } from '../teamwork.ts';
import { isRequired, mayBind, openPlanOf, requestsOf } from './plan-gate.ts';
import { heldTask, mayRun, noticeTarget } from './roster.ts';

/** Who decides on a plan of this actor, and the request that it answers. */
function reviewerOf(
  state: RunState,
  by: ActorName,
  nowMs: number,
): { readonly to: ActorName; readonly request: string | null } {
  const requests = requestsOf(state, by);
  // What opens a gate goes first: to the lead or the user, or to the one of them who asked.
  const binding = requests.find((request) => request.binds);
  const chosen = binding ?? (isRequired(state, by) ? undefined : requests[0]);
  if (chosen !== undefined) {
    const facts = actorOf(state.actors, chosen.by);
    const there = chosen.by === USER || (facts !== null && mayRun(state, facts, nowMs));
    if (there) return { to: chosen.by, request: chosen.id };
  }
  const target = noticeTarget(state);
  return { to: target === by ? USER : target, request: null };
}

/** Records a plan and sends it to its reviewer; an older one of the same actor that still waits gives way to it. */
export function propose(
  draft: Draft,
  live: Live,
  what: {
    readonly by: ActorName;
    readonly text: string;
    readonly payload?: PayloadRef | undefined;
  },
): { readonly id: string; readonly to: ActorName } {
  const { state } = draft;
  const { by, text, payload } = what;
  const older = openPlanOf(state, by);
  if (older !== null) draft.team({ type: 'plan.closed', id: older.id, why: 'superseded' });
  const id = `plan-${state.team.plans.size + 1}`;
  const { to, request } = reviewerOf(state, by, draft.happening.now);
  const node = heldTask(state, by);
  const task = node?.spec.id ?? null;
  const from = draft.sender(by);
  const about = task === null ? '' : ` for task ${task}`;
  const how =
    to === USER
      ? `Decide with \`troupe plan approve ${id}\` or \`troupe plan reject ${id} --feedback TEXT\`.`
      : `Decide with review_plan, id ${id}.`;
  const gives = older === null ? '' : ` It takes the place of ${older.id}.`;
  const letter = draft.send(
    {
      to,
      lane: 'normal',
      type: 'plan.proposed',
      ...(task === null ? {} : { task }),
      body: {
        text: `${by} proposes ${id}${about}.${gives} ${how}\n\n${text}${payload === undefined ? '' : '\n\n(The whole plan comes in the next letter.)'}`,
        plan: id,
      },
    },
    from,
  );
  if (payload !== undefined) {
    // The text of a letter by reference is replaced whole for its reader: the plan stands alone in it.
    draft.send(
      {
        to,
        lane: 'normal',
        type: 'plan.proposed',
        ...(task === null ? {} : { task }),
        body: { text, plan: id, ...payload },
      },
      from,
    );
  }
  const fence = node?.fence ?? 0;
  draft.team({
    type: 'plan.proposed',
    id,
    by,
    to,
    task,
    fence,
    request,
    letter: letter.id,
    text,
    ...payload,
  });
  live.askedAt.set(id, draft.happening.monotonicMs);
  if (to !== USER) live.mailDirty.add(to);
  return { id, to };
}

/** Why `by` can't decide on this plan; null when it can. `plan` null: there is none of this id. */
export function reviewRefusal(plan: Plan | null, id: string, by: ActorName): string | null {
  if (plan === null) return `there is no plan "${id}"`;
  if (plan.by === by) return `${id} is your own: nobody approves a plan of their own`;
  if (by !== USER && plan.to !== by) return `${id} was sent to ${plan.to}, not to you`;
  switch (plan.state) {
    case 'proposed':
      return null;
    case 'approved':
    case 'rejected':
      return `${id} was ${plan.state} by ${plan.decidedBy ?? 'somebody'} already`;
    case 'expired':
      return `${id} has expired without a decision; ${plan.by} may submit it again`;
    case 'superseded':
      return `${id} was replaced by a newer plan of ${plan.by}`;
    case 'withdrawn':
      return `${id} is withdrawn: the work that it was for is over`;
  }
}

/** The decision and the letter about it; the caller has checked that it may be made. */
export function decidePlan(
  draft: Draft,
  live: Live,
  what: {
    readonly plan: Plan;
    readonly by: ActorName;
    readonly approve: boolean;
    readonly feedback: string;
  },
): void {
  const { plan, by, approve, feedback } = what;
  draft.team({ type: 'plan.decided', id: plan.id, by, approve, feedback });
  tellDecision(draft, live, plan, {
    from: senderOf(draft, by),
    approve,
    text: words(draft.state, what),
  });
}

function words(
  state: RunState,
  what: { plan: Plan; by: ActorName; approve: boolean; feedback: string },
): string {
  const { plan, by, approve, feedback } = what;
  const said = feedback === '' ? '' : `\n${feedback}`;
  if (!approve) {
    const why = said === '' ? ' No reason was given; ask for one.' : said;
    return `${plan.id} is rejected by ${by}. Change it and submit it again; until a plan is approved the gate stays shut.${why}`;
  }
  const opens = mayBind(state, by, plan.by) || !isRequired(state, plan.by);
  const rest = opens
    ? 'Go on with the work as planned.'
    : 'Your task still needs the approval of the lead or the user: submit the plan once more.';
  return `${plan.id} is approved by ${by}. ${rest}${said}`;
}

function senderOf(draft: Draft, by: ActorName): MailSender {
  if (by === USER) return draft.user();
  return by === SUPERVISOR ? draft.supervisor() : draft.sender(by);
}

/** In lane `control`: who planned waits for it. The time that it waited is not the task's. */
export function tellDecision(
  draft: Draft,
  live: Live,
  plan: Plan,
  said: { readonly from: MailSender; readonly approve: boolean; readonly text: string },
): void {
  const { from, approve, text } = said;
  const asked = live.askedAt.get(plan.id);
  live.askedAt.delete(plan.id);
  const claimed = plan.task === null ? undefined : live.claimedAt.get(plan.task);
  if (plan.task !== null && asked !== undefined && claimed !== undefined) {
    live.claimedAt.set(plan.task, claimed + draft.happening.monotonicMs - asked);
  }
  draft.send(
    {
      to: plan.by,
      lane: 'control',
      type: 'plan.decided',
      re: plan.letter,
      ...(plan.task === null ? {} : { task: plan.task }),
      body: { text, plan: plan.id, approve },
    },
    from,
  );
  live.mailDirty.add(plan.by);
}

/** A person's decision. */
export function userDecides(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'plan.decide' }>,
): Draft {
  const draft = new Draft(state, happening).about('sup');
  const { token, id, approve, feedback } = event;
  const plan = state.team.plans.get(id) ?? null;
  const refusal = reviewRefusal(plan, id, USER);
  if (plan === null || refusal !== null) {
    const known = plan !== null;
    return draft.effect({
      type: 'refuse',
      token,
      error: {
        code: known ? 'plan/decided' : 'plan/unknown',
        message: `Nothing was changed: ${refusal}`,
        hint: 'See `troupe plans`.',
        exit: known ? EXIT.unfinished : EXIT.notFound,
      },
    });
  }
  decidePlan(draft, live, { plan, by: USER, approve, feedback });
  if (plan.to !== USER) {
    draft.notice({
      to: plan.to,
      lane: 'normal',
      type: 'plan.decided',
      re: plan.letter,
      body: {
        text: `The user has ${approve ? 'approved' : 'rejected'} ${id} of ${plan.by}.`,
        plan: id,
      },
    });
    if (plan.to !== LEAD || actorOf(state.actors, LEAD) !== null) live.mailDirty.add(plan.to);
  }
  const value = { id, by: plan.by, task: plan.task, state: approve ? 'approved' : 'rejected' };
  return draft.effect({ type: 'answer', token, value });
}
