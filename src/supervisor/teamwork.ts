/**
 * What members of a team have asked of each other and how it stands: plans, requests for plans, shutdowns. A fold over
 * records; what ends with a claim or a life ends here, by the record that ends it, whoever wrote that.
 *
 * Invariants
 * - A6 An approval belongs to one actor's life and its work on one task. It is carried to the next claim when the same
 *   actor takes the same task again (a rework), and is void with the actor's end, so nobody works on another's approval.
 * - A7 A plan has one outcome: what comes later changes nothing.
 */
import type { ActorName, EnvelopeId, TaskId } from '../kernel/index.ts';
import type { StoredRunRecord, TaskChange, TeamChange } from '../protocol/index.ts';
import { CLOSED_PLAN_CHARS } from './limits.ts';
import { clip } from './text.ts';

export type PlanState =
  | 'proposed'
  | 'approved'
  | 'rejected'
  | 'expired'
  | 'superseded'
  /** Its actor or its claim came to an end. */
  | 'withdrawn';

export interface Plan {
  readonly id: string;
  readonly by: ActorName;
  readonly to: ActorName;
  readonly task: TaskId | null;
  /** Of the claim that it is for; 0 without a task. */
  readonly fence: number;
  readonly request: string | null;
  readonly letter: EnvelopeId;
  /** Whole while it waits, up to the size of a record; then its beginning and end. */
  readonly text: string;
  readonly blob?: string;
  readonly bytes?: number;
  readonly at: string;
  readonly state: PlanState;
  readonly decidedBy: ActorName | null;
  readonly feedback: string;
}

export interface PlanRequest {
  readonly id: string;
  readonly from: ActorName;
  readonly by: ActorName;
  readonly about: string;
  readonly binds: boolean;
  readonly at: string;
  readonly state: 'open' | 'met' | 'withdrawn';
  readonly overdue: boolean;
}

export interface Shutdown {
  readonly id: string;
  readonly name: ActorName;
  readonly by: ActorName;
  readonly reason: string;
  /** Position of its letter. */
  readonly n: number;
  readonly insists: boolean;
  readonly at: string;
  readonly state: 'asked' | 'working' | 'ready' | 'refused' | 'forced';
}

export interface Review {
  readonly id: string;
  readonly by: ActorName;
  readonly task: TaskId;
  readonly fence: number;
  readonly commit: string;
  readonly state: 'asked' | 'approved' | 'rejected' | 'withdrawn';
}

export interface Teamwork {
  readonly reviews: Map<string, Review>;
  /** Who looks at a diff now, with the id of the review. */
  readonly reviewers: Map<ActorName, string>;
  readonly plans: Map<string, Plan>;
  /** Ids of plans that wait for a decision. */
  readonly open: Set<string>;
  /** The approved plan of each task that is worked on. */
  readonly approved: Map<TaskId, string>;
  readonly requests: Map<string, PlanRequest>;
  readonly openRequests: Set<string>;
  /** Requests that no plan will come for any more, of which the one who asked was not told yet. */
  readonly untold: Set<string>;
  /** The last one of each actor in its present life. */
  readonly shutdowns: Map<ActorName, Shutdown>;
  shutdownCount: number;
  /** Subagents at work whose answer goes by mail. */
  readonly background: Set<ActorName>;
}

export function makeTeamwork(): Teamwork {
  return {
    reviews: new Map(),
    reviewers: new Map(),
    plans: new Map(),
    open: new Set(),
    approved: new Map(),
    requests: new Map(),
    openRequests: new Set(),
    untold: new Set(),
    shutdowns: new Map(),
    shutdownCount: 0,
    background: new Set(),
  };
}

/** Applied after the actors and tasks of the same record. */
export function applyTeamwork(state: Teamwork, record: StoredRunRecord): void {
  for (const change of record.actors ?? []) {
    if (change.type === 'actor.ended') endLife(state, change.name);
  }
  for (const change of record.tasks ?? []) applyTask(state, change, record.s);
  for (const change of record.team ?? []) applyChange(state, change, record.at);
}

function endLife(state: Teamwork, name: ActorName): void {
  settleReview(state, state.reviewers.get(name) ?? '', 'withdrawn');
  for (const id of state.open) {
    if (state.plans.get(id)?.by === name) settlePlan(state, id, { state: 'withdrawn' });
  }
  for (const id of state.approved.values()) {
    if (state.plans.get(id)?.by === name) settlePlan(state, id, { state: 'withdrawn' });
  }
  for (const id of state.openRequests) {
    const request = state.requests.get(id);
    if (request === undefined || (request.from !== name && request.by !== name)) continue;
    state.requests.set(id, { ...request, state: 'withdrawn' });
    state.openRequests.delete(id);
    if (request.by !== name) state.untold.add(id);
  }
  state.shutdowns.delete(name);
  state.background.delete(name);
}

