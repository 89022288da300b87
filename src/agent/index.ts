/**
 * Room `agent`: the turn loop that makes an agent of a model, and what it asks of the world (`AgentPort`). Threads, the
 * journal and the mailboxes are the business of others.
 */
export type { ModelChoice } from './ask.ts';
export { runAgent } from './loop.ts';
export type { AgentDeps, AgentEnd, AgentPort } from './port.ts';
export { Replayer, type ReplayerOptions } from './replay/replayer.ts';
export { type Track, trackOf } from './replay/track.ts';
export { type Digest, RequestMarks } from './request-mark.ts';
export {
  type RosterEntry,
  type SystemPrompt,
  type SystemPromptOptions,
  systemPrompt,
} from './system-prompt.ts';
