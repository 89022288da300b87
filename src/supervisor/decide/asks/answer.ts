/**
 * Answers: of people, of time, of rules that have changed; and how one reaches the calls that wait for it, each in a record
 * of its own.
 *
 * Invariants
 * - P30 An ask ends exactly once; whoever comes later changes nothing and is told who was first.
 * - P34 Nothing runs on an answer but what the asked digest covers: the call is judged anew just before it runs.
 */
import { actorOf } from '../../../actors/index.ts';
import { type ActorName, type CallId, isoTime } from '../../../kernel/index.ts';
import {
  ASK_WARN_SHARE,
  type Ask,
  askOfCall,
  checkAnswer,
  DENIALS_IN_A_ROW,
  DENIALS_IN_A_RUN,
  grantOfRule,
  openAsks,
  TIME,
} from '../../../permissions/index.ts';
import type { CallFacts, Grant } from '../../../protocol/index.ts';
import { Draft } from '../../draft.ts';
import type { Happening, RunEvent } from '../../inbox.ts';
import type { Live, LiveActor, WaitingCall } from '../../live.ts';
import type { RunState } from '../../state.ts';
import { decideAct } from '../acts/index.ts';
import type { Asking } from '../asking.ts';
import { judgeAsked } from '../judging.ts';
import { permit } from '../permit.ts';
import { noticeTarget } from '../roster.ts';
import { refuse, stopWaiting } from './end.ts';
import { askTimeoutMs, later } from './put.ts';
import { refusalOfAnswer } from './refusals.ts';

export function answerAsk(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'ask.answer' }>,
): Draft {
  const draft = new Draft(state, happening).about('perm');
  const { token, effect, by, reason } = event;
  const check = checkAnswer(state.asks, event.id, event.digest);
  const noOffer = event.scope !== 'once' && check.kind === 'ok' && check.ask.offer === null;
  if (check.kind !== 'ok' || (noOffer && effect === 'allow')) {
    const error = refusalOfAnswer(check, event.id);
    return draft.effect({ type: 'refuse', token, error });
  }
  const { ask } = check;
  if (effect === 'allow' && dropMoved(draft, live, { ask, disks: event.disks })) {
    return draft.effect({
      type: 'refuse',
      token,
      error: refusalOfAnswer({ kind: 'stale', ask }, event.id),
    });
  }
  const scope = effect === 'allow' ? event.scope : 'once';
  draft.ask({ type: 'ask.answered', id: ask.id, effect, scope, by, reason });
  const grant = scope === 'once' ? null : grantOf(state, live, { ask, event, now: happening.now });
  if (grant !== null) {
    draft.ask({ type: 'grant.given', grant });
    if (grant.scope === 'workspace') draft.effect({ type: 'grant.keep', grant });
    live.asksDirty = true;
  }
  const value = { id: ask.id, effect, scope, by, grant: grant?.id ?? null };
  return draft.effect({ type: 'answer', token, value });
}

/**
 * P15: calls for which the disk is not as it was when their ask was put leave it, and are asked about anew; true when with
 * them the ask has ended.
 */
function dropMoved(
  draft: Draft,
  live: Live,
  from: { readonly ask: Ask; readonly disks: ReadonlyMap<CallId, CallFacts> | undefined },
): boolean {
  const { ask, disks } = from;
  const moved = ask.waiters.filter(({ call, actor }) => {
    const waiting = live.waiting.get(call);
    const disk = disks?.get(call);
    if (waiting === undefined || disk === undefined) return false;
    const { state, happening } = draft;
    const { tightened } = waiting;
    const who = { state, live, happening, actor: { name: actor }, disk, tightened };
    const judged = judgeAsked(who, waiting.asked);
    return judged.action !== 'ask' || judged.digest() !== ask.digest;
  });
  if (moved.length === 0) return false;
  if (moved.length === ask.waiters.length) {
    draft.ask({ type: 'ask.superseded', id: ask.id, reason: MOVED });
    return true;
  }
  for (const { call } of moved) {
    draft.ask({ type: 'ask.withdrawn', id: ask.id, call, reason: MOVED });
  }
  return false;
}

const MOVED = 'what it asked about is not so any more';

const DAY_MS = 24 * 60 * 60_000;

