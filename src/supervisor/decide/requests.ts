/**
 * What an actor's thread asks for: to commit a step, to be let run a file call, to have a call run for it. A request of
 * an incarnation that is not the live one is refused and logged; it changes nothing (A).
 */
import { actorOf } from '../../actors/index.ts';
import { type ActorName, isoTime } from '../../kernel/index.ts';
import { hasSuspects, hasUnread, markDelivered, unread } from '../../mailbox/index.ts';
import { askOfCall } from '../../permissions/index.ts';
import type {
  ActorReply,
  ActorRequest,
  AnswerStep,
  ResultStep,
  Upward,
} from '../../protocol/index.ts';
import { Draft } from '../draft.ts';
import type { HookReport } from '../hooks.ts';
import type { Happening, RunEvent } from '../inbox.ts';
import { NUDGES_MAX } from '../limits.ts';
import type { Live, LiveActor } from '../live.ts';
import type { RunState } from '../state.ts';
import { decideAct } from './acts/index.ts';
import type { Asking } from './asking.ts';
import { deliver } from './asks/answer.ts';
import { withdrawCall } from './asks/end.ts';
import type { AskedRequest } from './asks/put.ts';
import { runningOf } from './background.ts';
import { isRunSpent, spentText, warn } from './budget.ts';
import { cancelAct } from './commands.ts';
import { tellTeam } from './context.ts';
import { endStopped } from './ends.ts';
import { isOfThisLife } from './fence.ts';
import { refuseAct } from './full-disk.ts';
import { afterHooks, hooksFirst } from './hooks.ts';
import { idleHooks } from './hooks-after.ts';
import { hasAnswered, reserve, settleSpent, warnOfTurns } from './outlet.ts';
import { hasHelpers } from './passivate.ts';
import { permit } from './permit.ts';
import { gateOf, openPlanOf } from './plan-gate.ts';
import { suspectsAmong } from './poison.ts';
import { REPLAY_DIFFERS } from './replay-order.ts';
import { reply } from './results.ts';
import { heldTask, noticeTarget } from './roster.ts';
import { isWaitingForJob } from './run-jobs.ts';
import { endIfReady, noteWorking } from './shutdowns.ts';
import { hasBegun } from './siblings.ts';
import { isOutOfPlace } from './subagents.ts';
import { endAttempt, fail } from './task-ends.ts';

/** Requests that record what has happened already. */
const STEPS: ReadonlySet<string> = new Set<ActorRequest['type']>(['answer', 'result', 'settle']);

export function decideRequest(
  state: RunState,
  live: Live,
  happening: Happening,
  from: Extract<RunEvent, { type: 'request' }>,
): Draft {
  const { name, incarnation, upward, payload, disk, hooked } = from;
  const actor = live.actors.get(name);
  const facts = actorOf(state.actors, name);
  if (actor === undefined || facts === null || !isOfThisLife(live, from)) {
    // Woken in the same incarnation, its thread has requests of its own with this number.
    if (actor?.incarnation === incarnation) return new Draft(state, happening);
    return replyTo(new Draft(state, happening), from, {
      type: 'failed',
      error: {
        code: 'actor/stale',
        message: `${name} was started again; this incarnation is over`,
      },
    });
  }
  actor.quietAt = happening.monotonicMs;
  const request = upward.id;
  const asking = { state, live, happening, facts, actor, request };
  const more = {
    ...(payload === undefined ? {} : { payload }),
    ...(disk === undefined ? {} : { disk }),
  };
  return answer({ ...asking, ...more }, upward.request, hooked);
}

