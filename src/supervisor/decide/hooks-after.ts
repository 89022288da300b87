/**
 * Hooks of what has happened: they undo nothing. What waits for those of a call's result is the reply to its thread alone, so
 * that the next request has what they add; for the others nobody waits.
 */
import type { TaskId } from '../../kernel/index.ts';
import type { HookEvent, StoredRunRecord, TaskChange } from '../../protocol/index.ts';
import { Draft } from '../draft.ts';
import type { Effect } from '../effect.ts';
import type { HookSaid, HookWork } from '../hooks.ts';
import type { Happening, RunEvent } from '../inbox.ts';
import { HOOK_RESULT_CHARS } from '../limits.ts';
import type { Live, LiveActor } from '../live.ts';
import type { RunState } from '../state.ts';
import { aboutCall, hooksOn, noteSaid, release, tellContext, whoOf } from './hooks.ts';
import { LAST_CALLS } from './results.ts';

type Reply = Extract<Effect, { type: 'reply' }>;
type Result = Extract<NonNullable<StoredRunRecord['entries']>[number], { type: 'result' }>;

/** The reply to a thread whose call has its result waits for the hooks that look at that. */
export function holdForHooks(live: Live, draft: Draft): Draft {
  if (live.full !== null || live.halting !== null) return draft;
  if (!live.hooks.some((hook) => hook.on === 'after_tool')) return draft;
  const held = draft.effects.map((effect) =>
    effect.type === 'reply' ? (heldReply(live, draft, effect) ?? effect) : effect,
  );
  draft.effects.splice(0, draft.effects.length, ...held);
  return draft;
}

function heldReply(live: Live, draft: Draft, effect: Reply): Effect | null {
  const { name, incarnation, id, reply } = effect;
  const result = resultOf(draft, effect);
  if (result === null || result.interrupted !== undefined) return null;
  const { call, tool, ok, text } = result;
  const hooks = hooksOn(live, 'after_tool', tool);
  if (hooks.length === 0) return null;
  const work = `${name}-${incarnation}-${id}-after`;
  live.hooking.set(call, { name, incarnation, request: id, asked: null, reply, work });
  const shown = text.slice(0, HOOK_RESULT_CHARS);
  const about = aboutCall(draft.state, name, { call, tool });
  const payload = { ...whoOf(draft.state, name), result: { ok, text: shown } };
  return { type: 'hooks.run', work: { id: work, on: 'after_tool', hooks, ...about, payload } };
}

/** The result that a reply tells or acknowledges. A thread commits several only for calls that were not run. */
function resultOf(draft: Draft, { reply }: Reply): Result | null {
  if (reply.type !== 'acted' && reply.type !== 'committed') return null;
  const entries = draft.record()?.entries ?? [];
  const results = entries.filter((entry) => entry.type === 'result');
  // A reply that hooks have looked at already follows no result in its record.
  if (reply.type === 'acted') return results.find((one) => one.call === reply.result.call) ?? null;
  return entries.length === 1 ? (results[0] ?? null) : null;
}

/** Hooks of what has happened have spoken. */
export function hooksEnded(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'hooks.ended' }>,
): Draft {
  const { work, report, seq } = event;
  const draft = new Draft(state, happening).about('perm');
  for (const said of report.said) noteSaid(draft, work, said);
  if (work.on === 'ask') denyByHook(draft, work, report.said);
  const { call, actor, tool } = work;
  if (work.on !== 'after_tool' || call === undefined || actor === undefined) {
    tellFailures(draft, work, report.said);
    return draft;
  }
  const waiting = live.hooking.get(call);
  if (waiting?.work !== work.id) return draft;
  live.hooking.delete(call);
  // What is added to a last call would only wake the actor.
  if (!LAST_CALLS.has(tool ?? '')) tellContext(draft, live, actor, saidAfter(report.said));
  const { reply } = waiting;
  if (reply === null) return draft;
  release(draft, waiting, reply.type === 'committed' ? { ...reply, seq } : reply);
  return draft;
}

/** It is done already: a denial, or a failure to look at it, is all that can be told. */
function saidAfter(said: readonly HookSaid[]): HookSaid[] {
  return said.map((one) => {
    if (one.outcome === 'none' || one.outcome === 'rewrite') return { ...one, outcome: 'none' };
    const word = one.outcome === 'failed' ? 'failed' : 'objects';
    const reason = `${word}, after the fact: ${one.reason ?? 'it gave no reason'}`;
    const context = one.context === undefined ? reason : `${reason}\n${one.context}`;
    return { ...one, context };
  });
}

