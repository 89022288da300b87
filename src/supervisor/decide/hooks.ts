/**
 * Hooks before a call: they see it when the rules have let it by, and nothing of it happens before they have spoken. A hook
 * is an effect, and its word comes back with the request that waits for it.
 *
 * Invariants
 * - P40 No word of a hook, and no failure of one, makes a decision looser; a failure denies, or asks where a person is there.
 * - P41 What a hook made of an input is judged from the start, and seen by all hooks again, a bounded number of times.
 */
import { counted } from '../../kernel/counted.ts';
import type { ActorName, CallId } from '../../kernel/index.ts';
import type { ActorReply, ActorRequest, Hook, HookEvent, HookFact } from '../../protocol/index.ts';
import { parseCall, toolNamed } from '../../tools/index.ts';
import type { Draft } from '../draft.ts';
import type { HookReport, HookSaid, HookWork, Tightened } from '../hooks.ts';
import { HOOK_REWRITES_MAX } from '../limits.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import type { Asking } from './asking.ts';
import { judgeFor, profileOf } from './judging.ts';
import { finishAct } from './results.ts';
import { heldTask, pathOf } from './roster.ts';

type Asked = Extract<ActorRequest, { type: 'permit' | 'act' }>;

/** Reads are for hooks that name them. */
export function hooksOn(live: Pick<Live, 'hooks'>, on: HookEvent, tool: string): readonly Hook[] {
  if (live.hooks.length === 0) return [];
  const reads = toolNamed(tool)?.access === 'read';
  return live.hooks.filter(
    (hook) => hook.on === on && (hook.tools === null ? !reads : hook.tools.some(names(tool))),
  );
}

const names =
  (tool: string) =>
  (pattern: string): boolean =>
    pattern.endsWith('*') ? tool.startsWith(pattern.slice(0, -1)) : pattern === tool;

/** Sends the call to its hooks; null: there are none, they have spoken, or the rules deny it anyway. */
export function hooksFirst(asking: Asking, draft: Draft, asked: Asked, pass = 0): Draft | null {
  const { live, actor, request } = asking;
  const hooks = hooksOn(live, 'before_tool', asked.tool);
  if (hooks.length === 0 || asking.hooked === true) return null;
  const { action, rule, reason } = firstWord(asking, asked);
  if (action === 'deny') return null;
  const { name, incarnation, epoch } = actor;
  const { call } = asked;
  const work = `${name}-${incarnation}-${request}-${pass}`;
  live.hooking.set(call, { name, incarnation, request, asked, reply: null, work });
  return draft.effect({
    type: 'hooks.run',
    work: {
      id: work,
      on: 'before_tool',
      hooks,
      ...aboutCall(asking.state, name, { call, tool: asked.tool }),
      payload: {
        ...whoOf(asking.state, name),
        input: asked.input,
        decision: { action, rule, reason },
      },
      request: { name, incarnation, epoch, id: request, asked, pass },
    },
  });
}

/** What the rules say before any hook does. What is not judged by rules works on the team's own records. */
function firstWord(asking: Asking, { type, tool, input }: Asked) {
  if (type === 'permit' || tool === 'bash') return judgeFor(asking, { tool, input });
  return { action: 'allow', rule: 'team', reason: 'it works on the team’s own records' } as const;
}

/** The request with what its hooks said; null: nobody waits for it any more. */
export function afterHooks(
  asking: Asking,
  draft: Draft,
  what: { readonly asked: Asked; readonly report: HookReport },
): { readonly asking: Asking; readonly again: boolean } | null {
  const { asked, report } = what;
  const { live, actor } = asking;
  const known = live.hooking.get(asked.call);
  if (known?.work !== report.work) return null;
  live.hooking.delete(asked.call);
  const about = aboutCall(asking.state, actor.name, asked);
  draft.about('perm', actor);
  for (const said of report.said) noteSaid(draft, { ...about, on: 'before_tool' }, said);
  tellContext(draft, live, actor.name, report.said);
  const last = report.said.at(-1);
  if (last?.outcome !== 'rewrite') {
    const tightened = tightenedBy(asking.state, report.said);
    return { asking: { ...asking, hooked: true, tightened }, again: false };
  }
  const refusal = refusalOf(asked, report, last);
  return refusal === null
    ? { asking, again: true }
    : { asking: { ...asking, hooked: true, tightened: refusal }, again: false };
}

