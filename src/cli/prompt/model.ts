/**
 * The question at the end of the terminal: what is shown, what keys mean, what comes of them. Pure: a state, and an event
 * that makes the next one.
 *
 * Invariants
 * - P35 What is shown stays until it ends or is put off; who comes later is counted. For 500 ms after it changed, keys mean
 *   nothing, and Enter means nothing ever but the end of a text.
 * - P36 What did not fit the view whole can be allowed once only.
 */

import type { AskRow, GrantScope } from '../../protocol/ask.ts';
import type { Key } from '../keys.ts';
import { inputText, wrapLines } from '../text/exact.ts';

/** Keys typed for what was shown before are not for what is shown now. */
const GRACE_MS = 500;
const REASON_MAX = 500;
/** Lines around the input: head, touches, why, until, keys; and the view above keeps a few. */
const FRAME = 9;
const INPUT_LINES_MIN = 3;

export interface PromptSize {
  readonly columns: number;
  readonly rows: number;
}

type PromptMode = 'choose' | 'help' | 'reason' | 'view' | 'sent';

export interface PromptState {
  /** Open asks, in their order. */
  readonly queue: readonly AskRow[];
  readonly shown: AskRow | null;
  readonly shownAt: number;
  readonly mode: PromptMode;
  readonly reason: string;
  /** First line of the input that the view shows. */
  readonly top: number;
  /** Put off; they wait for `s`, for another terminal, or for their end. */
  readonly later: ReadonlySet<string>;
  /** What became of the one before, or why a key did nothing. */
  readonly note: string;
  readonly size: PromptSize;
  /** Whole inputs of asks that hold only their heads. */
  readonly whole: ReadonlyMap<string, unknown>;
}

export type PromptEvent =
  | { readonly type: 'queue'; readonly rows: readonly AskRow[] }
  | { readonly type: 'key'; readonly key: Key }
  | { readonly type: 'size'; readonly size: PromptSize }
  /** The answer was taken, or was not. */
  | { readonly type: 'answered'; readonly id: string; readonly note: string; readonly ok: boolean }
  | { readonly type: 'whole'; readonly id: string; readonly input: unknown };

export interface PromptAnswer {
  readonly id: string;
  readonly digest: string;
  readonly effect: 'allow' | 'deny';
  readonly scope: GrantScope;
  readonly days: number;
  /** Empty: none. */
  readonly reason: string;
}

export type PromptAction =
  | { readonly type: 'answer'; readonly params: PromptAnswer }
  /** The whole input is needed, and the row has its head alone. */
  | { readonly type: 'load'; readonly row: AskRow }
  /** Something waits that nobody was told of. */
  | { readonly type: 'ring' };

export interface PromptStep {
  readonly state: PromptState;
  readonly actions: readonly PromptAction[];
}

export function makePrompt(size: PromptSize): PromptState {
  return {
    queue: [],
    shown: null,
    shownAt: 0,
    mode: 'choose',
    reason: '',
    top: 0,
    later: new Set(),
    note: '',
    size,
    whole: new Map(),
  };
}

export function promptStep(state: PromptState, event: PromptEvent, now: number): PromptStep {
  switch (event.type) {
    case 'queue':
      return showNext(taken(state, event.rows), now);
    case 'size':
      return only({ ...state, size: event.size, top: 0 });
    case 'whole':
      return only({ ...state, whole: new Map(state.whole).set(event.id, event.input) });
    case 'answered':
      return answered(state, event, now);
    case 'key':
      return keyed(state, event.key, now);
  }
}

const only = (state: PromptState, ...actions: PromptAction[]): PromptStep => ({ state, actions });

function taken(state: PromptState, rows: readonly AskRow[]): PromptState {
  const ids = new Set(rows.map((row) => row.id));
  const later = new Set([...state.later].filter((id) => ids.has(id)));
  const whole = new Map([...state.whole].filter(([id]) => ids.has(id)));
  const next = { ...state, queue: rows, later, whole };
  const { shown } = state;
  if (shown === null) return next;
  const same = rows.find((row) => row.id === shown.id);
  // Others may have joined it, or its time was lengthened; what it asks is the same as long as it is the same ask.
  if (same !== undefined) return { ...next, shown: same };
  const note =
    state.mode === 'sent'
      ? state.note
      : 'The question shown before is over: it was answered elsewhere or withdrawn.';
  return { ...next, shown: null, note };
}

function showNext(state: PromptState, now: number): PromptStep {
  if (state.shown !== null) return only(state);
  const shown = state.queue.find((row) => !state.later.has(row.id)) ?? null;
  const next: PromptState = { ...state, shown, mode: 'choose', reason: '', top: 0, shownAt: now };
  return shown === null ? only(next) : only(next, { type: 'ring' });
}

function answered(
  state: PromptState,
  { id, note, ok }: Extract<PromptEvent, { type: 'answered' }>,
  now: number,
): PromptStep {
  const { shown } = state;
  if (shown === null || shown.id !== id) return only({ ...state, note });
  const mode = 'choose';
  if (!ok && state.queue.some((row) => row.id === id)) {
    return only({ ...state, mode, note, shownAt: now });
  }
  const queue = state.queue.filter((row) => row.id !== id);
  return showNext({ ...state, queue, shown: null, mode, note }, now);
}