function grantOf(
  state: RunState,
  live: Live,
  from: {
    readonly ask: Ask;
    readonly event: Extract<RunEvent, { type: 'ask.answer' }>;
    readonly now: number;
  },
): Grant | null {
  const { ask, event, now } = from;
  if (ask.offer === null || event.scope === 'once') return null;
  const { scope } = event;
  return {
    ...ask.offer,
    id: `grant_${live.hash(JSON.stringify([ask.id, scope])).slice(0, 16)}`,
    scope,
    profile: scope === 'run' ? ask.profile : null,
    by: event.by,
    at: isoTime(now),
    expiresAt: scope === 'run' ? null : isoTime(now + event.days * DAY_MS),
    lastUsedAt: null,
    ask: ask.id,
    run: state.file.id,
  };
}

/** Time is over for some, nearly for others. */
export function asksDue(state: RunState, happening: Happening): Draft {
  const draft = new Draft(state, happening).about('perm');
  markDue(draft);
  return draft;
}

export function markDue(draft: Draft): void {
  const { state, happening } = draft;
  const whole = askTimeoutMs(state);
  for (const ask of state.asks.asks.values()) {
    if (ask.answer !== null || ask.expiresAt === null) continue;
    const left = Date.parse(ask.expiresAt) - happening.now;
    if (left <= 0) draft.ask({ type: 'ask.timed-out', id: ask.id });
    else if (!ask.warned && whole !== null && left <= whole * (1 - ASK_WARN_SHARE) + 1) {
      draft.ask({ type: 'ask.warned', id: ask.id });
    }
  }
}

/** A new term: nobody could answer while no supervisor was there, so each ask has its whole time again. */
export function renewAsks(draft: Draft): void {
  for (const grant of draft.state.asks.unkept.values()) draft.effect({ type: 'grant.keep', grant });
  const timeoutMs = askTimeoutMs(draft.state);
  if (timeoutMs === null) return;
  const expiresAt = isoTime(draft.happening.now + timeoutMs);
  let any = false;
  for (const ask of draft.state.asks.asks.values()) {
    // Subagents ended with the last term, and what only they asked has ended with them.
    if (ask.answer !== null || !ask.waiters.some(({ actor }) => isMember(draft, actor))) continue;
    any = true;
    draft.ask({ type: 'ask.renewed', id: ask.id, expiresAt });
  }
  if (any) later(draft, timeoutMs);
}

function isMember({ state }: Draft, name: ActorName): boolean {
  return actorOf(state.actors, name)?.kind !== 'subagent';
}

export function revokeGrant(
  state: RunState,
  happening: Happening,
  event: Extract<RunEvent, { type: 'grant.revoke' }>,
): Draft {
  const draft = new Draft(state, happening).about('perm');
  const found = state.asks.grants.has(event.id);
  if (found) draft.ask({ type: 'grant.revoked', id: event.id, by: event.by });
  return draft.effect({ type: 'answer', token: event.token, value: found });
}

/** A grant holds in the workspace from now on; perhaps this run gave it. */
export function rulesChanged(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'rules.changed' }>,
): Draft {
  const draft = new Draft(state, happening).about('perm');
  live.asksDirty = true;
  const { kept } = event;
  if (state.asks.unkept.has(kept)) draft.ask({ type: 'grant.kept', id: kept });
  return draft;
}

/** What waits is judged again after rules or grants have changed; null when nothing comes of it. */
export function judgeAgain(state: RunState, live: Live, happening: Happening): Draft | null {
  if (!live.asksDirty) return null;
  live.asksDirty = false;
  const draft = new Draft(state, happening).about('perm');
  for (const ask of openAsks(state.asks)) {
    const waiting = ask.waiters
      .map((one) => live.waiting.get(one.call))
      .find((one) => one !== undefined);
    if (waiting === undefined) continue;
    const { name, disk, asked, tightened } = waiting;
    const who = { state, live, happening, actor: { name }, disk, tightened };
    const judged = judgeAsked(who, asked);
    if (judged.action === 'ask' && judged.digest() === ask.digest) continue;
    if (judged.action === 'allow') {
      const by = grantOfRule(judged.rule) === null ? 'rules' : `grant:${grantOfRule(judged.rule)}`;
      const { id } = ask;
      const { reason } = judged;
      draft.ask({ type: 'ask.answered', id, effect: 'allow', scope: 'once', by, reason });
    } else {
      const reason = judged.action === 'deny' ? judged.reason : 'the rules have changed';
      draft.ask({ type: 'ask.superseded', id: ask.id, reason });
    }
  }
  return draft.empty ? null : draft;
}