/** Changes after which a plan that still waits is for nothing. */
const CLAIM_OVER: ReadonlySet<string> = new Set<TaskChange['type']>([
  'task.finished',
  'task.released',
  'task.failed',
  'task.cancelled',
]);

/** Changes after which nobody works on the task again: what was approved for it stays so. */
const TASK_OVER: ReadonlySet<string> = new Set<TaskChange['type']>([
  'task.done',
  'task.failed',
  'task.cancelled',
]);

function applyTask(state: Teamwork, change: TaskChange, seq: number): void {
  if (TASK_OVER.has(change.type) && 'id' in change) state.approved.delete(change.id);
  if (change.type === 'task.claimed') {
    const plan = state.plans.get(state.approved.get(change.id) ?? '');
    if (plan === undefined) return;
    if (plan.by === change.by) state.plans.set(plan.id, { ...plan, fence: seq });
    else settlePlan(state, plan.id, { state: 'withdrawn' });
  } else if (CLAIM_OVER.has(change.type) && 'id' in change) {
    for (const id of state.open) {
      if (state.plans.get(id)?.task === change.id) settlePlan(state, id, { state: 'withdrawn' });
    }
  }
}

function applyChange(state: Teamwork, change: TeamChange, at: string): void {
  switch (change.type) {
    case 'plan.requested': {
      const { id, from, by, binds } = change;
      const about = clip(change.about, CLOSED_PLAN_CHARS);
      const request = { id, from, by, about, binds, at, overdue: false };
      state.requests.set(id, { ...request, state: 'open' });
      state.openRequests.add(id);
      return;
    }
    case 'plan.overdue': {
      const request = state.requests.get(change.id);
      if (request !== undefined) state.requests.set(change.id, { ...request, overdue: true });
      return;
    }
    case 'plan.told':
      state.untold.delete(change.id);
      return;
    case 'plan.proposed': {
      const { type: _, ...plan } = change;
      const rest = { at, decidedBy: null, feedback: '' };
      state.plans.set(plan.id, { ...plan, ...rest, state: 'proposed' });
      state.open.add(plan.id);
      return;
    }
    case 'plan.decided': {
      const { id, by, approve, feedback } = change;
      const words = { decidedBy: by, feedback: clip(feedback, CLOSED_PLAN_CHARS) };
      settlePlan(state, id, { ...words, state: approve ? 'approved' : 'rejected' });
      return;
    }
    case 'plan.closed':
      settlePlan(state, change.id, { state: change.why });
      return;
    case 'shutdown.requested': {
      const { type: _, ...asked } = change;
      state.shutdowns.set(change.name, { ...asked, at, state: 'asked' });
      state.shutdownCount += 1;
      return;
    }
    case 'shutdown.answered':
    case 'shutdown.forced': {
      const asked = state.shutdowns.get(change.name);
      const now = change.type === 'shutdown.forced' ? 'forced' : change.answer;
      if (asked?.id === change.id) state.shutdowns.set(change.name, { ...asked, state: now });
      return;
    }
    case 'review.asked': {
      const { type: _, ...asked } = change;
      state.reviews.set(change.id, { ...asked, state: 'asked' });
      state.reviewers.set(change.by, change.id);
      return;
    }
    case 'review.decided':
      settleReview(state, change.id, change.approve ? 'approved' : 'rejected');
      return;
    case 'subagent.background':
      state.background.add(change.name);
  }
}

function settleReview(state: Teamwork, id: string, outcome: Review['state']): void {
  const review = state.reviews.get(id);
  if (review === undefined || review.state !== 'asked') return;
  state.reviews.set(id, { ...review, state: outcome });
  state.reviewers.delete(review.by);
}

function settlePlan(
  state: Teamwork,
  id: string,
  outcome: Pick<Plan, 'state'> & Partial<Pick<Plan, 'decidedBy' | 'feedback'>>,
): void {
  const plan = state.plans.get(id);
  if (plan === undefined) return;
  const attached = plan.task !== null && state.approved.get(plan.task) === id;
  // A7: an approval can still be withdrawn, all else is final.
  if (plan.state !== 'proposed' && !(attached && outcome.state === 'withdrawn')) return;
  state.plans.set(id, { ...plan, ...outcome, text: clip(plan.text, CLOSED_PLAN_CHARS) });
  state.open.delete(id);
  if (attached && plan.task !== null) state.approved.delete(plan.task);
  if (outcome.state !== 'approved') return;
  if (plan.task !== null) state.approved.set(plan.task, id);
  const request = state.requests.get(plan.request ?? '');
  if (request === undefined || request.state !== 'open') return;
  state.requests.set(request.id, { ...request, state: 'met' });
  state.openRequests.delete(request.id);
}

/** A shutdown that is going on; null when none is, or when it was refused. */
export function openShutdown(state: Teamwork, name: ActorName): Shutdown | null {
  const asked = state.shutdowns.get(name);
  return asked === undefined || asked.state === 'refused' ? null : asked;
}
