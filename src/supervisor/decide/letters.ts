/** The texts that the supervisor sends to actors: what a worker is told of its task, and why work comes back. */
import type { MailDraft } from '../../protocol/index.ts';
import type { TaskNode } from '../../tasks/index.ts';
import type { CommandOutcome } from '../inbox.ts';
import type { RunState } from '../state.ts';
import { type LandedCommit, othersInConflict } from './conflict-letter.ts';

/** `task.assign` for someone who is new to the task, `task.rework` for the one who had it before. */
export function assignment(
  state: RunState,
  node: TaskNode,
  place: {
    readonly root: string;
    readonly note: string | null;
    readonly landed?: readonly LandedCommit[] | undefined;
  },
): MailDraft {
  // A conflict sends work back without using up an attempt.
  const again = node.preferredOwner !== null && node.preferredOwner === node.owner;
  const parts: string[] = [];
  if (again) parts.push(`Task ${node.spec.id} (${node.spec.title}) comes back to you.`);
  else {
    parts.push(`Your task is ${node.spec.id}: ${node.spec.title}`);
    if (node.spec.prompt !== null) parts.push(node.spec.prompt);
    const done = needsSummary(state, node);
    if (done !== null) parts.push(done);
    if (node.spec.touches.length > 0) {
      parts.push(`It is meant to change only: ${node.spec.touches.join(', ')}`);
    }
    const gates = node.spec.verify.map((gate) =>
      gate.kind === 'command' ? gate.run : `a review by ${gate.profile}`,
    );
    if (gates.length > 0) {
      parts.push(`When you say that it is complete, these must pass: ${gates.join(' · ')}`);
    }
  }
  if (node.rework !== null) parts.push(`Why it is not done yet:\n${node.rework}`);
  if (place.note !== null) parts.push(place.note);
  const others = othersInConflict(state.graph, place.landed ?? []);
  if (others !== null) parts.push(others);
  parts.push(
    'Work in this tree; it is yours alone. Call complete_task when all is done, or fail_task with the reason.',
  );
  return {
    to: node.owner ?? '',
    lane: 'normal',
    type: again ? 'task.rework' : 'task.assign',
    task: node.spec.id,
    body: { text: parts.join('\n\n'), task: node.spec.id, attempt: node.attempt, root: place.root },
  };
}

function needsSummary(state: RunState, node: TaskNode): string | null {
  const lines: string[] = [];
  for (const id of node.spec.needs) {
    const need = state.graph.nodes.get(id);
    if (need === undefined) continue;
    lines.push(`- ${id} (${need.spec.title})${need.summary === null ? '' : `: ${need.summary}`}`);
  }
  return lines.length === 0 ? null : `Done before it, and in your tree:\n${lines.join('\n')}`;
}

/** What a failed command leaves for the worker: how it ended and the end of its output. */
export function gateReport(command: string, outcome: CommandOutcome, who: string): string {
  return `${who} \`${command}\` ${howItEnded(outcome)}.\n${outcome.text.trimEnd()}`;
}

export function howItEnded(outcome: CommandOutcome): string {
  const seconds = (outcome.durationMs / 1000).toFixed(1);
  switch (outcome.why) {
    case 'timeout':
      return `was ended at its deadline, after ${seconds} s`;
    case 'overflow':
      return 'was ended because it wrote too much output';
    case 'killed':
      return 'was ended from outside';
    case 'failed':
      return 'could not be started';
    case 'exit':
      return outcome.code === null
        ? `was ended by ${outcome.signal ?? 'a signal'} after ${seconds} s`
        : `ended with exit status ${outcome.code} after ${seconds} s`;
  }
}
