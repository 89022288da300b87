/**
 * Room `cli`: arguments, rendering, exit codes. Its index loads commander and a table and nothing else; what a command
 * does is loaded when it runs. Where ports meet adapters is `main`'s.
 */

export { connectAt } from './connect.ts';
export type { Machine } from './context.ts';
export type { HostedSupervisor, Hosting } from './hosting.ts';
export { type Io, makeIo } from './io.ts';
export { type CliDeps, runCli } from './program.ts';
