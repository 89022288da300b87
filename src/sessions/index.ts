/**
 * Room `sessions`: an actor's own transcript. It is read from the run's journal and turned into the messages of a
 * request; it owns neither the journal nor the loop that asks.
 */
export {
  bytesOf,
  type ChapterView,
  type Plan,
  planCompaction,
  sizeOf,
  viewOf,
} from './compaction.ts';
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
  mintedIds,
  normalMessages,
  normalText,
  type RenderOptions,
  type RunPlaces,
} from './normal.ts';
export { beginsChapter, type OwnNotes, ownNotes, todoIn, todoLines } from './notes.ts';
export {
  blockByReference,
  inputByReference,
  isLarge,
  mailByReference,
  payloadOf,
  wholeEntry,
  wholeInput,
} from './payloads.ts';
export { type ReadSessionOptions, readSession } from './read-session.ts';
export { digestTurns, tellTurns } from './told.ts';
export { renderTranscriptLine } from './transcript-line.ts';
export { type FirstDifference, firstDifference } from './unified.ts';
