/** File calls that change something: judged here, run by the thread. */
import type { ActorRequest } from '../../protocol/index.ts';
import { toolNamed } from '../../tools/index.ts';
import type { Draft } from '../draft.ts';
import type { Asking } from './asking.ts';
import { noteGrantUse, putAsk } from './asks/put.ts';
import { judgeFor, sourceOf } from './judging.ts';
import { reply } from './results.ts';
import { workplaceOf } from './roster.ts';

/** Write-ahead (P): the decision is durable before the thread touches a file. */
export function permit(
  asking: Asking,
  draft: Draft,
  request: Extract<ActorRequest, { type: 'permit' }>,
): Draft {
  const { state, actor } = asking;
  const place = workplaceOf(state, actor.name);
  const judged = judgeFor(asking, { tool: request.tool, input: request.input });
  // What only reads comes here to be asked about.
  const access = toolNamed(request.tool)?.access;
  const reads = access === 'read' || access === 'net';
  const noPlace = place === null || !(place.writable || reads);
  if (judged.action === 'ask' && !noPlace) return putAsk(asking, draft, request, judged);
  noteGrantUse(asking, draft, judged);
  const allowed = judged.action === 'allow' && !noPlace;
  const reason = noPlace ? 'you have no task: claim one first' : judged.reason;
  draft.about('perm', actor).decided({
    actor: actor.name,
    call: request.call,
    tool: request.tool,
    input: request.input,
    effect: allowed ? 'allow' : 'deny',
    rule: noPlace ? 'no-task' : judged.rule,
    reason,
    ...(noPlace ? { revision: judged.revision } : sourceOf(judged)),
  });
  // Hooks may have made another input of it than the thread knows.
  const input = asking.hooked === true ? { input: request.input } : {};
  return reply(
    asking,
    draft,
    allowed ? { type: 'permitted', ...input } : { type: 'refused', reason },
  );
}
