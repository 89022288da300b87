/**
 * Mail. `Mail` is what a record holds; `Envelope` is the same as people and receivers see it, with its place in the
 * mailbox. The supervisor alone stamps `from` and its incarnation (M6).
 */
import type { ActorName, EnvelopeId, TaskId } from '../kernel/ids.ts';

/** In order of urgency. */
export const LANES = ['control', 'interrupt', 'normal', 'bulk'] as const;
export type Lane = (typeof LANES)[number];

export type EnvelopeType =
  | 'chat.message'
  | 'task.assign'
  | 'task.finished'
  | 'task.failed'
  | 'task.rework'
  | 'task.nudge'
  | 'plan.request'
  | 'plan.proposed'
  | 'plan.decided'
  | 'permission.ask'
  | 'permission.answer'
  | 'shutdown.request'
  | 'shutdown.answer'
  | 'command.finished'
  | 'hook.context'
  | 'actor.died'
  | 'mail.dead'
  | 'cron.fired';

/** Every body has a `text` for the model and for people; more fields by type. */
export interface MailBody {
  readonly text: string;
  /** The whole text, when it is too large for a record: `text` is its head then (M8). */
  readonly blob?: string;
  /** With `blob`: bytes of the whole. */
  readonly bytes?: number;
  readonly [field: string]: unknown;
}

/** An envelope inside a record: `e` and `n` are the sender's epoch and counter, the key of deduplication for ever (M2). */
export interface Mail {
  readonly to: ActorName;
  readonly from: ActorName;
  readonly fromIncarnation: number;
  readonly e: number;
  readonly n: number;
  readonly id: EnvelopeId;
  readonly lane: Lane;
  readonly type: EnvelopeType;
  readonly re?: EnvelopeId;
  readonly task?: TaskId;
  readonly body: MailBody;
}

export interface Envelope {
  readonly v: 1;
  /** Position in its mailbox, contiguous from 1. */
  readonly n: number;
  /** Sequence of the record that holds it. */
  readonly seq: number;
  readonly id: EnvelopeId;
  readonly at: string;
  readonly to: ActorName;
  readonly from: ActorName;
  readonly fromIncarnation: number;
  readonly lane: Lane;
  readonly type: EnvelopeType;
  readonly re?: EnvelopeId;
  readonly task?: TaskId;
  readonly body: MailBody;
}

/** accepted: durable · delivered: injected into a request · seen: the answer to that request is committed (M3). */
export type EnvelopeState = 'accepted' | 'delivered' | 'seen' | 'dead';

/** What a sender asks for; the supervisor makes a `Mail` of it. */
export interface MailDraft {
  readonly to: string;
  readonly lane: Lane;
  readonly type: EnvelopeType;
  readonly re?: EnvelopeId;
  readonly task?: TaskId;
  readonly body: MailBody;
}