function answer(asking: Asking, request: ActorRequest, report?: HookReport): Draft {
  const { state, happening, actor } = asking;
  const draft = new Draft(state, happening);
  const { full } = asking.live;
  if (full !== null && request.type === 'act') return refuseAct(asking, draft, request, full.error);
  if (asking.live.halting !== null && !STEPS.has(request.type)) {
    // Who asks for leave to ask its model is not thinking.
    if (request.type === 'reserve') setPhase(asking, 'waiting');
    // A stop: what is done is recorded, nothing new is begun. An unanswered call is closed in the next term.
    return request.type === 'idle' || request.type === 'stuck' || request.type === 'delivered'
      ? reply(asking, draft, { type: 'noted' })
      : draft;
  }
  if (report !== undefined && (request.type === 'permit' || request.type === 'act')) {
    return afterTheirWord(asking, draft, { asked: request, report });
  }
  switch (request.type) {
    case 'answer':
      return commitAnswer(asking, draft, request);
    case 'result':
      return commitResult(asking, draft, request);
    case 'reserve':
      return reserve(asking, draft, request);
    case 'settle':
      return settleSpent(asking, draft, request);
    case 'begun':
      hasBegun(asking.live, happening, request.id, true);
      return reply(asking, draft, { type: 'noted' });
    case 'permit':
      return judge(asking, draft, request);
    case 'act':
      setPhase(asking, 'tooling');
      return judge(asking, draft, request);
    case 'team':
      return tellTeam(asking, draft);
    case 'delivered':
      markDelivered(state.mail, actor.name, request.n);
      noteSuspects(asking, draft, request.n);
      return reply(asking, draft, { type: 'noted' });
    case 'idle':
      setPhase(asking, 'idle');
      idleHooks(asking.live, draft, { ...actor, request: asking.request });
      return becameIdle(asking, reply(asking, draft, { type: 'noted' }), request.why);
    case 'stuck':
      setPhase(asking, 'idle');
      return stuck(asking, draft, request);
    case 'live':
      if (request.event === 'thinking' || request.event === 'tooling') {
        setPhase(asking, request.event);
      }
      return draft;
  }
}

function judge(asking: Asking, draft: Draft, asked: AskedRequest): Draft {
  const { state, live, actor } = asking;
  if (isOutOfPlace(state, live, actor.name)) {
    const reason = 'the tree that you worked in is not yours any more';
    return reply(asking, draft, { type: 'refused', reason });
  }
  const early = looked(asking, draft, asked);
  if (early !== null) return early;
  if (asked.type === 'permit') permit(asking, draft, asked);
  else decideAct(asking, draft, asked);
  leaveAsk(asking, draft, asked);
  return draft;
}

/** P30: a call that came back to its ask, and that rules settle by now, waits for it no more. */
function leaveAsk({ state, live }: Asking, draft: Draft, { call }: AskedRequest): void {
  const ask = askOfCall(state.asks, call);
  if (ask === null || live.waiting.has(call) || live.hooking.has(call)) return;
  const reason = 'the rules have decided about it meanwhile';
  draft.ask({ type: 'ask.withdrawn', id: ask.id, call, reason });
}

/** Hooks first, then the answer that it came back for; null: it is to be decided now. */
function looked(asking: Asking, draft: Draft, asked: AskedRequest): Draft | null {
  return hooksFirst(asking, draft, asked, asking.pass ?? 0) ?? answered(asking, draft, asked);
}

/** The word of its hooks came with the request. */
function afterTheirWord(
  asking: Asking,
  draft: Draft,
  what: { readonly asked: AskedRequest; readonly report: HookReport },
): Draft {
  const { asked, report } = what;
  const next = afterHooks(asking, draft, what);
  if (next === null) {
    leaveAsk(asking, draft, asked);
    return draft;
  }
  return judge({ ...next.asking, ...(next.again ? { pass: report.pass } : {}) }, draft, asked);
}

/** A call whose answer came while its actor was away (P31); null when there is none. */
function answered(asking: Asking, draft: Draft, asked: AskedRequest): Draft | null {
  const ask = askOfCall(asking.state.asks, asked.call);
  if (ask === null || ask.answer === null) return null;
  const { actor, request, disk, happening } = asking;
  const { name, incarnation } = actor;
  const { tightened } = asking;
  const since = happening.monotonicMs;
  const waiting = { name, incarnation, request, call: asked.call, asked, disk, tightened };
  return deliver(asking, draft, { ask, waiting: { ...waiting, since, looking: false } });
}

/** M10: on record before its answer, so that a cut of this term counts against what is in the request. */
function noteSuspects(asking: Asking, draft: Draft, positions: readonly number[]): void {
  const suspects = suspectsAmong(asking.state, asking.actor.name, positions);
  if (suspects.length > 0) draft.about('msg', asking.actor).gave(suspects);
}

function replyTo(
  draft: Draft,
  from: { readonly name: ActorName; readonly incarnation: number; readonly upward: Upward },
  message: ActorReply,
): Draft {
  const { name, incarnation, upward } = from;
  return draft.effect({ type: 'reply', name, incarnation, id: upward.id, reply: message });
}

