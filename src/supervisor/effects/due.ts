/** Effects that only say when something is to be looked at again: the event that comes then. */
import type { Effect } from '../effect.ts';
import type { RunEvent } from '../inbox.ts';

type Later = Extract<
  Effect,
  { type: 'asks.later' | 'jobs.later' | 'mail.later' | 'outlet.later' | 'wait.later' }
>;

export function dueEvent(effect: Later): RunEvent {
  switch (effect.type) {
    case 'asks.later':
      return { type: 'asks.due' };
    case 'jobs.later':
      return { type: 'jobs.due' };
    case 'outlet.later':
      return { type: 'outlet.due' };
    case 'mail.later':
      return { type: 'mail.due', name: effect.name };
    case 'wait.later':
      return { type: 'wait.over', call: effect.call };
  }
}
