/** `bash`: a command of an actor, judged and started. */
import type { Draft } from '../../draft.ts';
import { BASH_TIMEOUT_MAX_MS, BASH_TIMEOUT_MS } from '../../limits.ts';
import type { Asking } from '../asking.ts';
import { noteGrantUse, putAsk } from '../asks/put.ts';
import { type Judged, judgeFor } from '../judging.ts';
import { finishAct } from '../results.ts';
import { workplaceOf } from '../roster.ts';
import { type Act, type Input, text } from './act.ts';

export function bash(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, live, actor } = asking;
  const command = text(input, 'command');
  const place = workplaceOf(state, actor.name);
  const judged = place === null ? null : judgeFor(asking, { tool: 'bash', input: act.input });
  if (judged?.action === 'ask') return putAsk(asking, draft, act, judged);
  if (judged !== null) noteGrantUse(asking, draft, judged);
  const why = judged === null ? 'you have no tree to work in' : refusalOf(judged);
  draft.decided({
    actor: actor.name,
    call: act.call,
    tool: 'bash',
    input: act.input,
    effect: why === null ? 'allow' : 'deny',
    rule: judged?.rule ?? 'no-tree',
    reason: why ?? judged?.reason ?? '',
    ...(judged === null ? {} : { revision: judged.revision }),
  });
  if (why !== null || place === null) {
    return finishAct(asking, draft, act, { ok: false, text: `not run: ${why ?? ''}` });
  }
  // What rules allowed is what they read, word by word; the text as given stands in the decision.
  const run = judged?.command ?? command;
  const id = draft.nextProc();
  const pending = {
    name: actor.name,
    incarnation: actor.incarnation,
    request: asking.request,
    call: act.call,
    tool: act.tool,
    task: place.task,
  };
  live.acts.set(act.call, pending);
  live.commands.set(id, { kind: 'bash', act: pending });
  const asked = input['timeout_ms'];
  const timeoutMs =
    typeof asked === 'number' ? Math.min(asked, BASH_TIMEOUT_MAX_MS) : BASH_TIMEOUT_MS;
  draft.about('proc', actor).proc({
    type: 'proc.started',
    id,
    command: run,
    cwd: place.root,
    actor: actor.name,
    task: place.task,
  });
  return draft.effect({
    type: 'command.start',
    id,
    command: run,
    by: 'actor',
    place: { kind: 'tree', path: place.root, restore: null, task: place.task },
    timeoutMs,
    tailOnly: false,
  });
}

function refusalOf(judged: Judged): string | null {
  return judged.action === 'allow' ? null : judged.reason;
}