function keyed(state: PromptState, key: Key, now: number): PromptStep {
  const { shown, mode } = state;
  if (shown === null) {
    // What was put off is shown again.
    return key === 's' && state.later.size > 0
      ? showNext({ ...state, later: new Set(), note: '' }, now)
      : only(state);
  }
  if (mode === 'sent' || now - state.shownAt < GRACE_MS) return only(state);
  if (mode === 'reason') return typed(state, shown, key);
  if (mode === 'view') return scrolled(state, key);
  if (mode === 'help') return only({ ...state, mode: 'choose' });
  return chosen(state, shown, { key, now });
}

function chosen(
  state: PromptState,
  shown: AskRow,
  { key, now }: { readonly key: Key; readonly now: number },
): PromptStep {
  switch (key) {
    case 'y':
      return send(state, shown, { effect: 'allow', scope: 'once' });
    case 'a':
    case 'w': {
      const why = noGrant(state);
      if (why !== null) return only({ ...state, note: why });
      return send(state, shown, { effect: 'allow', scope: key === 'a' ? 'run' : 'workspace' });
    }
    case 'n':
      return only({ ...state, mode: 'reason', reason: '', note: '' });
    case 's': {
      const later = new Set([...state.later, shown.id]);
      return showNext({ ...state, later, shown: null, note: '' }, now);
    }
    case 'v': {
      const next: PromptState = { ...state, mode: 'view', top: 0, note: '' };
      const has = shown.blob === undefined || state.whole.has(shown.id);
      return has ? only(next) : only(next, { type: 'load', row: shown });
    }
    case '?':
      return only({ ...state, mode: 'help', note: '' });
    default:
      return only(state);
  }
}

function typed(state: PromptState, shown: AskRow, key: Key): PromptStep {
  if (key === 'escape') return only({ ...state, mode: 'choose', reason: '' });
  if (key === 'enter') {
    const reason = state.reason.trim();
    return send(state, shown, { effect: 'deny', scope: 'once', reason });
  }
  if (key === 'backspace') {
    return only({ ...state, reason: Array.from(state.reason).slice(0, -1).join('') });
  }
  const text = typeof key === 'string' ? (Array.from(key).length === 1 ? key : '') : key.text;
  return only({ ...state, reason: `${state.reason}${text}`.slice(0, REASON_MAX) });
}

function scrolled(state: PromptState, key: Key): PromptStep {
  const page = viewRoom(state.size);
  const last = Math.max(0, inputLines(state).length - page);
  const to = (top: number): PromptStep => only({ ...state, top: Math.min(last, Math.max(0, top)) });
  switch (key) {
    case 'up':
    case 'k':
      return to(state.top - 1);
    case 'down':
    case 'j':
      return to(state.top + 1);
    case 'pageup':
    case 'b':
      return to(state.top - page);
    case 'pagedown':
    case ' ':
      return to(state.top + page);
    case 'home':
    case 'g':
      return to(0);
    case 'end':
    case 'G':
      return to(last);
    case 'q':
    case 'v':
    case 'escape':
      return only({ ...state, mode: 'choose' });
    default:
      return only(state);
  }
}

function send(
  state: PromptState,
  shown: AskRow,
  answer: {
    readonly effect: 'allow' | 'deny';
    readonly scope: 'once' | 'run' | 'workspace';
    readonly reason?: string;
  },
): PromptStep {
  const { id, digest } = shown;
  const { effect, scope, reason = '' } = answer;
  const params = { id, digest, effect, scope, days: GRANT_DAYS_HERE, reason };
  return only({ ...state, mode: 'sent', note: '' }, { type: 'answer', params });
}

/** Days of `w`. */
export const GRANT_DAYS_HERE = 7;

/** Why nothing lasting may be allowed; null: it may. */
export function noGrant(state: PromptState): string | null {
  const { shown } = state;
  if (shown === null) return null;
  if (shown.offer === null) return 'This can be allowed once only: what it does is too open.';
  if (isFolded(state)) {
    return 'It does not fit the screen as a whole, so it can be allowed once only (or by `troupe approve`).';
  }
  return null;
}

/** P36. An input that is there by its head alone is not whole either. */
function isFolded(state: PromptState): boolean {
  const { shown } = state;
  if (shown === null) return false;
  return shown.blob !== undefined || inputLines(state).length > inputRoom(state.size);
}

export function inputLines(state: PromptState): string[] {
  const { shown, whole, size } = state;
  if (shown === null) return [];
  const input = whole.has(shown.id) ? whole.get(shown.id) : shown.input;
  return wrapLines(inputText(input), size.columns - INDENT);
}

export const INDENT = 4;

/** Lines of the input that are shown with the question. */
export function inputRoom({ rows }: PromptSize): number {
  return Math.max(INPUT_LINES_MIN, Math.floor((rows - FRAME) / 2));
}

/** Lines of the input that are shown at once when it is looked at. */
export function viewRoom({ rows }: PromptSize): number {
  return Math.max(1, rows - 4);
}
