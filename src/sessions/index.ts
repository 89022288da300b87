/**
 * Room `sessions`: an actor's own transcript. It is read from the run's journal and turned into the messages of a
 * request; it owns neither the journal nor the loop that asks.
 */
export {
  buildMessages,
  type CallBlock,
  callsOf,
  currentChapter,
  danglingCalls,
  INTERRUPTED_TEXT,
  type MessagesOptions,
  textOf,
} from './messages.ts';
export {
  blockByReference,
  isLarge,
  mailByReference,
  payloadOf,
  wholeEntry,
} from './payloads.ts';
export { type ReadSessionOptions, readSession } from './read-session.ts';
export { renderTranscriptLine } from './transcript-line.ts';
