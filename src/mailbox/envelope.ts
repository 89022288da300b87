/** Envelopes as people and receivers see them, and their size. */
import type { Envelope, Mail, MailBody } from '../protocol/envelope.ts';
import { HEAD_BYTES } from './limits.ts';

export interface Place {
  /** Position in its mailbox. */
  readonly n: number;
  /** Sequence and time of its record. */
  readonly seq: number;
  readonly at: string;
}

/** The fields in the order of design §5; the sender's epoch and counter stay in the journal. */
export function renderEnvelope(mail: Mail, place: Place): Envelope {
  return {
    v: 1,
    n: place.n,
    seq: place.seq,
    id: mail.id,
    at: place.at,
    to: mail.to,
    from: mail.from,
    fromIncarnation: mail.fromIncarnation,
    lane: mail.lane,
    type: mail.type,
    ...(mail.re === undefined ? {} : { re: mail.re }),
    ...(mail.task === undefined ? {} : { task: mail.task }),
    body: mail.body,
  };
}

/** What an envelope weighs against the bound of its mailbox; a payload elsewhere counts as if it were in it. */
export function mailBytes(mail: { readonly body: MailBody }): number {
  const { blob, bytes } = mail.body;
  const elsewhere = blob === undefined ? 0 : (bytes ?? 0);
  return HEAD_BYTES + JSON.stringify(mail.body).length + elsewhere;
}