function denyByHook(draft: Draft, work: HookWork, said: readonly HookSaid[]): void {
  const denial = said.find((one) => one.outcome === 'deny');
  const ask = work.ask === undefined ? undefined : draft.state.asks.asks.get(work.ask);
  if (denial === undefined || ask === undefined || ask.answer !== null) return;
  draft.ask({
    type: 'ask.answered',
    id: ask.id,
    effect: 'deny',
    scope: 'once',
    by: `hook:${denial.hook}`,
    reason: denial.reason ?? null,
  });
}

/** Nobody waited for it, so somebody has to be told. */
function tellFailures(draft: Draft, work: HookWork, said: readonly HookSaid[]): void {
  for (const one of said) {
    if (one.outcome !== 'failed' || draft.state.run.ended !== null) continue;
    const text = `The hook ${one.hook} (${work.on}) failed: ${one.reason ?? ''}`;
    draft.notice({ to: 'user', lane: 'normal', type: 'chat.message', body: { text } });
  }
}

/** What a record means for hooks; effects of it, as any other. */
export function noticedBy(live: Live, state: RunState, record: StoredRunRecord): Effect[] {
  if (live.hooks.length === 0) return [];
  const works: HookWork[] = [];
  const add = (on: HookEvent, key: string, part: Partial<HookWork>): void => {
    const hooks = live.hooks.filter((hook) => hook.on === on);
    if (hooks.length === 0) return;
    works.push({ id: `${on}-${record.s}-${key}`, on, hooks, payload: {}, ...part });
  };
  for (const change of record.asks ?? []) {
    if (change.type !== 'ask.put') continue;
    const { ask, waiter } = change;
    const { id, tool, input, touches, rule, reason, expiresAt } = ask;
    const payload = { input, touches, rule, reason, expiresAt, ancestry: waiter.ancestry };
    const { actor, call } = waiter;
    add('ask', id, { ask: id, actor, call, tool, payload: { ...whoOf(state, actor), ...payload } });
  }
  for (const change of record.tasks ?? []) {
    const end = endOf(change);
    if (end !== null) add('task_finished', end.task, end);
  }
  if (record.tasks !== undefined) {
    for (const task of newlyReady(live, state)) {
      const title = state.graph.nodes.get(task)?.spec.title ?? '';
      add('task_ready', task, { task, payload: { title } });
    }
  }
  for (const change of record.run ?? []) {
    if (change.type !== 'run.ended') continue;
    const { state: end, reason, commit } = change;
    add('run_finished', '', { payload: { state: end, reason, commit } });
  }
  return works.map((work) => ({ type: 'hooks.run', work }));
}

function endOf(change: TaskChange): { task: TaskId; payload: Record<string, unknown> } | null {
  if (change.type === 'task.done') {
    return { task: change.id, payload: { state: 'done', commit: change.commit } };
  }
  if (change.type !== 'task.failed' && change.type !== 'task.cancelled') return null;
  const state = change.type.slice('task.'.length);
  return { task: change.id, payload: { state, reason: change.reason } };
}

/** Once each time that a task becomes ready: at first, and after each claim that ended without it. */
function newlyReady(live: Live, state: RunState): TaskId[] {
  if (!live.hooks.some((hook) => hook.on === 'task_ready')) return [];
  const found: TaskId[] = [];
  for (const [id, node] of state.graph.nodes) {
    if (node.state !== 'ready' || live.readyTold.get(id) === node.attempt) continue;
    live.readyTold.set(id, node.attempt);
    found.push(id);
  }
  return found;
}

/** For `actor_idle`. */
export function idleHooks(
  live: Live,
  draft: Draft,
  who: Pick<LiveActor, 'name' | 'incarnation' | 'epoch'> & { readonly request: number },
): void {
  const hooks = live.hooks.filter((hook) => hook.on === 'actor_idle');
  if (hooks.length === 0) return;
  const { name, incarnation, epoch, request } = who;
  const id = `idle-${name}-${incarnation}-${epoch}-${request}`;
  const payload = whoOf(draft.state, name);
  draft.effect({ type: 'hooks.run', work: { id, on: 'actor_idle', hooks, actor: name, payload } });
}
