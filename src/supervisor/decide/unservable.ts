/** Tasks that nobody can ever work on, when nothing else goes on. */
import { isTerminal, type TaskNode } from '../../tasks/index.ts';
import { Draft } from '../draft.ts';
import type { Happening } from '../inbox.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { fail } from './task-ends.ts';

/** A named failure, never a run that hangs; null when there is none. */
export function failUnservable(state: RunState, live: Live, happening: Happening): Draft | null {
  for (const node of state.graph.nodes.values()) {
    const unknown = isTerminal(node.state) ? undefined : state.unknown.get(node.spec.id);
    if (node.state !== 'ready' && unknown === undefined) continue;
    const draft = new Draft(state, happening).about('task');
    fail(
      draft,
      live,
      node,
      unknown === undefined
        ? { kind: 'member', text: memberText(node) }
        : { kind: 'unknown', text: unknown },
    );
    return draft;
  }
  return null;
}

function memberText(node: TaskNode): string {
  const who =
    node.spec.agent === null ? 'no member' : `no member with the profile ${node.spec.agent}`;
  const last = node.lastReason === null ? '' : `; last: ${node.lastReason.text}`;
  return `${who} is left that can work on it${last}`;
}
