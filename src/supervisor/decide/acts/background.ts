/** `bash_output`, `bash_wait` and `bash_kill`: an actor and what it has in the background. */
import type { Draft } from '../../draft.ts';
import { WAIT_MS } from '../../limits.ts';
import type { Asking } from '../asking.ts';
import { findBackground, statusText } from '../background.ts';
import { finishAct } from '../results.ts';
import { type Act, type Input, text } from './act.ts';

export function bashOutput(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const found = findBackground(asking.state, asking.actor.name, text(input, 'id'));
  if (typeof found === 'string') return finishAct(asking, draft, act, { ok: false, text: found });
  const offset = input['offset'];
  begin(asking, act, found.id);
  return draft.effect({
    type: 'output.read',
    call: act.call,
    id: found.id,
    offset: typeof offset === 'number' ? offset : 0,
  });
}

export function bashWait(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const found = findBackground(asking.state, asking.actor.name, text(input, 'id'));
  if (typeof found === 'string') return finishAct(asking, draft, act, { ok: false, text: found });
  begin(asking, act, found.id);
  const { call } = act;
  if (found.ended !== null) {
    return draft.effect({ type: 'output.read', call, id: found.id, offset: null });
  }
  const asked = input['timeout_ms'];
  return draft.effect({
    type: 'wait.later',
    call,
    ms: typeof asked === 'number' ? asked : WAIT_MS,
  });
}

export function bashKill(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const found = findBackground(asking.state, asking.actor.name, text(input, 'id'));
  const refuse = (why: string): Draft => finishAct(asking, draft, act, { ok: false, text: why });
  if (typeof found === 'string') return refuse(found);
  if (found.actor !== asking.actor.name) {
    return refuse(`${found.id} belongs to ${found.actor}, who alone may end it`);
  }
  if (found.ended !== null) {
    return finishAct(asking, draft, act, { ok: true, text: statusText(found) });
  }
  begin(asking, act, found.id);
  return draft.effect({ type: 'command.kill', id: found.id });
}

/** The call is answered later; what it is about is remembered. */
function begin(asking: Asking, act: Act, id: ReturnType<Draft['nextProc']>): void {
  const { live, actor, request } = asking;
  const { name, incarnation } = actor;
  const { call, tool } = act;
  live.acts.set(call, { name, incarnation, request, call, tool, task: null });
  live.awaited.set(call, id);
}
