/**
 * The mailboxes of a run as JSON and back, for snapshots: what `applyMailRecord` made of all records up to one, without
 * what is volatile (delivery marks, stamps that are not recorded).
 *
 * Invariants
 * - M2 What was seen stays known. M4 Every unread and dead letter is in it whole, at its position.
 */
import type { Envelope } from '../protocol/envelope.ts';
import type { Coalesced, Letter } from './letter.ts';
import type { MailLimits } from './limits.ts';
import { addLetter } from './queue.ts';
import type { Mailbox, MailState } from './state.ts';
import { boxOf, makeMailState } from './state.ts';

const VERSION = 1;

interface FrozenLetter {
  readonly envelope: Envelope;
  readonly bytes: number;
  readonly atMs: number;
  /** Positions that are seen with it; null: it stands for itself. */
  readonly members: readonly number[] | null;
}

interface FrozenBox {
  readonly name: string;
  readonly last: number;
  readonly bytes: number;
  readonly settledUpTo: number;
  readonly settledAbove: readonly number[];
  readonly unread: readonly FrozenLetter[];
  readonly dead: readonly { n: number; letter: FrozenLetter; reason: string; at: string }[];
  readonly dropped: readonly number[];
  /** Keys of groups, with the position that heads each. */
  readonly groups: readonly (readonly [string, number])[];
  /** Unread positions, and at how many deaths they were in hand. */
  readonly deaths?: readonly (readonly [number, number])[];
}

export interface FrozenMail {
  readonly v: number;
  readonly boxes: readonly FrozenBox[];
  /** Sender, epoch, highest counter, window in hex. */
  readonly seenKeys: readonly (readonly [string, number, number, string])[];
  readonly outsideIds: readonly string[];
}

export function freezeMail(state: MailState): FrozenMail {
  const seenKeys: [string, number, number, string][] = [];
  for (const [from, epochs] of state.seenKeys) {
    for (const [epoch, { highest, bits }] of epochs) {
      seenKeys.push([from, epoch, highest, bits.toString(16)]);
    }
  }
  const boxes = Array.from(state.boxes, ([name, box]) => freezeBox(name, box));
  return { v: VERSION, boxes, seenKeys, outsideIds: [...state.outsideIds] };
}

/** Null for a format that this version does not know. */
export function thawMail(frozen: FrozenMail, limits: Partial<MailLimits> = {}): MailState | null {
  if (frozen.v !== VERSION) return null;
  const state = makeMailState(limits);
  for (const box of frozen.boxes) thawBox(boxOf(state, box.name), box);
  for (const [from, epoch, highest, bits] of frozen.seenKeys) {
    const epochs = state.seenKeys.get(from) ?? new Map();
    state.seenKeys.set(from, epochs.set(epoch, { highest, bits: BigInt(`0x${bits}`) }));
  }
  for (const id of frozen.outsideIds) state.outsideIds.add(id);
  return state;
}

function freezeBox(name: string, box: Mailbox): FrozenBox {
  const { last, bytes, settledUpTo } = box;
  const unread = [...box.unread.values()].toSorted((a, b) => a.envelope.n - b.envelope.n);
  return {
    name,
    last,
    bytes,
    settledUpTo,
    settledAbove: [...box.settledAbove],
    unread: unread.map(freezeLetter),
    dead: Array.from(box.dead, ([n, { letter, reason, at }]) => ({
      n,
      letter: freezeLetter(letter),
      reason,
      at,
    })),
    dropped: [...box.dropped],
    groups: Array.from(box.groups, ([key, group]) => [key, group.head] as const),
    deaths: [...box.deaths],
  };
}

function freezeLetter(letter: Letter): FrozenLetter {
  const { envelope, bytes, atMs, coalesced } = letter;
  return { envelope, bytes, atMs, members: coalesced === null ? null : [...coalesced.members] };
}

function thawBox(box: Mailbox, frozen: FrozenBox): void {
  box.last = frozen.last;
  box.bytes = frozen.bytes;
  box.settledUpTo = frozen.settledUpTo;
  for (const n of frozen.settledAbove) box.settledAbove.add(n);
  for (const n of frozen.dropped) box.dropped.add(n);
  const groups = new Map<number, Coalesced>();
  const thaw = (letter: FrozenLetter): Letter => {
    const { envelope, bytes, atMs, members } = letter;
    if (members === null) return { envelope, bytes, atMs, coalesced: null };
    const coalesced: Coalesced = { head: envelope.n, members: new Set(members) };
    groups.set(envelope.n, coalesced);
    for (const n of members) box.absorbed.set(n, coalesced);
    return { envelope, bytes, atMs, coalesced };
  };
  for (const one of frozen.unread) {
    const letter = thaw(one);
    box.unread.set(letter.envelope.n, letter);
    addLetter(box.lanes[letter.envelope.lane], letter);
  }
  for (const { n, letter, reason, at } of frozen.dead) {
    box.dead.set(n, { letter: thaw(letter), reason, at });
  }
  for (const [n, count] of frozen.deaths ?? []) box.deaths.set(n, count);
  for (const [key, head] of frozen.groups) {
    const group = groups.get(head);
    if (group !== undefined) box.groups.set(key, group);
  }
}
