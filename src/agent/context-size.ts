/** Sizes of conversations, what models say of them, and what is said when one does not fit. Pure. */
import type { ActorStart, PlacedEntry } from '../protocol/index.ts';
import { bytesOf, sizeOf } from '../sessions/index.ts';
import { SUMMARY_TOKENS_MAX, SUMMARY_WINDOW_SHARE, WINDOW_LEARNT_MIN } from './limits.ts';
import type { Trouble } from './trouble.ts';

/** The number in "longer than 8192 tokens" as providers say it: `> 200000 maximum`, `maximum context length is 8192`. */
const TOLD_WINDOW =
  /(?:maximum context length (?:is|of)|context (?:length|window|size) (?:is|of)|exceeds? the (?:limit|maximum) of)\s*\(?(\d{3,9})|>\s*(\d{3,9})/i;

/** What a model takes, now that it has refused so much: its own number when it tells one. */
export function learnWindow(known: number, before: number, said: string): number {
  const [, ahead, behind] = TOLD_WINDOW.exec(said) ?? [];
  const told = Number(ahead ?? behind ?? before);
  return Math.min(known, Math.max(told, Math.floor(known * WINDOW_LEARNT_MIN)));
}

export function tooFull(start: ActorStart, tokens: number, window: number): Trouble {
  return {
    code: 'agent/context-full',
    message: `${start.name}'s next request has about ${tokens} tokens, ${start.model} takes ${window}, and too little of it can be left out`,
    hint: 'Use a model with a larger window (or say in the config, under windows, that it has one), or make the task smaller.',
  };
}

export function stillTooLong(failure: Trouble): Trouble {
  return {
    ...failure,
    code: 'agent/context-full',
    message: `${failure.message}; it was compacted and is still too long`,
  };
}

export function isAnswer({ entry }: PlacedEntry): boolean {
  return entry.type === 'answer';
}

export function sumOf(entries: readonly PlacedEntry[]): number {
  return entries.reduce((sum, { entry }) => sum + sizeOf(entry), 0);
}

export function summaryTokens(window: number): number {
  return Math.min(SUMMARY_TOKENS_MAX, Math.floor(window * SUMMARY_WINDOW_SHARE));
}

/** Whole characters of the beginning. */
export function clip(text: string, bytes: number): string {
  if (bytesOf(text) <= bytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return `${text.slice(0, read)} …`;
}
