/**
 * What the mailboxes of a run hold: types of the state and the questions that one mailbox answers. It changes in
 * `apply.ts` alone. Only unread and dead envelopes are kept whole; of the rest a cursor and a few positions remain.
 */
import type { Envelope, EnvelopeState, Lane } from '../protocol/envelope.ts';
import type { SeenKeys } from './dedup.ts';
import type { Coalesced, Letter } from './letter.ts';
import type { MailLimits } from './limits.ts';
import { MAIL_LIMITS } from './limits.ts';
import { itemAt, itemsOf, makePositions, type PositionMap } from './pages.ts';
import type { LetterQueue } from './queue.ts';
import { makeQueue } from './queue.ts';

export interface DeadLetter {
  readonly envelope: Envelope;
  readonly reason: string;
  /** When it died. */
  readonly deadAt: string;
}

export interface Mailbox {
  /** Highest position given. */
  last: number;
  readonly unread: PositionMap<Letter>;
  /** The same letters by lane, each in order of position. */
  readonly lanes: Record<Lane, LetterQueue>;
  /** Bytes of the unread. */
  bytes: number;
  /** All up to here is settled (seen or dead), unless it is in `unread` again. */
  settledUpTo: number;
  /** Settled positions above `settledUpTo`. */
  readonly settledAbove: Set<number>;
  readonly dead: Map<
    number,
    { readonly letter: Letter; readonly reason: string; readonly at: string }
  >;
  /** Dead letters that someone dropped; they stay dead, but nobody is shown them. */
  readonly dropped: Set<number>;
  /** By sender and key: the group whose head is unread. */
  readonly groups: Map<string, Coalesced>;
  /** Coalesced positions and their group. */
  readonly absorbed: Map<number, Coalesced>;
  /** Unread positions that the actor had in hand when it died, and at how many of its deaths. */
  readonly deaths: Map<number, number>;
  /** Unread positions that the actor had in hand when a term was cut, and in how many. */
  readonly cuts: Map<number, number>;
  /** Of those with an end behind them: which are in a request of the present activation, by the records. */
  readonly gave: Set<number>;
  /** Volatile: positions that are in a request of the actor's present activation. */
  readonly delivered: Set<number>;
}

export interface MailState {
  readonly limits: MailLimits;
  readonly boxes: Map<string, Mailbox>;
  /** Actors that were started in this term and have not ended. */
  readonly active: Set<string>;
  readonly seenKeys: SeenKeys;
  /** Ids of mail from `user`: a spooled letter may be offered twice. */
  readonly outsideIds: Set<string>;
  /** Volatile: highest counter stamped, by sender and epoch, also when its record is not applied yet. */
  readonly stamped: Map<string, number>;
}

export function makeMailState(limits: Partial<MailLimits> = {}): MailState {
  return {
    limits: { ...MAIL_LIMITS, ...limits },
    boxes: new Map(),
    active: new Set(),
    seenKeys: new Map(),
    outsideIds: new Set(),
    stamped: new Map(),
  };
}

export function boxOf(state: MailState, name: string): Mailbox {
  const known = state.boxes.get(name);
  if (known !== undefined) return known;
  const made: Mailbox = {
    last: 0,
    unread: makePositions(),
    lanes: {
      control: makeQueue(),
      interrupt: makeQueue(),
      normal: makeQueue(),
      bulk: makeQueue(),
    },
    bytes: 0,
    settledUpTo: 0,
    settledAbove: new Set(),
    dead: new Map(),
    dropped: new Set(),
    groups: new Map(),
    absorbed: new Map(),
    deaths: new Map(),
    cuts: new Map(),
    gave: new Set(),
    delivered: new Set(),
  };
  state.boxes.set(name, made);
  return made;
}

/** Leaves what the records alone make: a snapshot is taken in the middle of things, and read by another process. */
export function forgetVolatile(state: MailState): void {
  state.stamped.clear();
  for (const box of state.boxes.values()) box.delivered.clear();
}

/** State of a position; null when nothing was ever there. */
export function stateOf(state: MailState, actor: string, n: number): EnvelopeState | null {
  const box = state.boxes.get(actor);
  if (box === undefined || n < 1 || n > box.last) return null;
  const at = box.absorbed.get(n)?.head ?? n;
  if (itemAt(box.unread, at) !== undefined) return box.delivered.has(at) ? 'delivered' : 'accepted';
  return box.dead.has(at) || box.dropped.has(n) ? 'dead' : 'seen';
}

/** All that the actor has not taken in, by position, also what is delivered by now; without coalesced ones. */
export function unread(state: MailState, actor: string): Envelope[] {
  const box = state.boxes.get(actor);
  const letters = box === undefined ? [] : itemsOf(box.unread);
  return Array.from(letters, (letter) => letter.envelope).toSorted((a, b) => a.n - b.n);
}

export function hasUnread(state: MailState, actor: string): boolean {
  return (state.boxes.get(actor)?.unread.size ?? 0) > 0;
}

/** At how many of its deaths the actor had this unread letter in hand. */
export function deathsWith(state: MailState, actor: string, n: number): number {
  return state.boxes.get(actor)?.deaths.get(n) ?? 0;
}

/** In how many terms that were cut the actor had this unread letter in hand. */
export function cutsWith(state: MailState, actor: string, n: number): number {
  return state.boxes.get(actor)?.cuts.get(n) ?? 0;
}

/** Whether it has an unread letter that it had in hand at a death or a cut. */
export function hasSuspects(state: MailState, actor: string): boolean {
  const box = state.boxes.get(actor);
  return box !== undefined && box.deaths.size + box.cuts.size > 0;
}

export interface MailboxSize {
  /** Envelopes ever accepted. */
  readonly total: number;
  readonly unread: number;
  readonly unreadBytes: number;
  readonly dead: number;
}

export function mailboxSize(state: MailState, actor: string): MailboxSize {
  const box = state.boxes.get(actor);
  return {
    total: box?.last ?? 0,
    unread: box?.unread.size ?? 0,
    unreadBytes: box?.bytes ?? 0,
    dead: box?.dead.size ?? 0,
  };
}

/** Names that ever got mail, in order of their first. */
export function mailboxNames(state: MailState): string[] {
  return [...state.boxes.keys()];
}

/** Every dead letter that was neither retried nor dropped, in order of its record. */
export function deadLetters(state: MailState): DeadLetter[] {
  const found: DeadLetter[] = [];
  for (const box of state.boxes.values()) {
    for (const { letter, reason, at } of box.dead.values()) {
      found.push({ envelope: letter.envelope, reason, deadAt: at });
    }
  }
  return found.toSorted((a, b) => a.envelope.seq - b.envelope.seq || a.envelope.n - b.envelope.n);
}
