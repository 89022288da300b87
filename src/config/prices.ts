/**
 * What models cost: a dated table of list prices, and the user's own over it.
 *
 * Invariant: F4 a price that is not known is null, never guessed as 0 or after a similar name.
 */
import * as z from 'zod';
import { object } from './schema.ts';

/** US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export type Prices = Readonly<Record<string, Price>>;

export interface RawPrice {
  readonly input: number;
  readonly output: number;
  readonly cache_read?: number | undefined;
  readonly cache_write?: number | undefined;
}

/** The day on which `LIST_PRICES` was read; `docs/models.md` names it too. */
export const PRICES_DATE = '2026-11-30';

/** Writes to the cache that lives five minutes, which is the one that is used. */
const WRITE_FACTOR = 1.25;
const READ_FACTOR = 0.1;

function listed(input: number, output: number): Price {
  return { input, output, cacheRead: input * READ_FACTOR, cacheWrite: input * WRITE_FACTOR };
}

/** By `provider/model`. Models whose list price depends on the request are not here: say it in the config. */
const LIST_PRICES: Prices = {
  'anthropic/claude-opus-5-5': listed(4, 20),
  'anthropic/claude-sonnet-5-5': listed(2, 10),
  'anthropic/claude-fable-5-2': listed(8, 40),
  'anthropic/claude-haiku-4-5': listed(1, 5),
};

const dollars = z.number().nonnegative();

export const prices: z.ZodType<Readonly<Record<string, RawPrice>>> = z.record(
  z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]*\/\S+$/, 'expected provider/model, or provider/* for all of them'),
  object({
    input: dollars,
    output: dollars,
    cache_read: dollars.optional(),
    cache_write: dollars.optional(),
  }),
);

/** As written, with the parts that were left out: never less than what the same tokens cost without a cache. */
export function readPrice(raw: RawPrice): Price {
  const { input, output, cache_read, cache_write } = raw;
  return {
    input,
    output,
    cacheRead: cache_read ?? input,
    cacheWrite: cache_write ?? input * WRITE_FACTOR,
  };
}

/** The user's exact entry, then his `provider/*`, then the list (also for a dated name of a listed model), else null. */
export function priceOf(own: Prices, model: string): Price | null {
  return priceEntry(own, model)?.price ?? null;
}

/** `key`: of the user's own entry; null: it is of the list. */
export function priceEntry(
  own: Prices,
  model: string,
): { readonly price: Price; readonly key: string | null } | null {
  const slash = model.indexOf('/');
  const provider = slash < 0 ? model : model.slice(0, slash);
  for (const key of [model, `${provider}/*`]) {
    const price = at(own, key);
    if (price !== undefined) return { price, key };
  }
  const undated = model.replace(/-20\d{6}$/, '');
  const price = at(LIST_PRICES, model) ?? at(LIST_PRICES, undated);
  return price === undefined ? null : { price, key: null };
}

function at(table: Prices, key: string): Price | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
