/**
 * The way out to the models, which every request takes: it is let out when its provider may be asked and every purse that
 * it draws on has room, and what it may cost is put aside first.
 *
 * Invariants
 * - B4 With a budget no request goes out before what it may cost is durably put aside.
 * - B5 While a provider's quota is used up, or it answers nobody, nobody asks it; whoever would waits here, with task, mail and turn as they are, and
 *   no attempt is charged. What one actor hears of a rate limit holds for all.
 */
import { type ActorName, isoTime, USER } from '../../kernel/index.ts';
import {
  type ActorReply,
  type ContentBlock,
  NO_USAGE,
  type ReserveRequest,
  type SettleRequest,
  totalTokens,
} from '../../protocol/index.ts';
import { Draft } from '../draft.ts';
import type { Happening } from '../inbox.ts';
import {
  BUDGET_WARN_SHARE,
  DOWN_MAX_MS,
  DOWN_MS,
  OUTLET_LOOK_MS,
  QUOTA_MIN_MS,
  QUOTA_RETRY_MS,
  SPREAD_EACH_MS,
  SPREAD_MAX_MS,
} from '../limits.ts';
import type { HeldRequest, Live } from '../live.ts';
import type { RunState } from '../state.ts';
import type { Asking } from './asking.ts';
import { amountsOf, isRunSpent, nameOf, pursesOf, spentText, warn, warnOf } from './budget.ts';
import { type Grant, grant } from './grant.ts';
import { LAST_CALLS, reply } from './results.ts';
import { placeHolder } from './roster.ts';
import { goesOut, hasBegun, waitForSibling } from './siblings.ts';

/** It waits for its turn; `letOut` answers it, at once where it can. */
export function reserve(asking: Asking, draft: Draft, ask: ReserveRequest): Draft {
  const { live, actor, happening, request } = asking;
  const { name, incarnation } = actor;
  const since = happening.monotonicMs;
  live.outlet.queue.set(ask.id, { name, incarnation, request, ask, since, wasHeld: false });
  live.outlet.dirty = true;
  if (ask.turn > 0) actor.turn = ask.turn;
  return draft;
}

/** With the answer whose turn it was, when it goes on: the agent's next request has the letter, and it can still come to an end. */
export function warnOfTurns(
  { state, live, actor }: Asking,
  draft: Draft,
  content: readonly ContentBlock[],
): void {
  const { turns } = state.file.team.limits;
  const { name, turn = 0 } = actor;
  // Of a few turns nine tenths are all of them: then before the last one.
  const at = Math.max(1, Math.min(turns - 1, Math.ceil(turns * BUDGET_WARN_SHARE)));
  if (turn !== at || turn === turns) return;
  const calls = content.flatMap((block) => (block.type === 'call' ? [block.name] : []));
  if (calls.length === 0 || calls.some((tool) => LAST_CALLS.has(tool))) return;
  warnOf(draft.about('run', actor), live, {
    scope: `turns:${name}:${state.spending.turnsOf.get(name) ?? 0}`,
    text: `${name} has used ${turn} of ${turns} turns. Bring the work to an end, or say what keeps you from it.`,
    to: name,
  });
}

/** A request has ended without an answer: what it cost is charged, and what the provider said holds for all. */
export function settleSpent(asking: Asking, draft: Draft, ask: SettleRequest): Draft {
  const { state, live, actor, happening } = asking;
  const { outlet } = live;
  outlet.dirty = true;
  outlet.queue.delete(ask.id);
  hasBegun(live, happening, ask.id, false);
  const { id, model, task, usage, limited } = ask;
  if (state.spending.open.has(id) || totalTokens(usage) > 0) {
    draft.about('run', actor).spend({ type: 'spend.settled', id, model, task, usage });
    warn(draft, live, { actor: actor.name, task }, { usage, turns: 0 });
  }
  const provider = providerOf(model);
  if (limited?.kind === 'rate') {
    const until = happening.monotonicMs + limited.ms;
    outlet.holds.set(provider, Math.max(until, outlet.holds.get(provider) ?? 0));
  }
  if (limited?.kind === 'quota') hitQuota(draft, provider, limited);
  if (limited?.kind === 'down') isDown(draft, live, { provider, ...limited });
  return reply(asking, draft, { type: 'noted' });
}

/** B5. Who is found not to answer is left alone by all; who answered somebody meanwhile is not down, whatever one request says. */
function isDown(
  draft: Draft,
  live: Live,
  found: { readonly provider: string; readonly forMs: number; readonly text: string },
): void {
  const { now, monotonicMs } = draft.happening;
  const { provider, text } = found;
  const heard = live.outlet.heard.get(provider) ?? { at: Number.NEGATIVE_INFINITY, down: 0 };
  if (heard.at > monotonicMs - found.forMs) return;
  const known = draft.state.spending.quotas.get(provider);
  // Others have found it as well.
  if (known !== undefined && Date.parse(known.until) > now) return;
  const down = heard.down + 1;
  live.outlet.heard.set(provider, { ...heard, down });
  const ms = Math.min(DOWN_MAX_MS, DOWN_MS * 2 ** Math.min(down - 1, 20));
  const until = isoTime(now + ms);
  draft.about('run').runChange({ type: 'quota.hit', provider, until, text, down });
  if (down > 1) return;
  const told = `${provider} does not answer: ${text}. Whoever uses it waits and tries again from time to time; no attempt is charged.`;
  draft.notice({ to: USER, lane: 'normal', type: 'chat.message', body: { text: told } });
}