/** The next waiting call whose ask has ended is refused, or looked at before it goes on; null when there is none. */
export function answerNext(state: RunState, live: Live, happening: Happening): Draft | null {
  for (const waiting of live.waiting.values()) {
    const { name, call } = waiting;
    const ask = askOfCall(state.asks, call);
    if (waiting.looking || (ask !== null && ask.answer === null)) continue;
    if (ask?.answer?.effect === 'deny') return goOn(new Draft(state, happening), live, call);
    waiting.looking = true;
    return new Draft(state, happening).effect({ type: 'call.look', name, call });
  }
  return null;
}

/** P15: what waited is run, refused, or asked about anew, by the disk as it is now. */
export function callLooked(
  state: RunState,
  live: Live,
  happening: Happening,
  { call, disk }: Extract<RunEvent, { type: 'call.looked' }>,
): Draft {
  const draft = new Draft(state, happening);
  const waiting = live.waiting.get(call);
  // A stop: nothing new is begun; the answer is kept for the next term.
  if (waiting?.looking !== true || live.halting !== null) return draft;
  return goOn(draft, live, call, disk);
}

function goOn(draft: Draft, live: Live, call: CallId, seen?: CallFacts): Draft {
  const { state, happening } = draft;
  const ask = askOfCall(state.asks, call);
  const waiting = stopWaiting(draft, live, call);
  const actor = waiting === null ? undefined : live.actors.get(waiting.name);
  const facts = waiting === null ? null : actorOf(state.actors, waiting.name);
  if (waiting === null || actor === undefined || facts === null) return draft;
  if (actor.incarnation !== waiting.incarnation) return draft;
  const { request, tightened } = waiting;
  const disk = seen ?? waiting.disk;
  const asking = { state, live, happening, facts, actor, request, disk, tightened, hooked: true };
  return ask === null ? run(asking, draft, waiting) : deliver(asking, draft, { ask, waiting });
}

function run(asking: Asking, draft: Draft, { asked }: WaitingCall): Draft {
  return asked.type === 'permit' ? permit(asking, draft, asked) : decideAct(asking, draft, asked);
}

/** The answer of its ask reaches a call; used up by it. */
export function deliver(
  asking: Asking,
  draft: Draft,
  what: { readonly ask: Ask; readonly waiting: WaitingCall },
): Draft {
  const { state, live, actor } = asking;
  const { ask, waiting } = what;
  const { answer } = ask;
  if (answer === null) return draft;
  draft.about('perm', actor).ask({ type: 'ask.used', id: ask.id, call: waiting.call });
  if (answer.effect === 'allow') {
    return run({ ...asking, approval: { digest: ask.digest, by: answer.by } }, draft, waiting);
  }
  const text = denialText(ask);
  draft.decided({
    actor: actor.name,
    call: waiting.call,
    tool: ask.tool,
    input: ask.input,
    effect: 'deny',
    rule: answer.by === TIME ? 'timed_out' : 'denied',
    reason: text,
  });
  const why = tooMany(state, actor);
  if (why === null) {
    refuse(draft, waiting, { actor, text });
    return draft;
  }
  live.held.set(actor.name, { waiting, text: `${text}. ${why.told}` });
  actor.phase = 'waiting';
  draft.ask({ type: 'actor.paused', actor: actor.name, text: why.text });
  const target = noticeTarget(state);
  const to = target === actor.name ? 'user' : target;
  draft.notice({
    to,
    lane: 'normal',
    type: 'chat.message',
    body: {
      text: `${actor.name} is paused: ${why.text}. Write to it how to go on (it reads that at once), or stop it.`,
    },
  });
  if (target !== actor.name) live.mailDirty.add(target);
  return draft;
}

function denialText(ask: Ask): string {
  const { answer } = ask;
  if (answer?.by === TIME)
    return 'nobody answered in time (timed_out); go on without it, or ask later';
  const why = answer?.reason ?? null;
  return `denied by ${answer?.by ?? 'user'}${why === null ? '' : `: ${why}`}`;
}

/** §2.10: an actor that is denied again and again is on the wrong way; somebody has to tell it. */
function tooMany(
  state: RunState,
  actor: LiveActor,
): { readonly text: string; readonly told: string } | null {
  const { denials, denialsOfRun, paused } = state.asks;
  if (paused.has(actor.name)) return null;
  const row = denials.get(actor.name) ?? 0;
  const told = 'You were paused because of that; read your mail before you go on';
  if (row >= DENIALS_IN_A_ROW) return { text: `${row} of its calls in a row were denied`, told };
  if (denialsOfRun < DENIALS_IN_A_RUN) return null;
  return { text: `${denialsOfRun} calls of this run were denied`, told };
}
