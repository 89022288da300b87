/** Named bounds of the room (M7, M8). */

export interface MailLimits {
  /** Unread envelopes in one mailbox. */
  readonly unreadMax: number;
  /** Bytes of unread envelopes in one mailbox. */
  readonly bytesMax: number;
}

export const MAIL_LIMITS: MailLimits = {
  unreadMax: 10_000,
  bytesMax: 16 * 1024 * 1024,
};

/** An envelope gains one lane of urgency for each of these that it waits. */
export const AGING_MS = 30_000;

/** Epochs of one sender that are told apart; mail of an older one is a late duplicate. */
export const EPOCHS_KEPT = 8;

/** Ids of mail from outside (`user`) that are remembered, newest first. */
export const OUTSIDE_IDS_MAX = 100_000;

/** Counted for the fields of an envelope besides its body. */
export const HEAD_BYTES = 200;
