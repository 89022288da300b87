/** Who reviews: a subagent of the gate's profile, made for one diff, that is told all it needs to judge it. */
import { type ActorName, asActorName, type TaskId } from '../../kernel/index.ts';
import type { TaskNode } from '../../tasks/index.ts';
import { Draft } from '../draft.ts';
import type { Happening } from '../inbox.ts';
import { REVIEW_MS } from '../limits.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { startActor } from './actors.ts';
import { gateOf, reviewName } from './reviews.ts';
import { endAttempt } from './task-ends.ts';

export function diffReady(
  state: RunState,
  live: Live,
  happening: Happening,
  event: { task: TaskId; fence: number; ok: boolean; text: string },
): Draft {
  const draft = new Draft(state, happening).about('sup');
  const node = state.graph.nodes.get(event.task);
  const gate = node === undefined ? null : gateOf(live, node);
  const profile = gate === null ? undefined : state.file.team.agents[gate.profile];
  if (node?.state !== 'verifying' || node.fence !== event.fence || gate === null) {
    live.taskOps.delete(event.task);
    return draft;
  }
  if (!event.ok || profile === undefined) {
    live.taskOps.delete(event.task);
    live.dirty.add(event.task);
    const text = event.ok ? `there is no agent profile "${gate.profile}"` : event.text;
    endAttempt(draft, live, {
      node,
      counts: 'attempt',
      reason: { kind: 'gate', ref: reviewName(gate.profile), text },
      rework: text,
    });
    return draft;
  }
  const id = `review-${state.team.reviews.size + 1}`;
  const name = freshName(state, profile.name);
  const added = { name, kind: 'subagent' as const, profile, parent: null, depth: 1 };
  draft.actor({ type: 'actor.added', ...added });
  const { task, fence } = event;
  draft.team({ type: 'review.asked', id, by: name, task, fence, commit: node.commit ?? '' });
  const prompt = briefing(node, id, event.text);
  startActor(draft, live, { ...added, incarnation: 1, epoch: 1, prompt, reviews: node });
  live.reviewsDue.set(id, happening.monotonicMs + (gate.timeoutMs ?? REVIEW_MS));
  return draft;
}

function freshName(state: RunState, profile: string): ActorName {
  for (let count = 1; ; count += 1) {
    const name = asActorName(`${profile.slice(0, 36)}-review-${count}`);
    if (!state.actors.byName.has(name)) return name;
  }
}

function briefing(node: TaskNode, id: string, diff: string): string {
  const { spec, summary } = node;
  return [
    `Review the work on task ${spec.id}: ${spec.title}`,
    ...(spec.prompt === null ? [] : [`What was asked for:\n${spec.prompt}`]),
    ...(summary === null ? [] : [`What its author says of it:\n${summary}`]),
    `Your tree is at the commit; you may read everything in it, and change nothing. Judge whether the change does what was asked for and breaks nothing. Then call review_plan once with id ${id}: approve true, or approve false with feedback that says, finding by finding, where and what must be different. Your feedback is all that the author gets. Without your call nothing is approved.`,
    `What it changes:\n${diff}`,
  ].join('\n\n');
}
