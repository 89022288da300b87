/** `bash`: a command of an actor, judged and started. */
import type { Workplace } from '../../../protocol/index.ts';
import type { Draft } from '../../draft.ts';
import {
  BACKGROUND_MAX,
  BACKGROUND_TIMEOUT_MS,
  BASH_TIMEOUT_MAX_MS,
  BASH_TIMEOUT_MS,
} from '../../limits.ts';
import type { Asking } from '../asking.ts';
import { noteGrantUse, putAsk } from '../asks/put.ts';
import { runningOf } from '../background.ts';
import { type Judged, judgeFor, sourceOf } from '../judging.ts';
import { finishAct } from '../results.ts';
import { workplaceOf } from '../roster.ts';
import { type Act, type Input, text } from './act.ts';

export function bash(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, actor } = asking;
  const command = text(input, 'command');
  const background = input['background'] === true;
  const running = background ? runningOf(state, actor.name) : [];
  if (running.length >= BACKGROUND_MAX) {
    const ids = running.map(({ id }) => id).join(', ');
    const why = `not run: you have ${running.length} commands in the background (${ids}), as many as one may have; end one first`;
    return finishAct(asking, draft, act, { ok: false, text: why });
  }
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
    ...(judged === null ? {} : sourceOf(judged)),
  });
  if (why !== null || place === null) {
    return finishAct(asking, draft, act, { ok: false, text: `not run: ${why ?? ''}` });
  }
  // What rules allowed is what they read, word by word; the text as given stands in the decision.
  const run = judged?.command ?? command;
  const timeout = input['timeout_ms'];
  return start(asking, draft, act, {
    command: run,
    place,
    background,
    timeoutMs: typeof timeout === 'number' ? timeout : null,
  });
}

function start(
  asking: Asking,
  draft: Draft,
  act: Act,
  what: {
    readonly command: string;
    readonly place: Workplace;
    readonly background: boolean;
    readonly timeoutMs: number | null;
  },
): Draft {
  const { live, actor } = asking;
  const { command, place, background } = what;
  const id = draft.nextProc();
  const { name, incarnation } = actor;
  if (background) live.commands.set(id, { kind: 'background' });
  else {
    const { call, tool } = act;
    const { request } = asking;
    const pending = { name, incarnation, request, call, tool, task: place.task };
    live.acts.set(call, pending);
    live.commands.set(id, { kind: 'bash', act: pending });
  }
  draft.about('proc', actor).proc({
    type: 'proc.started',
    id,
    command,
    cwd: place.root,
    actor: name,
    task: place.task,
    ...(background ? { background: { incarnation, fence: place.fence } } : {}),
  });
  draft.effect({
    type: 'command.start',
    id,
    command,
    by: 'actor',
    place: { kind: 'tree', path: place.root, restore: null, task: place.task },
    timeoutMs: background
      ? (what.timeoutMs ?? BACKGROUND_TIMEOUT_MS)
      : Math.min(what.timeoutMs ?? BASH_TIMEOUT_MS, BASH_TIMEOUT_MAX_MS),
    tailOnly: false,
    ...(background ? { background } : {}),
  });
  if (!background) return draft;
  return finishAct(asking, draft, act, {
    ok: true,
    text: `${id} runs in the background. Read it with bash_output, wait for its end with bash_wait, end it with bash_kill; a message tells you when it ends by itself.`,
    output: `outputs/${id}.log`,
  });
}

function refusalOf(judged: Judged): string | null {
  return judged.action === 'allow' ? null : judged.reason;
}
