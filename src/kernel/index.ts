/**
 * Room `kernel`: ids, errors, invariants and the ports. No I/O, no npm, no node builtins: everything else stands on it.
 */
export * from './counted.ts';
export * from './errors.ts';
export * from './ids.ts';
export * from './invariant.ts';
export * from './ports.ts';
export * from './time.ts';
export * from './unread.ts';
