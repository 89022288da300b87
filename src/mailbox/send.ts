/**
 * What a send asks of the state before it is recorded, and the stamp it gets.
 *
 * Invariants
 * - M6 `from` comes from the caller in the supervisor, never from a draft.
 * - M7 A mailbox has a bound; the supervisor's own notices pass it.
 */
import type { ActorName, EnvelopeId } from '../kernel/ids.ts';
import { asActorName, nearMatches, SUPERVISOR } from '../kernel/ids.ts';
import type { Mail, MailDraft } from '../protocol/envelope.ts';
import { isSeenAtOnce } from './apply.ts';
import type { MailKey } from './dedup.ts';
import { hasKey, highestOf, isForgotten } from './dedup.ts';
import { mailBytes } from './envelope.ts';
import type { MailLimits } from './limits.ts';
import type { MailState } from './state.ts';

/** Who can get mail. */
export interface Directory {
  /** All names, for near matches. */
  readonly known: Iterable<string>;
  readonly live: (name: string) => 'live' | 'stopped' | 'unknown';
}

/** Who sends; with what makes a repetition of the send known, where the sender has that. */
export interface SendOrigin {
  readonly from: ActorName;
  /** The sender's epoch and counter, of a sender that counts by itself. */
  readonly key?: { readonly e: number; readonly n: number };
  /** Envelope id, of mail from outside (`user`) that may be offered twice. */
  readonly id?: string;
}

export type SendCheck =
  /** `pressure`: how full the mailbox is with it, 0 to 1; from 0.8 on a sender should slow down. */
  | { readonly kind: 'ok'; readonly pressure: number }
  | {
      readonly kind: 'full';
      readonly count: number;
      readonly bytes: number;
      readonly limit: MailLimits;
    }
  | { readonly kind: 'unknown'; readonly near: string[] }
  /** To be recorded all the same, with its `dead` entry, or refused: the caller's policy. */
  | { readonly kind: 'stopped' }
  /** Recorded before: answer as then. */
  | { readonly kind: 'duplicate' };

/** May this be recorded now? Costs the same at every size of the mailbox. */
export function checkSend(
  state: MailState,
  draft: MailDraft,
  directory: Directory,
  origin?: SendOrigin,
): SendCheck {
  if (origin !== undefined && wasSent(state, origin)) return { kind: 'duplicate' };
  if (isSeenAtOnce(draft.to)) return { kind: 'ok', pressure: 0 };
  const live = directory.live(draft.to);
  if (live === 'unknown') {
    return { kind: 'unknown', near: nearMatches(draft.to, directory.known) };
  }
  if (live === 'stopped') return { kind: 'stopped' };
  const box = state.boxes.get(draft.to);
  const count = box?.unread.size ?? 0;
  const bytes = box?.bytes ?? 0;
  const limit = state.limits;
  const pressure = Math.max(
    (count + 1) / limit.unreadMax,
    (bytes + mailBytes(draft)) / limit.bytesMax,
  );
  if (pressure > 1 && origin?.from !== SUPERVISOR) return { kind: 'full', count, bytes, limit };
  return { kind: 'ok', pressure: Math.min(pressure, 1) };
}

export interface MailSender {
  readonly name: ActorName;
  readonly incarnation: number;
  readonly epoch: number;
}

/** The draft with its sender and the sender's next counter; two stamps never share a counter (M2). */
export function stampMail(
  state: MailState,
  draft: MailDraft,
  sender: MailSender,
  id: EnvelopeId,
): Mail {
  const source = `${sender.epoch} ${sender.name}`;
  const applied = highestOf(state.seenKeys, sender.name, sender.epoch);
  const n = Math.max(applied, state.stamped.get(source) ?? 0) + 1;
  state.stamped.set(source, n);
  return {
    to: asActorName(draft.to),
    from: sender.name,
    fromIncarnation: sender.incarnation,
    e: sender.epoch,
    n,
    id,
    lane: draft.lane,
    type: draft.type,
    ...(draft.re === undefined ? {} : { re: draft.re }),
    ...(draft.task === undefined ? {} : { task: draft.task }),
    body: draft.body,
  };
}

/** Was this key recorded, or is its epoch so old that only a late repetition can carry it? */
export function isDuplicate(state: MailState, key: MailKey): boolean {
  return hasKey(state.seenKeys, key) || isForgotten(state.seenKeys, key);
}

function wasSent(state: MailState, origin: SendOrigin): boolean {
  if (origin.id !== undefined && state.outsideIds.has(origin.id)) return true;
  return origin.key !== undefined && isDuplicate(state, { from: origin.from, ...origin.key });
}
