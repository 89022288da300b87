/**
 * The gate `review`: an actor of the named profile, made for this one diff, says whether it may land. It works where the
 * author did, and may only read; it is never the author, and knows nothing of how the work came about but what it is told.
 *
 * Invariants
 * - T12 A review is of one commit, under one claim: a word on anything older changes nothing. Who says nothing approves
 *   nothing.
 */
import type { ActorName } from '../../kernel/index.ts';
import type { Gate } from '../../protocol/index.ts';
import type { TaskNode } from '../../tasks/index.ts';
import type { Draft } from '../draft.ts';
import { GATE_TAIL_BYTES, REVIEW_TRIES } from '../limits.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import type { Review } from '../teamwork.ts';
import { clip } from '../text.ts';
import { toNextGate } from './gates.ts';
import { endAttempt } from './task-ends.ts';

type ReviewGate = Extract<Gate, { kind: 'review' }>;

/** As evidence and lists name it. */
export const reviewName = (profile: string): string => `review: ${profile}`;

/** Has the diff read; without one there is nothing to approve, and the gate is passed. */
export function beginReview(draft: Draft, live: Live, node: TaskNode): boolean {
  if (node.commit === null) return false;
  const { id } = node.spec;
  live.taskOps.set(id, 'gate');
  draft.effect({ type: 'diff.read', task: id, fence: node.fence, commit: node.commit });
  return true;
}

/** The review that the task's gates have come to; null when it is no review. */
export function gateOf(live: Live, node: TaskNode): ReviewGate | null {
  const gate = node.spec.verify[live.gates.get(node.spec.id)?.index ?? -1];
  return gate?.kind === 'review' ? gate : null;
}

/** Why this actor can't decide on this review; null when it can. */
export function verdictRefusal(
  review: Review | undefined,
  id: string,
  by: ActorName,
): string | null {
  if (review === undefined) return `there is no review "${id}"`;
  if (review.by !== by) return `${id} is not yours`;
  return review.state === 'asked' ? null : `${id} is ${review.state} already`;
}

/** The reviewer's word, with what it means for the task, in one record. */
export function decideReview(
  draft: Draft,
  live: Live,
  said: { readonly review: Review; readonly approve: boolean; readonly feedback: string },
): void {
  const { review, approve, feedback } = said;
  const { id, by, task } = review;
  draft.team({ type: 'review.decided', id, by, approve, feedback });
  live.reviewsDue.delete(id);
  const node = current(draft.state, review);
  const gate = node === null ? null : gateOf(live, node);
  const progress = live.gates.get(task);
  if (node === null || gate === null || progress === undefined) return;
  live.taskOps.delete(task);
  live.dirty.add(task);
  draft.task({
    type: 'task.gate',
    id: task,
    gate: reviewName(gate.profile),
    stage: 'task',
    commit: review.commit,
    ok: approve,
    exit: null,
    output: null,
    tries: progress.tries + 1,
    ...(feedback === '' ? {} : { text: clip(feedback, GATE_TAIL_BYTES) }),
  });
  if (approve) toNextGate(progress);
  else notApproved(draft, live, { node, gate, text: `${by} did not approve it:\n${feedback}` });
}

/** It is about this very commit, under the claim that goes on. */
function current(state: RunState, review: Review): TaskNode | null {
  const node = state.graph.nodes.get(review.task);
  if (node?.state !== 'verifying' || node.fence !== review.fence) return null;
  return node.commit === review.commit ? node : null;
}

function notApproved(
  draft: Draft,
  live: Live,
  what: { readonly node: TaskNode; readonly gate: ReviewGate; readonly text: string },
): void {
  const { node, gate, text } = what;
  endAttempt(draft, live, {
    node,
    counts: 'attempt',
    reason: { kind: 'gate', ref: reviewName(gate.profile), text: clip(text, 400) },
    rework: clip(text, GATE_TAIL_BYTES),
  });
}

/** A reviewer that has ended without a word: another one looks, a bounded number of times. */
export function reviewerEnded(
  draft: Draft,
  live: Live,
  end: { readonly name: ActorName; readonly text: string },
): void {
  const id = draft.state.team.reviewers.get(end.name);
  const review = id === undefined ? undefined : draft.state.team.reviews.get(id);
  if (id === undefined || review === undefined) return;
  live.reviewsDue.delete(id);
  const node = current(draft.state, review);
  const gate = node === null ? null : gateOf(live, node);
  const progress = live.gates.get(review.task);
  if (node === null || gate === null || progress === undefined) return;
  live.taskOps.delete(review.task);
  live.dirty.add(review.task);
  progress.tries += 1;
  if (progress.tries < REVIEW_TRIES) return;
  const text = `${progress.tries} reviewers ended without a verdict; the last: ${end.text}`;
  notApproved(draft, live, { node, gate, text });
}

/** Part of each sweep. */
export function endLateReviews(draft: Draft, live: Live): void {
  const { state, happening } = draft;
  for (const [id, due] of live.reviewsDue) {
    if (happening.monotonicMs < due) continue;
    live.reviewsDue.delete(id);
    const by = state.team.reviews.get(id)?.by;
    const actor = by === undefined ? undefined : live.actors.get(by);
    if (actor === undefined) continue;
    const { name, incarnation } = actor;
    draft.effect({ type: 'actor.stop', name, incarnation, graceMs: 0 });
  }
}
