/**
 * What comes too late: a word of an actor's earlier life, or the end of work for an earlier claim.
 *
 * Invariants
 * - A4 Everything an actor does carries incarnation and epoch, and everything done for a task the fence of its claim. What is of
 *   an older one is refused, logged, and changes nothing.
 */
import type { Effect } from '../effect.ts';
import type { RunEvent } from '../inbox.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { isIntended } from './merge-train.ts';

/** Says so, for the log; null when it is in time. */
export function refusedAsLate(state: RunState, live: Live, event: RunEvent): Effect | null {
  switch (event.type) {
    case 'request':
    case 'actor.exited': {
      if (isOfThisLife(live, event)) return null;
      const { name, incarnation, epoch } = event;
      const what = event.type === 'request' ? `request ${event.upward.request.type}` : event.type;
      return { type: 'refused', what, about: name, of: `${incarnation}/${epoch}` };
    }
    case 'tree.prepared':
    case 'tree.committed':
    case 'diff.ready':
    case 'merge.computed': {
      const { type: what, task, fence } = event;
      if (state.graph.nodes.get(task)?.fence === fence) return null;
      return { type: 'refused', what, about: task, of: `claim ${fence}` };
    }
    case 'ref.advanced': {
      const { type: what, task, to } = event;
      if (isIntended(state, state.graph.nodes.get(task), to)) return null;
      return { type: 'refused', what, about: task, of: to };
    }
    case 'command.ended': {
      const purpose = live.commands.get(event.id);
      if (purpose === undefined || !('fence' in purpose)) return null;
      if (state.graph.nodes.get(purpose.task)?.fence === purpose.fence) return null;
      return {
        type: 'refused',
        what: event.type,
        about: purpose.task,
        of: `claim ${purpose.fence}`,
      };
    }
    // Of a call, by its id, which ends with the life that it is of.
    case 'call.looked':
    case 'cron.edited':
    case 'output.read':
    case 'wait.over':
    case 'hooks.ended':
    // Of the run, of a person, or a look at what is due.
    case 'ask.answer':
    case 'asks.due':
    case 'compact':
    case 'damaged':
    case 'disk.full':
    case 'grant.revoke':
    case 'jobs.due':
    case 'mail.due':
    case 'mail.settle':
    case 'outlet.due':
    case 'plan.decide':
    case 'policy.changed':
    case 'resumed':
    case 'rules.changed':
    case 'send':
    case 'started':
    case 'stop':
    case 'stop.actor':
    case 'stopped':
    case 'sweep':
    case 'tree.dropped':
    case 'view.ready':
      return null;
  }
}

/** Epochs of a name only rise, also where an actor wakes up in the same incarnation. */
export function isOfThisLife(
  live: Live,
  of: Extract<RunEvent, { type: 'request' | 'actor.exited' }>,
): boolean {
  const actor = live.actors.get(of.name);
  return actor?.incarnation === of.incarnation && actor.epoch === of.epoch;
}
