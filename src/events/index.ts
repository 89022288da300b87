/**
 * Room `events`: facts for those who watch, derived from records; nothing steers by them. The journal owns the records,
 * the front ends own the connections.
 *
 * Invariants: E1 cursors and ids are stable · E2 what is shown is redacted · E3 a subscription has no gap and no duplicate
 * · E4 a slow subscriber gets one marker and costs nobody anything.
 */
export { type EventOptions, eventsOf, type LivePart, liveEvent } from './derive.ts';
export { EVENT_TYPES, type EventInfo, type EventType } from './event-types.ts';
export {
  EventHub,
  type EventSubscription,
  isLive,
  type ReplaySource,
  type Scope,
  type SubscribeOptions,
} from './hub.ts';
export { secretsOfEnvironment } from './known-secrets.ts';
export { makeRedactor, mapTexts, REDACTED, type Redactor, SHAPES_ONLY } from './redact.ts';
export { makeRedactStream, type RedactStream } from './redact-stream.ts';
export { matchesAny, matchesTopic } from './topic.ts';
