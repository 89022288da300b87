/**
 * How much of a conversation models take: a dated table, and the user's own over it. Unlike a price a window may be
 * guessed: a guess that is too large is found out by the model's own error, and learnt.
 */
import * as z from 'zod';
import { COMPACT_AT_MAX, COMPACT_AT_MIN, WINDOW_MAX, WINDOW_MIN } from './limits.ts';
import { whole } from './schema.ts';

/** Tokens of request and answer together. */
export type Windows = Readonly<Record<string, number>>;

/** The day on which `LISTED` was read; `docs/models.md` names it too. */
export const WINDOWS_DATE = '2026-11-30';

const LISTED: Windows = {
  'anthropic/claude-opus-5-5': 1_000_000,
  'anthropic/claude-sonnet-5-5': 1_000_000,
  'anthropic/claude-fable-5-2': 1_000_000,
  'anthropic/claude-haiku-5-5': 1_000_000,
  'anthropic/claude-haiku-4-5': 200_000,
};

/** Of models that nobody named. A script has no window, so it is as large as any. */
const ASSUMED: Windows = { anthropic: 200_000, scripted: 1_000_000 };
const ASSUMED_ELSE = 128_000;

export const windows: z.ZodType<Windows> = z.record(
  z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]*\/\S+$/, 'expected provider/model, or provider/* for all of them'),
  whole(WINDOW_MIN, WINDOW_MAX),
);

/** Share of the window at which a conversation is compacted. */
export const compactAt: z.ZodNumber = z.number().min(COMPACT_AT_MIN).max(COMPACT_AT_MAX);

/** The user's exact entry, then his `provider/*`, then the table (also for a dated name), else what is assumed. */
export function windowOf(own: Windows, model: string): number {
  return windowEntry(own, model).tokens;
}

export interface WindowEntry {
  readonly tokens: number;
  /** Of the user's own entry; null: he has none. */
  readonly key: string | null;
  /** Whether the table has it; else it is assumed. */
  readonly listed: boolean;
}

export function windowEntry(own: Windows, model: string): WindowEntry {
  const slash = model.indexOf('/');
  const provider = slash < 0 ? model : model.slice(0, slash);
  for (const key of [model, `${provider}/*`]) {
    const tokens = at(own, key);
    if (tokens !== undefined) return { tokens, key, listed: false };
  }
  const undated = model.replace(/-20\d{6}$/, '');
  const listed = at(LISTED, model) ?? at(LISTED, undated);
  const tokens = listed ?? at(ASSUMED, provider) ?? ASSUMED_ELSE;
  return { tokens, key: null, listed: listed !== undefined };
}

function at(table: Windows, key: string): number | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
