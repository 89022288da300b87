/**
 * What a request may take: pure arithmetic over purses. A purse is what the run, a task or an actor may spend, what is
 * spent of it, and what is put aside for requests that are under way.
 *
 * Invariant: B3 what is spent and what is put aside are together never more than any purse holds.
 */
import type { Rate } from '../../protocol/index.ts';
import { ANSWER_COMFORT_TOKENS, ANSWER_FLOOR_TOKENS } from '../limits.ts';

export interface Amount {
  readonly usd: number;
  readonly tokens: number;
  readonly turns: number;
}

export interface Purse {
  /** `run`, `task:parser`, `actor:ada`. */
  readonly scope: string;
  /** Without a bound: infinity. */
  readonly holds: Amount;
  readonly spent: Amount;
  readonly aside: Amount;
}

/** What a request wants to have: an answer of so many tokens at most, after an input of so many. */
export interface Want {
  readonly input: number;
  readonly maxTokens: number;
  readonly rate: Rate | null;
}

export type Grant =
  | { readonly kind: 'granted'; readonly maxTokens: number; readonly usd: number }
  /** It may be enough when a request that is under way has cost less than was put aside for it. */
  | { readonly kind: 'wait'; readonly purse: Purse }
  | { readonly kind: 'spent'; readonly purse: Purse; readonly what: keyof Amount };

/** Dollars of a request at most. */
export function priceOf({ input, rate }: Pick<Want, 'input' | 'rate'>, output: number): number {
  return rate === null ? 0 : (input * rate.input + output * rate.output) / 1_000_000;
}

/** B3. An answer that others leave too little room for waits, rather than come out short. */
export function grant(purses: readonly Purse[], want: Want): Grant {
  const floor = Math.min(want.maxTokens, ANSWER_FLOOR_TOKENS);
  const comfort = Math.min(want.maxTokens, ANSWER_COMFORT_TOKENS);
  let room = want.maxTokens;
  for (const purse of purses) {
    const { tokens, what } = roomIn(purse, want);
    const isShared = purse.aside[what] > 0;
    if (tokens < comfort && isShared) return { kind: 'wait', purse };
    if (tokens < floor) return { kind: 'spent', purse, what };
    room = Math.min(room, tokens);
  }
  return { kind: 'granted', maxTokens: room, usd: priceOf(want, room) };
}

/** Tokens of an answer that a purse has room for, and what bounds them. */
function roomIn(
  purse: Purse,
  want: Want,
): { readonly tokens: number; readonly what: keyof Amount } {
  const left = (what: keyof Amount): number =>
    purse.holds[what] - purse.spent[what] - purse.aside[what];
  if (left('turns') < 1) return { tokens: 0, what: 'turns' };
  const byTokens = left('tokens') - want.input;
  const byMoney = moneyRoom(left('usd'), want);
  const [tokens, what] =
    byMoney < byTokens ? [byMoney, 'usd' as const] : [byTokens, 'tokens' as const];
  return { tokens: Math.max(0, Math.floor(tokens)), what };
}

/** Sums of dollars are off by less than that. */
const DUST = 1e-12;

function moneyRoom(left: number, want: Want): number {
  if (left === Number.POSITIVE_INFINITY) return left;
  // Nobody knows what it costs, so that it only must not begin with nothing left.
  if (want.rate === null) return left > DUST ? Number.POSITIVE_INFINITY : 0;
  const rest = left - priceOf(want, 0) - DUST;
  if (rest < 0) return 0;
  return want.rate.output === 0 ? Number.POSITIVE_INFINITY : (rest * 1_000_000) / want.rate.output;
}