function setPhase(asking: Asking, phase: LiveActor['phase']): void {
  if (asking.actor.phase === phase) return;
  asking.actor.phase = phase;
  asking.actor.since = isoTime(asking.happening.now);
}

function commitAnswer(asking: Asking, draft: Draft, step: AnswerStep): Draft {
  draft.about('step', asking.actor).step(step);
  lookAgain(asking, step.took.length);
  noteWorking(asking, draft, step);
  reply(asking, draft, { type: 'committed', seq: 0 });
  // A compaction is nobody's turn: who was idle still is.
  if (step.entries.some((entry) => entry.type === 'answer')) setPhase(asking, 'tooling');
  const { state, live, actor } = asking;
  if (step.reservation !== undefined) {
    live.outlet.dirty = true;
    hasBegun(live, asking.happening, step.reservation, true);
    if (state.spending.open.has(step.reservation)) {
      draft.spend({ type: 'spend.answered', id: step.reservation });
    }
  }
  const [said] = step.entries.filter((one) => one.type === 'answer' || one.type === 'compaction');
  const spender = { actor: actor.name, task: said?.task ?? null };
  const turns = said?.type === 'answer' ? 1 : 0;
  if (said !== undefined) hasAnswered(live, asking.happening, said.model);
  warn(draft, live, spender, { usage: step.usage, turns });
  if (said?.type === 'answer') warnOfTurns(asking, draft, said.content);
  if (isRunSpent(state, step.usage) && live.halting === null) {
    live.halting = { next: 'budget', text: spentText(state, step.usage) };
    draft.effect({ type: 'halt', graceMs: 0 });
  }
  return draft;
}

/** What is given one by one goes on with the next when one is out of its hands. */
function lookAgain({ state, live, actor }: Asking, taken: number): void {
  if (taken > 0 && hasSuspects(state.mail, actor.name)) live.mailDirty.add(actor.name);
}

function commitResult(asking: Asking, draft: Draft, step: ResultStep): Draft {
  const open = asking.state.openCalls.get(asking.actor.name);
  const entries = step.entries.filter((entry) => entry.type !== 'result' || open?.has(entry.call));
  for (const entry of entries) {
    if (entry.type !== 'result') continue;
    cancelAct(asking.live, draft, entry.call);
    withdrawCall(draft, asking.live, entry.call, 'its actor has given it up');
  }
  if (entries.length > 0) draft.about('step', asking.actor).step({ entries });
  return reply(asking, draft, { type: 'committed', seq: 0 });
}

/** Nothing to do and a task in hand: reminded once, then the attempt ends; never a silent idle. */
function becameIdle(
  asking: Asking,
  draft: Draft,
  why: Extract<ActorRequest, { type: 'idle' }>['why'],
): Draft {
  const { state, live, actor } = asking;
  if (endIfReady(asking, draft)) return draft;
  const node = heldTask(state, actor.name);
  if (node === null || node.state !== 'running' || asking.facts.kind === 'subagent') return draft;
  if (node.path === null || live.prepared.get(node.spec.id) !== node.fence) return draft;
  // Mail that it has not answered yet wakes it by itself: it is not idle for want of work.
  if (hasUnread(state.mail, actor.name)) return draft;
  // The same holds for a plan that lies with somebody.
  if (openPlanOf(state, actor.name) !== null) return draft;
  // So does a job of its own that will come to it.
  if (isWaitingForJob(state, actor.name)) return draft;
  // And for the answer of who works for it in the background: that comes by mail, as the end of it does.
  if (hasHelpers(state, live, actor.name)) return draft;
  const nudged = live.nudges.get(node.fence) ?? 0;
  if (nudged < NUDGES_MAX && why !== 'refusal') {
    live.nudges.set(node.fence, nudged + 1);
    draft.about('msg').notice({
      to: actor.name,
      lane: 'normal',
      type: 'task.nudge',
      task: node.spec.id,
      body: {
        text: `${why === 'end' ? 'You ended your turn' : CUT_SHORT}, but task ${node.spec.id} is not finished. ${runningText(state, actor.name)}${nudgeText(state, actor.name)}`,
      },
    });
    live.mailDirty.add(actor.name);
    return draft;
  }
  const text =
    why === 'end'
      ? `${actor.name} stopped without completing or failing the task`
      : `${actor.name}'s model ended with ${why} before the task was complete`;
  endAttempt(draft.about('task'), live, {
    node,
    counts: 'attempt',
    reason: { kind: 'agent', ref: actor.name, text },
    rework: text,
  });
  live.dirty.add(node.spec.id);
  return draft;
}

