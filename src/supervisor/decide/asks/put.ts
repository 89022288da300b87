/** A call is put to a person: once for all that ask the same, and the actor waits, holding nothing. */
import { actorOf } from '../../../actors/index.ts';
import { type ActorName, isoTime, USER } from '../../../kernel/index.ts';
import {
  ASK_TIMEOUT_MS,
  ASK_WARN_SHARE,
  askOfCall,
  equalAsk,
  GRANT_USE_STEP_MS,
} from '../../../permissions/index.ts';
import type { ActorRequest, AskBody, AskWaiter } from '../../../protocol/index.ts';
import type { Draft } from '../../draft.ts';
import type { RunState } from '../../state.ts';
import type { Asking } from '../asking.ts';
import { grantBehind, type Judged, profileOf } from '../judging.ts';
import { heldTask } from '../roster.ts';
import { shortInput } from './input.ts';

export type AskedRequest = Extract<ActorRequest, { type: 'permit' | 'act' }>;

/** Puts the call to a person, or joins those who ask the same; the request is answered when the ask is. */
export function putAsk(asking: Asking, draft: Draft, request: AskedRequest, judged: Judged): Draft {
  const { state, live, actor, happening } = asking;
  const { call } = request;
  const digest = judged.digest();
  const waiter = waiterOf(asking, request);
  const known = askOfCall(state.asks, call);
  draft.about('perm', actor);
  live.waiting.set(call, {
    name: actor.name,
    incarnation: actor.incarnation,
    request: asking.request,
    call,
    asked: request,
    disk: asking.disk,
    tightened: asking.tightened,
    since: happening.monotonicMs,
    looking: false,
  });
  actor.phase = 'waiting';
  actor.since = isoTime(happening.now);
  // After a restart the actor comes back to the ask that it left.
  if (known !== null && known.answer === null && known.digest === digest) {
    return draft.ask({ type: 'ask.joined', id: known.id, waiter });
  }
  if (known !== null && known.answer === null) {
    const reason = 'what it asked about is not so any more';
    draft.ask({ type: 'ask.withdrawn', id: known.id, call, reason });
  }
  const equal = equalAsk(state.asks, digest);
  if (equal !== null && equal.id !== known?.id) {
    return draft.ask({ type: 'ask.joined', id: equal.id, waiter });
  }
  return putNew(asking, draft, { request, judged, digest, waiter });
}

function putNew(
  asking: Asking,
  draft: Draft,
  what: {
    readonly request: AskedRequest;
    readonly judged: Judged;
    readonly digest: string;
    readonly waiter: AskWaiter;
  },
): Draft {
  const { state, live, happening } = asking;
  const { request, judged, digest, waiter } = what;
  const timeoutMs = askTimeoutMs(state);
  const unique = [
    state.file.id,
    state.asks.count,
    state.lastSeq,
    waiter.actor,
    waiter.call,
    digest,
  ];
  const { input, ...ref } = shortInput(request.input, asking.payload);
  const ask: AskBody = {
    id: `ask_${live.hash(JSON.stringify(unique)).slice(0, 32)}`,
    digest,
    profile: profileOf(state, waiter.actor),
    tool: request.tool,
    input,
    ...ref,
    touches: judged.touches(),
    rule: judged.rule,
    reason: judged.reason,
    offer: judged.offer(),
    expiresAt: timeoutMs === null ? null : isoTime(happening.now + timeoutMs),
  };
  draft.ask({ type: 'ask.put', ask, waiter });
  if (timeoutMs !== null) later(draft, timeoutMs);
  draft.notice({
    to: USER,
    lane: 'normal',
    type: 'permission.ask',
    ...(waiter.task === null ? {} : { task: waiter.task }),
    body: { text: noticeText(ask, waiter), ask: ask.id, digest },
  });
  return draft;
}

function noticeText(ask: AskBody, waiter: AskWaiter): string {
  return `${waiter.actor} asks to use ${ask.tool}: ${ask.touches.join('; ')} (${ask.reason})`;
}

/** Looks at the queue when its time is nearly over, and when it is. */
export function later(draft: Draft, timeoutMs: number): void {
  draft.effect({ type: 'asks.later', ms: Math.ceil(timeoutMs * ASK_WARN_SHARE) });
  draft.effect({ type: 'asks.later', ms: timeoutMs });
}

/** Null: asks wait for ever. */
export function askTimeoutMs(state: RunState): number | null {
  const { askTimeoutMs: given } = state.file.team.permissions;
  return given === undefined ? ASK_TIMEOUT_MS : given;
}

function waiterOf({ state, actor }: Asking, request: AskedRequest): AskWaiter {
  return {
    actor: actor.name,
    incarnation: actor.incarnation,
    ancestry: ancestryOf(state, actor.name),
    call: request.call,
    task: heldTask(state, actor.name)?.spec.id ?? null,
  };
}

function ancestryOf(state: RunState, name: ActorName): ActorName[] {
  const chain: ActorName[] = [];
  let actor = actorOf(state.actors, name);
  while (actor !== null && !chain.includes(actor.name)) {
    chain.unshift(actor.name);
    actor = actor.parent === null ? null : actorOf(state.actors, actor.parent);
  }
  return chain;
}

/** A grant was used; told at most once an hour, so that it does not lapse for want of use. */
export function noteGrantUse(asking: Asking, draft: Draft, judged: Judged): void {
  const { state, live, happening } = asking;
  const grant = grantBehind(state, live, judged.rule);
  if (grant === null || judged.action !== 'allow') return;
  const last = grant.lastUsedAt === null ? 0 : Date.parse(grant.lastUsedAt);
  if (happening.now - last < GRANT_USE_STEP_MS) return;
  if (grant.scope === 'run') draft.ask({ type: 'grant.used', id: grant.id });
  else draft.effect({ type: 'grant.used', id: grant.id, at: isoTime(happening.now) });
}
