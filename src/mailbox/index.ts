/**
 * Room `mailbox`: who has which mail, as a fold over the records of a run (design §5). Pure: the supervisor checks a send,
 * stamps it, records it, and applies the record; the journal owns durability, the supervisor owns who is live.
 *
 * Invariants: M2 no second effect of one envelope · M3 only a committed step makes mail seen · M4 order, nothing lost,
 * positions contiguous from 1 · M5 lanes · M6 stamped by the supervisor · M7 bounds, no ring of
 * asks.
 */
export { applyMailRecord, type MailChange } from './apply.ts';
export type { MailKey } from './dedup.ts';
export {
  type DeliverOptions,
  deliverable,
  HandedOut,
  markDelivered,
  staleControl,
} from './deliver.ts';
export { sendError } from './errors.ts';
export type { MailLimits } from './limits.ts';
export { type MailProjection, projectMail } from './project.ts';
export {
  checkSend,
  type Directory,
  isDuplicate,
  type MailSender,
  type SendCheck,
  type SendOrigin,
  stampMail,
} from './send.ts';
export {
  cutsWith,
  type DeadLetter,
  deadLetters,
  deathsWith,
  forgetVolatile,
  hasSuspects,
  hasUnread,
  type MailboxSize,
  type MailState,
  mailboxNames,
  mailboxSize,
  makeMailState,
  stateOf,
  unread,
} from './state.ts';
export { cycleError, type Wait, waitChain, waitCycle } from './wait-graph.ts';
