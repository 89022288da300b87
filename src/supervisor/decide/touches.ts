/** Changes outside of what a task declares (`merge.touches`): told, or refused and given back to its author. */
import type { TaskNode } from '../../tasks/index.ts';
import type { Draft } from '../draft.ts';
import type { CommitOutcome } from '../inbox.ts';
import { TOUCHES_SHOWN } from '../limits.ts';
import type { Live } from '../live.ts';
import { noticeTarget } from './roster.ts';
import { endAttempt } from './task-ends.ts';

/** False when the attempt has ended with it. */
export function mindTouches(
  draft: Draft,
  live: Live,
  node: TaskNode,
  outcome: CommitOutcome,
): boolean {
  const undeclared = outcome.kind === 'committed' ? (outcome.undeclared ?? []) : [];
  if (undeclared.length === 0) return true;
  const { id, touches } = node.spec;
  const shown = undeclared.slice(0, TOUCHES_SHOWN).join(', ');
  const more = undeclared.length - TOUCHES_SHOWN;
  const names = more > 0 ? `${shown} and ${more} more` : shown;
  const text = `Task ${id} changed what its touches (${touches.join(', ')}) do not name: ${names}`;
  if (draft.state.file.team.merge.touches === 'refuse') {
    endAttempt(draft, live, {
      node,
      counts: 'attempt',
      reason: { kind: 'touches', text },
      rework: `${text}. Put these files back as they were, or say with fail_task why they have to change.`,
    });
    return false;
  }
  const to = noticeTarget(draft.state);
  draft.notice({
    to,
    lane: 'normal',
    type: 'chat.message',
    task: id,
    body: { text: `${text}. It is merged all the same (merge.touches: warn).` },
  });
  live.mailDirty.add(to);
  return true;
}