function runningText(state: RunState, name: ActorName): string {
  const ids = runningOf(state, name).map(({ id }) => id);
  return ids.length === 0 ? '' : `In the background you have ${ids.join(', ')}: bash_wait waits. `;
}
/** A call that was cut was not run, and is not in the conversation. */
const CUT_SHORT =
  'Your answer was cut off where it reached the longest that one may be, and a call in it was not run. Say and write less at once (a large file in parts)';

function nudgeText(state: RunState, name: ActorName): string {
  const gate = gateOf(state, name);
  if (gate === null) return 'Go on with it, or call complete_task or fail_task.';
  return `Call submit_plan, or fail_task: ${gate}.`;
}

/** The agent can't go on: the attempt ends; an actor without a task ends itself. */
function stuck(
  asking: Asking,
  draft: Draft,
  request: Extract<ActorRequest, { type: 'stuck' }>,
): Draft {
  const { state, live, actor, facts } = asking;
  const text = `${request.message}${request.hint === undefined ? '' : ` (${request.hint})`}`;
  if (request.code === REPLAY_DIFFERS) {
    // What comes after the first difference is another run.
    reply(asking, draft, { type: 'noted' });
    asking.live.halting ??= { next: 'differs', text };
    return draft.effect({ type: 'halt', graceMs: 0 });
  }
  const node = facts.kind === 'subagent' ? null : heldTask(state, actor.name);
  const gaveUp = parkUnanswered(draft, actor, text);
  reply(asking, draft, { type: 'noted', ...(gaveUp.length === 0 ? {} : { gaveUp }) });
  lookAgain(asking, gaveUp.length);
  if (node !== null && request.code === 'budget/task') {
    // No attempt would fare better.
    live.dirty.add(node.spec.id);
    fail(draft.about('task'), live, node, { kind: 'budget', ref: node.spec.id, text });
    return draft;
  }
  if (facts.kind === 'teammate' && request.code === 'budget/actor') {
    const who = { name: actor.name, incarnation: actor.incarnation };
    endStopped(draft, live, { ...who, text: `stopped: ${text}`, reason: 'budget' });
    return draft.effect({ type: 'actor.stop', ...who, graceMs: 0 });
  }
  if (node !== null) {
    live.dirty.add(node.spec.id);
    endAttempt(draft.about('task'), live, {
      node,
      counts: 'attempt',
      reason: { kind: 'agent', ref: actor.name, text: `${actor.name}: ${text}` },
      rework: `The worker before you could not go on: ${text}`,
    });
    return draft;
  }
  if (facts.kind === 'subagent') return draft;
  if (facts.kind === 'teammate') {
    // It was asked something outside a task; the next task is another matter, and charged by itself.
    draft.about('dead', actor).notice({
      to: noticeTarget(state),
      lane: 'normal',
      type: 'mail.dead',
      body: { text: `${actor.name} could not answer its mail: ${text}`, code: request.code },
    });
    live.mailDirty.add(noticeTarget(state));
    return draft;
  }
  draft.about('sup', actor).actor({
    type: 'actor.ended',
    name: actor.name,
    incarnation: actor.incarnation,
    end: { kind: 'stopped', text: `${request.code}: ${text}` },
  });
  draft.notice({
    to: 'user',
    lane: 'normal',
    type: 'actor.died',
    body: { text: `${actor.name} cannot go on: ${text}`, code: request.code },
  });
  draft.effect({
    type: 'actor.stop',
    name: actor.name,
    incarnation: actor.incarnation,
    graceMs: 0,
  });
  return draft;
}

/** Mail that its thread was given and could not answer: parked with the reason, so that the run does not wait for it. */
function parkUnanswered(draft: Draft, actor: LiveActor, why: string): number[] {
  const parked = unread(draft.state.mail, actor.name).filter((one) => actor.posted.has(one.n));
  if (parked.length === 0) return [];
  draft.dead(
    actor.name,
    parked.map((one) => ({ n: one.n, id: one.id, what: 'dead' as const, reason: why })),
  );
  return parked.map(({ n }) => n);
}
