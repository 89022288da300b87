/** The result of a call that the supervisor ran: committed as a step and told to the thread, in one decision. */
import type { CallId } from '../../kernel/index.ts';
import type { ActorReply, SessionEntry, Workplace } from '../../protocol/index.ts';
import type { Draft } from '../draft.ts';
import type { LiveActor } from '../live.ts';
import type { Asking } from './asking.ts';

/** Calls with which an agent ends its task: when one was made, no turn follows. */
export const LAST_CALLS: ReadonlySet<string> = new Set(['complete_task', 'fail_task']);

/** Commits the result of a call and answers the thread. */
export function finishAct(
  asking: { readonly actor: LiveActor; readonly request: number },
  draft: Draft,
  act: { readonly call: CallId; readonly tool: string },
  result: {
    readonly ok: boolean;
    readonly text: string;
    readonly output?: string;
    readonly workplace?: Workplace;
  },
): Draft {
  const entry: Extract<SessionEntry, { type: 'result' }> = {
    type: 'result',
    call: act.call,
    tool: act.tool,
    ok: result.ok,
    text: result.text,
    ...(result.output === undefined ? {} : { output: result.output }),
  };
  draft.about('step', asking.actor).step({ entries: [entry] });
  return draft.effect({
    type: 'reply',
    name: asking.actor.name,
    incarnation: asking.actor.incarnation,
    id: asking.request,
    reply: {
      type: 'acted',
      result: entry,
      ...(result.workplace === undefined ? {} : { workplace: result.workplace }),
    },
  });
}

/** Answers a request of an actor. */
export function reply(asking: Asking, draft: Draft, message: ActorReply): Draft {
  return draft.effect({
    type: 'reply',
    name: asking.actor.name,
    incarnation: asking.actor.incarnation,
    id: asking.request,
    reply: message,
  });
}