/** It has answered: it is not down. */
export function hasAnswered(live: Live, happening: Happening, model: string): void {
  live.outlet.heard.set(providerOf(model), { at: happening.monotonicMs, down: 0 });
}

function hitQuota(
  draft: Draft,
  provider: string,
  limited: { readonly resetAt: string | null; readonly text: string },
): void {
  const { now } = draft.happening;
  const told = limited.resetAt === null ? Number.NaN : Date.parse(limited.resetAt);
  const until = isoTime(
    Number.isNaN(told) ? now + QUOTA_RETRY_MS : Math.max(told, now + QUOTA_MIN_MS),
  );
  const known = draft.state.spending.quotas.get(provider);
  if (known !== undefined && known.until >= until) return;
  const { text } = limited;
  draft.about('run').runChange({ type: 'quota.hit', provider, until, text });
  if (known !== undefined && Date.parse(known.until) > now) return;
  draft.notice({
    to: USER,
    lane: 'normal',
    type: 'chat.message',
    body: {
      text: `The quota of ${provider} is used up: ${text} Whoever uses it waits until ${until}, and then goes on by itself.`,
    },
  });
}

/** Answers one request that waits; null when none can be. What went out without a budget is recorded behind it. */
export function letOut(state: RunState, live: Live, happening: Happening): Draft | null {
  const { outlet } = live;
  const owed = outlet.owed.shift();
  if (owed !== undefined) {
    return new Draft(state, happening).about('run', owed.actor).spend(owed.change);
  }
  if (!outlet.dirty) return null;
  for (const held of outlet.queue.values()) {
    const draft = letOutOne(state, live, happening, held);
    if (draft !== null) return draft;
  }
  outlet.dirty = false;
  return lookLater(state, live, happening);
}

function letOutOne(
  state: RunState,
  live: Live,
  happening: Happening,
  held: HeldRequest,
): Draft | null {
  const { outlet } = live;
  const { ask, name } = held;
  const actor = live.actors.get(name);
  if (actor === undefined || actor.incarnation !== held.incarnation) {
    outlet.queue.delete(ask.id);
    return null;
  }
  const rest = restOf(state, live, happening, providerOf(ask.model));
  if (rest !== null) {
    held.wasHeld = true;
    if (ask.patient) return waits(live, happening, held);
    return answer(live, new Draft(state, happening), held, { type: 'held', ...rest });
  }
  if (waitForSibling(live, happening, held) > 0) return waits(live, happening, held);
  // A recording costs nothing, and may have been given more on its way.
  const isReplay = state.file.replay !== undefined;
  const purses = isReplay ? [] : pursesOf(state, { actor: name, task: ask.task });
  const found = grant(purses, {
    input: ask.input,
    maxTokens: ask.maxTokens,
    rate: ask.rate,
  });
  if (found.kind === 'wait') return waits(live, happening, held);
  const draft = new Draft(state, happening).about('run', actor);
  if (found.kind === 'spent') return refuse(live, draft, held, found);
  const leave = {
    spreadMs: held.wasHeld ? spreadOf(live) : 0,
    ahead: goesOut(live, happening, held),
  };
  if (purses.length === 0 && !hasPrice(ask)) {
    // Nothing is counted that costs nothing and is bounded by nothing.
    return answer(live, draft, held, granted(found.maxTokens, leave));
  }
  const { id, model, task, input } = ask;
  const output = found.maxTokens;
  const change = {
    type: 'spend.reserved' as const,
    id,
    model,
    task,
    input,
    output,
    usd: found.usd,
  };
  if (purses.length === 0) outlet.owed.push({ actor, change });
  else draft.spend(change);
  return answer(live, draft, held, granted(output, leave));
}

const hasPrice = ({ model }: ReserveRequest): boolean => providerOf(model) !== 'scripted';

function granted(
  maxTokens: number,
  { spreadMs, ahead }: { readonly spreadMs: number; readonly ahead: boolean },
): ActorReply {
  return {
    type: 'granted',
    maxTokens,
    ...(spreadMs === 0 ? {} : { spreadMs }),
    ...(ahead ? { ahead } : {}),
  };
}

/** The more go out at the same time, the further they are spread. */
function spreadOf({ outlet }: Live): number {
  const together = [...outlet.queue.values()].filter((one) => one.wasHeld).length;
  return Math.min(SPREAD_MAX_MS, together * SPREAD_EACH_MS);
}

