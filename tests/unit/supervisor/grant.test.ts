import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Amount, grant, type Purse, priceOf } from '../../../src/supervisor/decide/grant.ts';
import { ANSWER_FLOOR_TOKENS } from '../../../src/supervisor/limits.ts';

const FREE = Number.POSITIVE_INFINITY;
const NONE: Amount = { usd: 0, tokens: 0, turns: 0 };
const purse = (holds: Partial<Amount>, spent: Partial<Amount> = {}, aside = NONE): Purse => ({
  scope: 'run',
  holds: { usd: FREE, tokens: FREE, turns: FREE, ...holds },
  spent: { ...NONE, ...spent },
  aside,
});
const RATE = { input: 2, output: 10 };

describe('a request', () => {
  test('has all it wants while there is enough', () => {
    const found = grant([purse({ usd: 1 })], { input: 1000, maxTokens: 16_000, rate: RATE });
    expect(found).toEqual({ kind: 'granted', maxTokens: 16_000, usd: 0.162 });
  });

  test('is made shorter to fit into what is left', () => {
    const found = grant([purse({ tokens: 5000 })], { input: 1000, maxTokens: 16_000, rate: null });
    expect(found).toMatchObject({ kind: 'granted', maxTokens: 4000 });
  });

  test('waits rather than come out short where others may give something back', () => {
    const shared = purse({ tokens: 5000 }, {}, { usd: 0, tokens: 3000, turns: 1 });
    const want = { input: 1000, maxTokens: 16_000, rate: null };
    expect(grant([shared], want)).toMatchObject({ kind: 'wait' });
  });

  test('is refused below the floor, with what is used up', () => {
    const want = { input: 1000, maxTokens: 16_000, rate: RATE };
    const left = (1000 * 2 + (ANSWER_FLOOR_TOKENS - 1) * 10) / 1_000_000;
    expect(grant([purse({ usd: left })], want)).toMatchObject({ kind: 'spent', what: 'usd' });
    expect(grant([purse({ tokens: 1100 })], want)).toMatchObject({ kind: 'spent', what: 'tokens' });
    const last = purse({ turns: 3 }, { turns: 3 });
    expect(grant([last], want)).toMatchObject({ kind: 'spent', what: 'turns' });
  });

  test('of a price that nobody knows only must not begin with nothing left', () => {
    const want = { input: 1000, maxTokens: 16_000, rate: null };
    expect(grant([purse({ usd: 1 }, { usd: 0.99 })], want)).toMatchObject({ kind: 'granted' });
    expect(grant([purse({ usd: 1 }, { usd: 1 })], want)).toMatchObject({ kind: 'spent' });
  });
});

/** A run, two tasks and three actors, each with a purse of its own, as far as it has one. */
const amounts = fc.record({
  usd: fc.option(fc.double({ min: 0.001, max: 1, noNaN: true }), { nil: FREE }),
  tokens: fc.option(fc.integer({ min: 100, max: 200_000 }), { nil: FREE }),
  turns: fc.option(fc.integer({ min: 1, max: 20 }), { nil: FREE }),
});
const step = fc.oneof(
  fc.record({
    ask: fc.constant(true),
    actor: fc.nat(2),
    task: fc.nat(1),
    input: fc.nat(20_000),
    maxTokens: fc.integer({ min: 1, max: 16_000 }),
    rate: fc.record({ input: fc.nat(20), output: fc.nat(100) }),
  }),
  fc.record({
    ask: fc.constant(false),
    which: fc.nat(9),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
);

test('B3: in no order of requests and their ends is more spent and put aside than any purse holds', () => {
  fc.assert(
    fc.property(
      fc.array(amounts, { minLength: 6, maxLength: 6 }),
      fc.array(step, { maxLength: 120 }),
      (holds, steps) => {
        const books = holds.map((one, index) => ({
          purse: { ...purse(one), scope: String(index), spent: { ...NONE }, aside: { ...NONE } },
        }));
        const open: {
          readonly of: number[];
          input: number;
          output: number;
          usd: number;
          rate: typeof RATE;
        }[] = [];
        const move = (of: number[], to: 'spent' | 'aside', by: Amount, sign = 1): void => {
          for (const index of of) {
            const book = books[index]?.purse[to] as { usd: number; tokens: number; turns: number };
            book.usd += sign * by.usd;
            book.tokens += sign * by.tokens;
            book.turns += sign * by.turns;
          }
        };
        for (const one of steps) {
          if ('actor' in one) {
            const of = [0, 1 + one.task, 3 + one.actor];
            const found = grant(
              of.map((index) => books[index]?.purse as Purse),
              one,
            );
            if (found.kind !== 'granted') continue;
            expect(found.maxTokens).toBeLessThanOrEqual(one.maxTokens);
            const { input, rate } = one;
            open.push({ of, input, output: found.maxTokens, usd: found.usd, rate });
            move(of, 'aside', { usd: found.usd, tokens: input + found.maxTokens, turns: 1 });
          } else {
            const [ended] = open.splice(one.which, 1);
            if (ended === undefined) continue;
            const { of, input, output, usd, rate } = ended;
            move(of, 'aside', { usd, tokens: input + output, turns: 1 }, -1);
            const used = Math.floor(output * one.share);
            const cost = priceOf({ input, rate }, used);
            move(of, 'spent', { usd: cost, tokens: input + used, turns: 1 });
          }
          for (const {
            purse: { holds: most, spent, aside },
          } of books) {
            expect(spent.usd + aside.usd).toBeLessThanOrEqual(most.usd + 1e-9);
            expect(spent.tokens + aside.tokens).toBeLessThanOrEqual(most.tokens);
            expect(spent.turns + aside.turns).toBeLessThanOrEqual(most.turns);
          }
        }
      },
    ),
  );
});
