/**
 * The fold of records into mailboxes: the same code while a run goes on and on replay, so that what the supervisor
 * believes is what the journal says.
 *
 * Invariants
 * - M2 An envelope whose key was recorded before changes nothing.
 * - M3 Only a committed step moves a cursor; delivery marks are volatile and end with the activation they were made in.
 * - M4 Positions are given in order of the journal, contiguous from 1, and an unread envelope leaves only by being
 *   taken in, coalesced with its successor, or dead.
 */
import { SUPERVISOR, USER } from '../kernel/ids.ts';
import { invariant } from '../kernel/invariant.ts';
import type { Envelope, Mail } from '../protocol/envelope.ts';
import type { ActorChange, StoredRunRecord } from '../protocol/record.ts';
import { hasKey, noteId, noteKey } from './dedup.ts';
import { mailBytes, renderEnvelope } from './envelope.ts';
import type { Coalesced, Letter } from './letter.ts';
import { dropItem, itemAt, setItem } from './pages.ts';
import { addLetter, dropLetter } from './queue.ts';
import type { Mailbox, MailState } from './state.ts';
import { boxOf } from './state.ts';

/** What a record changed, in order; for views. */
export type MailChange =
  /** `seen` at once: mail to `user` and `supervisor`. */
  | { readonly kind: 'accepted'; readonly envelope: Envelope; readonly state: 'accepted' | 'seen' }
  | { readonly kind: 'seen'; readonly to: string; readonly n: number }
  | { readonly kind: 'dead'; readonly to: string; readonly n: number; readonly reason: string }
  | { readonly kind: 'retried'; readonly to: string; readonly n: number }
  | { readonly kind: 'dropped'; readonly to: string; readonly n: number; readonly reason: string };

type Observe = (change: MailChange) => void;

export function applyMailRecord(
  state: MailState,
  record: StoredRunRecord,
  observe: Observe = ignore,
): void {
  for (const mail of record.mail ?? []) accept(state, { mail, record, observe });
  if (record.a !== undefined && record.took !== undefined) {
    const box = boxOf(state, record.a);
    for (const n of record.took) take({ box, to: record.a, observe }, n);
  }
  if (record.a !== undefined) noteGiven(state, record.a, record.gave);
  for (const entry of record.dead ?? []) applyDead(state, { entry, record, observe });
  for (const change of record.actors ?? []) endActivation(state, change);
  for (const change of record.run ?? []) {
    if (change.type === 'run.resumed') beginTerm(state, change.held ?? []);
  }
}

function noteGiven(state: MailState, actor: string, gave: readonly number[] = []): void {
  const box = state.boxes.get(actor);
  for (const n of gave)
    if (box !== undefined && itemAt(box.unread, n) !== undefined) box.gave.add(n);
}

function beginTerm(
  state: MailState,
  held: readonly { readonly to: string; readonly n: readonly number[] }[],
): void {
  for (const { to, n: positions } of held) {
    const box = state.boxes.get(to);
    for (const n of positions) {
      if (box === undefined || itemAt(box.unread, n) === undefined) continue;
      box.cuts.set(n, (box.cuts.get(n) ?? 0) + 1);
    }
  }
  state.active.clear();
  for (const box of state.boxes.values()) {
    box.delivered.clear();
    box.gave.clear();
  }
}

/** Mail to these is for the record and for people; nobody takes it in. */
export function isSeenAtOnce(to: string): boolean {
  return to === USER || to === SUPERVISOR;
}

function ignore(): void {
  // Nobody watches.
}

function accept(
  state: MailState,
  item: { mail: Mail; record: StoredRunRecord; observe: Observe },
): void {
  const { mail, record } = item;
  const key = { from: mail.from, e: mail.e, n: mail.n };
  if (hasKey(state.seenKeys, key)) return;
  noteKey(state.seenKeys, key);
  if (mail.from === USER) noteId(state.outsideIds, mail.id);

  const box = boxOf(state, mail.to);
  box.last += 1;
  const envelope = renderEnvelope(mail, { n: box.last, seq: record.s, at: record.at });
  if (isSeenAtOnce(mail.to)) {
    settle(box, envelope.n);
    item.observe({ kind: 'accepted', envelope, state: 'seen' });
    return;
  }
  const coalesced = joinGroup(box, envelope);
  const letter = { envelope, bytes: mailBytes(mail), atMs: Date.parse(record.at), coalesced };
  addUnread(box, letter);
  item.observe({ kind: 'accepted', envelope, state: 'accepted' });
}

interface At {
  readonly box: Mailbox;
  readonly to: string;
  readonly observe: Observe;
}