function refuse(
  live: Live,
  draft: Draft,
  held: HeldRequest,
  { purse, what }: Extract<Grant, { kind: 'spent' }>,
): Draft {
  const { state } = draft;
  if (purse.scope === 'run') {
    live.outlet.queue.delete(held.ask.id);
    live.halting = {
      next: 'budget',
      text: isRunSpent(state, NO_USAGE)
        ? spentText(state)
        : `what is left of the run's budget is too little for another answer: ${amountsOf(purse)}`,
    };
    return draft.effect({ type: 'halt', graceMs: 0 });
  }
  const scope = purse.scope.startsWith('task:') ? 'task' : 'actor';
  const left = purse.spent[what] >= purse.holds[what] ? 'is used up' : 'has too little left';
  const text = `the budget of ${nameOf(purse.scope)} ${left}: ${amountsOf(purse)}`;
  return answer(live, draft, held, { type: 'spent', scope, text });
}

function answer(live: Live, draft: Draft, held: HeldRequest, message: ActorReply): Draft {
  const { name, incarnation, request: id, ask } = held;
  live.outlet.queue.delete(ask.id);
  startClock(draft, live, held);
  const actor = live.actors.get(name);
  if (actor?.phase === 'waiting') {
    actor.phase = 'thinking';
    actor.since = draft.at;
  }
  return draft.effect({ type: 'reply', name, incarnation, id, reply: message });
}

/** Nothing is decided of it now; whoever looks sees that it waits. */
function waits(live: Live, happening: Happening, held: HeldRequest): null {
  const actor = live.actors.get(held.name);
  if (actor !== undefined && actor.phase !== 'waiting') {
    actor.phase = 'waiting';
    actor.since = isoTime(happening.now);
  }
  return null;
}

/** Its task's clock stood still meanwhile. */
function startClock(draft: Draft, live: Live, held: HeldRequest): void {
  const task = draft.state.claims.get(placeHolder(draft.state, held.name));
  const since = task === undefined ? undefined : live.claimedAt.get(task);
  if (task === undefined || since === undefined) return;
  const { monotonicMs } = draft.happening;
  live.claimedAt.set(task, Math.min(monotonicMs, since + monotonicMs - held.since));
}

/** Whether this member, or a subagent that works for it, is kept from asking its model. */
export function waitsForOutlet(state: RunState, live: Live, name: ActorName): boolean {
  for (const held of live.outlet.queue.values()) {
    if (held.name === name || placeHolder(state, held.name) === name) return true;
  }
  return false;
}

function providerOf(model: string): string {
  const slash = model.indexOf('/');
  return slash < 0 ? model : model.slice(0, slash);
}

/** How long a provider is not to be asked yet; null: it may be. */
function restOf(
  state: RunState,
  live: Live,
  { now, monotonicMs }: Happening,
  provider: string,
): { readonly ms: number; readonly text: string } | null {
  const quota = state.spending.quotas.get(provider);
  const quotaMs = quota === undefined ? 0 : Date.parse(quota.until) - now;
  if (quota !== undefined && quotaMs > 0) {
    const what =
      quota.down === undefined
        ? `the quota of ${provider} is used up`
        : `${provider} does not answer; it is left alone`;
    return { ms: quotaMs, text: `${what} until ${quota.until}` };
  }
  const ms = (live.outlet.holds.get(provider) ?? 0) - monotonicMs;
  return ms > 0 ? { ms, text: `${provider} wants to be left alone for a moment` } : null;
}

/** Quotas whose time has come: their tasks may go on. */
export function endQuotas(state: RunState, live: Live, happening: Happening): Draft | null {
  for (const { provider, until } of state.spending.quotas.values()) {
    if (Date.parse(until) > happening.now) continue;
    live.outlet.dirty = true;
    const draft = new Draft(state, happening).about('run');
    return draft.runChange({ type: 'quota.over', provider });
  }
  return null;
}

/** When the first of those that wait for a provider may go on; by then at the latest the queue is looked at again. */
function lookLater(state: RunState, live: Live, happening: Happening): Draft | null {
  const { outlet } = live;
  const rests = [...outlet.queue.values()].flatMap((held) => {
    const ms =
      restOf(state, live, happening, providerOf(held.ask.model))?.ms ??
      waitForSibling(live, happening, held);
    return ms > 0 ? [ms] : [];
  });
  if (rests.length === 0) return null;
  const ms = Math.min(OUTLET_LOOK_MS, Math.max(1, Math.ceil(Math.min(...rests))));
  const at = happening.monotonicMs + ms;
  if (outlet.timerAt !== null && outlet.timerAt <= at) return null;
  outlet.timerAt = at;
  return new Draft(state, happening).effect({ type: 'outlet.later', ms });
}

export function outletDue(state: RunState, live: Live, happening: Happening): Draft {
  live.outlet.timerAt = null;
  live.outlet.dirty = true;
  return new Draft(state, happening);
}
