/** What may still be spent, by the run, a task and an actor: purses for `grant.ts`, warnings at nine tenths, words for people. */
import { actorOf } from '../../actors/index.ts';
import type { ActorName, TaskId } from '../../kernel/index.ts';
import {
  type Budget,
  NO_USAGE,
  type Share,
  totalTokens,
  type Usage,
} from '../../protocol/index.ts';
import type { Draft } from '../draft.ts';
import { BUDGET_WARN_SHARE } from '../limits.ts';
import type { Live } from '../live.ts';
import { lineOf, type Reservation } from '../spending.ts';
import type { RunState } from '../state.ts';
import type { Amount, Purse } from './grant.ts';
import { noticeTarget } from './roster.ts';

/** Whose request it is. */
export interface Spender {
  readonly actor: ActorName;
  readonly task: TaskId | null;
}

const FREE = Number.POSITIVE_INFINITY;

/** The bounded ones, the widest first. An actor draws on those that it works for as well, so children have the remainder. */
export function pursesOf(state: RunState, { actor, task }: Spender): Purse[] {
  const { spending, usage } = state;
  const purses: Purse[] = [];
  const add = (
    scope: string,
    holds: Amount | null,
    spent: { readonly usage: Usage | undefined; readonly turns: number | undefined },
    mine: (one: Reservation) => boolean,
  ): void => {
    if (holds === null) return;
    const { costUsd } = spent.usage ?? NO_USAGE;
    const tokens = totalTokens(spent.usage ?? NO_USAGE);
    const amount = { usd: costUsd, tokens, turns: spent.turns ?? 0 };
    purses.push({ scope, holds, spent: amount, aside: asideOf(state, mine) });
  };
  add('run', boundsOf(spending.budget), { usage: usage.total, turns: spending.turns }, () => true);
  if (task !== null) {
    const share = state.graph.nodes.get(task)?.spec.budget;
    const spent = { usage: usage.byTask.get(task), turns: spending.turnsAt.get(task) };
    add(`task:${task}`, boundsOf(share), spent, (one) => one.task === task);
  }
  for (const name of lineOf(state, actor)) {
    const share = actorOf(state.actors, name)?.profile.budget;
    const spent = { usage: spending.withChildren.get(name), turns: spending.turnsOf.get(name) };
    add(`actor:${name}`, boundsOf(share), spent, (one) => lineOf(state, one.actor).includes(name));
  }
  return purses;
}

function boundsOf(budget: Budget | Share | undefined): Amount | null {
  const { usd, tokens, turns } = budget ?? {};
  const holds = { usd: usd ?? FREE, tokens: tokens ?? FREE, turns: turns ?? FREE };
  return Object.values(holds).every((one) => one === FREE) ? null : holds;
}

function asideOf(state: RunState, mine: (one: Reservation) => boolean): Amount {
  const aside = { usd: 0, tokens: 0, turns: 0 };
  for (const one of state.spending.open.values()) {
    if (!mine(one)) continue;
    aside.usd += one.usd;
    aside.tokens += one.input + one.output;
    aside.turns += 1;
  }
  return aside;
}

/** Whether the run's money or tokens are gone once `more` is spent. Its last turn may still be worked off. */
export function isRunSpent(state: RunState, more: Usage): boolean {
  const [purse] = pursesOf(state, NOBODY);
  if (purse === undefined || state.file.replay !== undefined) return false;
  const { holds, spent } = withMore(purse, more, 0);
  return spent.usd >= holds.usd || spent.tokens >= holds.tokens;
}

const NOBODY: Spender = { actor: '' as ActorName, task: null };

/** Tells of purses that are nine tenths empty once `more` is spent: an event and a letter, once for each. */
export function warn(
  draft: Draft,
  live: Live,
  of: Spender,
  more: { readonly usage: Usage; readonly turns: 0 | 1 },
): void {
  for (const purse of pursesOf(draft.state, of)) {
    const after = withMore(purse, more.usage, more.turns);
    const share = shareOf(after);
    if (share < BUDGET_WARN_SHARE || share >= 1) continue;
    warnOf(draft, live, {
      scope: purse.scope,
      text: `Nine tenths of the budget of ${nameOf(purse.scope)} are used: ${amountsOf(after)}.`,
    });
  }
}

/** Once for each scope; the letter goes to who is told of the team, or to an actor itself. */
export function warnOf(
  draft: Draft,
  live: Live,
  what: { readonly scope: string; readonly text: string; readonly to?: ActorName },
): void {
  const { scope, text, to = noticeTarget(draft.state) } = what;
  if (draft.state.spending.warned.has(scope)) return;
  draft.runChange({ type: 'run.warned', text, scope });
  draft.notice({ to, lane: 'normal', type: 'chat.message', body: { text } });
  live.mailDirty.add(to);
}

function withMore(purse: Purse, more: Usage, turns: number): Purse {
  const spent = {
    usd: purse.spent.usd + more.costUsd,
    tokens: purse.spent.tokens + totalTokens(more),
    turns: purse.spent.turns + turns,
  };
  return { ...purse, spent };
}

function shareOf({ holds, spent }: Purse): number {
  return Math.max(
    0,
    ...(['usd', 'tokens', 'turns'] as const).map((what) => spent[what] / holds[what]),
  );
}

/** `0.42 of 2 USD, 12000 of 50000 tokens`. */
export function amountsOf({ holds, spent }: Pick<Purse, 'holds' | 'spent'>): string {
  return [
    ...(holds.usd === FREE ? [] : [`${dollars(spent.usd)} of ${holds.usd} USD`]),
    ...(holds.tokens === FREE ? [] : [`${spent.tokens} of ${holds.tokens} tokens`]),
    ...(holds.turns === FREE ? [] : [`${spent.turns} of ${holds.turns} turns`]),
  ].join(', ');
}

function dollars(usd: number): string {
  return usd < 0.1 ? String(Number(usd.toPrecision(2))) : usd.toFixed(2);
}

export function nameOf(scope: string): string {
  const [kind, name] = scope.split(':');
  return kind === 'task' ? `task ${name}` : kind === 'actor' ? (name ?? '') : 'the run';
}

/** Why the run stops; `more` is spent and not yet on record. */
export function spentText(state: RunState, more: Usage = NO_USAGE): string {
  const [purse] = pursesOf(state, NOBODY);
  const what = purse === undefined ? '' : amountsOf(withMore(purse, more, 0));
  return `the budget of the run is used up: ${what}`;
}