/** The position is seen, and what it stands for with it. Taking in what is seen already changes nothing. */
function take(at: At, n: number): void {
  const { box } = at;
  invariant(n >= 1 && n <= box.last, `M3: ${at.to} took in ${n}, its mailbox ends at ${box.last}`);
  const letter = itemAt(box.unread, n);
  const group = letter?.coalesced ?? box.absorbed.get(n) ?? null;
  if (letter === undefined && (group === null || itemAt(box.unread, group.head) === undefined))
    return;
  if (group !== null) takeMembers(at, group, n);
  if (letter === undefined) return;
  removeUnread(box, letter);
  settle(box, n);
  at.observe({ kind: 'seen', to: at.to, n });
}

function takeMembers(at: At, group: Coalesced, upTo: number): void {
  for (const member of group.members) {
    if (member > upTo) break;
    group.members.delete(member);
    at.box.absorbed.delete(member);
    settle(at.box, member);
    at.observe({ kind: 'seen', to: at.to, n: member });
  }
}

function applyDead(
  state: MailState,
  item: {
    entry: NonNullable<StoredRunRecord['dead']>[number];
    record: StoredRunRecord;
    observe: Observe;
  },
): void {
  const { entry, record, observe } = item;
  const to = entry.to ?? record.to;
  invariant(to !== undefined, `M6: record ${record.s} has dead letters of no mailbox`);
  const box = boxOf(state, to);
  switch (entry.what) {
    case 'dead': {
      const letter = itemAt(box.unread, entry.n);
      if (letter === undefined) return;
      removeUnread(box, letter);
      settle(box, entry.n);
      for (const member of letter.coalesced?.members ?? []) settle(box, member);
      box.dead.set(entry.n, { letter, reason: entry.reason, at: record.at });
      observe({ kind: 'dead', to, n: entry.n, reason: entry.reason });
      return;
    }
    case 'retried': {
      const dead = box.dead.get(entry.n);
      if (dead === undefined) return;
      box.dead.delete(entry.n);
      addUnread(box, dead.letter);
      observe({ kind: 'retried', to, n: entry.n });
      return;
    }
    case 'dropped': {
      const dead = box.dead.get(entry.n);
      if (dead === undefined) return;
      box.dead.delete(entry.n);
      for (const n of [entry.n, ...(dead.letter.coalesced?.members ?? [])]) {
        box.absorbed.delete(n);
        box.dropped.add(n);
      }
      observe({ kind: 'dropped', to, n: entry.n, reason: entry.reason });
    }
  }
}

/** Another activation has other requests: what was injected into the old ones has to be injected again. */
function endActivation(state: MailState, change: ActorChange): void {
  if (change.type === 'actor.added') return;
  if (change.type === 'actor.started') state.active.add(change.name);
  else state.active.delete(change.name);
  const box = state.boxes.get(change.name);
  if (box === undefined) return;
  box.delivered.clear();
  box.gave.clear();
  if (change.type !== 'actor.ended') return;
  for (const n of change.held ?? []) {
    if (itemAt(box.unread, n) !== undefined) box.deaths.set(n, (box.deaths.get(n) ?? 0) + 1);
  }
}

function addUnread(box: Mailbox, letter: Letter): void {
  const { n, lane } = letter.envelope;
  setItem(box.unread, n, letter);
  box.bytes += letter.bytes;
  addLetter(box.lanes[lane], letter);
  if (letter.coalesced !== null) {
    const key = groupKey(letter.envelope);
    if (key !== null && !box.groups.has(key)) box.groups.set(key, letter.coalesced);
  }
}

function removeUnread(box: Mailbox, letter: Letter): void {
  const { n, lane } = letter.envelope;
  dropItem(box.unread, n);
  dropLetter(box.lanes[lane], n);
  box.delivered.delete(n);
  box.deaths.delete(n);
  box.cuts.delete(n);
  box.gave.delete(n);
  box.bytes -= letter.bytes;
  const key = groupKey(letter.envelope);
  if (key !== null && box.groups.get(key) === letter.coalesced) box.groups.delete(key);
}

function groupKey(envelope: Envelope): string | null {
  const key = envelope.body['key'];
  if (envelope.lane !== 'bulk' || typeof key !== 'string') return null;
  return JSON.stringify([envelope.from, envelope.type, key]);
}

/** The group of a bulk letter that is about to be unread; the one that was its head is absorbed. */
function joinGroup(box: Mailbox, envelope: Envelope): Coalesced | null {
  const key = groupKey(envelope);
  if (key === null) return null;
  const group = box.groups.get(key);
  const before = group === undefined ? undefined : itemAt(box.unread, group.head);
  if (group === undefined || before === undefined) return { head: envelope.n, members: new Set() };
  removeUnread(box, before);
  group.members.add(group.head);
  box.absorbed.set(group.head, group);
  group.head = envelope.n;
  return group;
}

function settle(box: Mailbox, n: number): void {
  if (n > box.settledUpTo) box.settledAbove.add(n);
  while (box.settledAbove.delete(box.settledUpTo + 1)) box.settledUpTo += 1;
}