function refusalOf(asked: Asked, { pass }: HookReport, last: HookSaid): Tightened | null {
  const rule = `hook:${last.hook}`;
  if (pass > HOOK_REWRITES_MAX) {
    const reason = `hooks have rewritten it ${counted(pass, 'time')}, and still do`;
    return { action: 'deny', rule, reason };
  }
  const parsed = parseCall({ name: asked.tool, input: asked.input }, [asked.tool]);
  if (parsed.kind === 'ok') return null;
  const reason = `what the hook made of it can't be called: ${parsed.text}`;
  return { action: 'deny', rule, reason };
}

/** The strictest word; a failure closes. */
function tightenedBy(state: RunState, said: readonly HookSaid[]): Tightened | undefined {
  const words = said.flatMap((one): Tightened[] => {
    const rule = `hook:${one.hook}`;
    if (one.outcome === 'failed') {
      const reason = `the hook ${one.hook} failed: ${one.reason ?? ''}`;
      return [{ action: state.file.attended ? 'ask' : 'deny', rule, reason }];
    }
    if (one.outcome !== 'deny' && one.outcome !== 'ask') return [];
    return [{ action: one.outcome, rule, reason: one.reason ?? `the hook ${one.hook} wants it` }];
  });
  return words.find((word) => word.action === 'deny') ?? words[0];
}

/** Marked, so that nobody takes it for a word of the user's or of a member of the team. */
export function tellContext(
  draft: Draft,
  live: Live,
  name: ActorName,
  said: readonly HookSaid[],
): void {
  const parts = said.flatMap((one) => [
    ...(one.outcome === 'rewrite'
      ? [`[hook ${one.hook}] changed the input of the call to ${JSON.stringify(one.input)}`]
      : []),
    ...(one.context === undefined ? [] : [`[hook ${one.hook}] ${one.context}`]),
  ]);
  if (parts.length === 0) return;
  draft.notice({
    to: name,
    lane: 'normal',
    type: 'hook.context',
    body: { text: parts.join('\n') },
  });
  live.mailDirty.add(name);
}

export function noteSaid(
  draft: Draft,
  about: Omit<HookFact, 'hook' | 'outcome' | 'ms'>,
  said: HookSaid,
): void {
  const { on, actor, call, tool, task, ask } = about;
  draft.hook({
    hook: said.hook,
    on,
    outcome: said.outcome,
    ...(actor === undefined ? {} : { actor }),
    ...(call === undefined ? {} : { call }),
    ...(tool === undefined ? {} : { tool }),
    ...(task === undefined ? {} : { task }),
    ...(ask === undefined ? {} : { ask }),
    ...(said.reason === undefined ? {} : { reason: said.reason }),
    ...(said.context === undefined ? {} : { context: said.context }),
    ...(said.input === undefined ? {} : { input: said.input }),
    ms: said.ms,
  });
}

export function aboutCall(
  state: RunState,
  name: ActorName,
  { call, tool }: { readonly call: CallId; readonly tool: string },
): Pick<HookWork, 'actor' | 'call' | 'tool' | 'task'> {
  const task = heldTask(state, name)?.spec.id;
  return { actor: name, call, tool, ...(task === undefined ? {} : { task }) };
}

/** What every hook is told of who it is about. */
export function whoOf(state: RunState, name: ActorName): Readonly<Record<string, unknown>> {
  return { path: pathOf(state, name), profile: profileOf(state, name) };
}

/** Interrupt mail, an end: what hooks look at for this actor is off. An `act` is closed here, a file call by its thread. */
export function dropHooks(draft: Draft, live: Live, name: ActorName, tell: string | null): void {
  const actor = live.actors.get(name);
  for (const [call, one] of live.hooking) {
    if (one.name !== name) continue;
    live.hooking.delete(call);
    draft.effect({ type: 'hooks.cancel', id: one.work });
    if (tell === null || actor === undefined) continue;
    if (one.reply !== null) release(draft, one, one.reply);
    else if (one.asked?.type === 'act') {
      const { request, asked } = one;
      finishAct({ actor, request }, draft, asked, { ok: false, text: tell });
    }
  }
}

/** One call was closed by its thread. */
export function dropHooksOf(draft: Draft, live: Live, call: CallId): void {
  const one = live.hooking.get(call);
  if (one === undefined) return;
  live.hooking.delete(call);
  draft.effect({ type: 'hooks.cancel', id: one.work });
}

export function release(
  draft: Draft,
  to: { readonly name: ActorName; readonly incarnation: number; readonly request: number },
  reply: ActorReply,
): void {
  const { name, incarnation, request } = to;
  draft.effect({ type: 'reply', name, incarnation, id: request, reply });
}
