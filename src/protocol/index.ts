/**
 * Room `protocol`: the types of all that crosses a thread, a socket or a disk. No behaviour beyond tiny pure helpers;
 * safe for a browser.
 */
export * from './actor-wire.ts';
export * from './ask.ts';
export * from './audit.ts';
export * from './cron.ts';
export * from './envelope.ts';
export * from './event.ts';
export * from './hook.ts';
export * from './payload.ts';
export * from './policy.ts';
export * from './provider.ts';
export * from './record.ts';
export * from './replay.ts';
export * from './replay-plan.ts';
export * from './session.ts';
export * from './shapes.ts';
export * from './team.ts';
export * from './usage.ts';
export * from './views.ts';
