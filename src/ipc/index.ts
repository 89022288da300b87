/**
 * Room `ipc`: JSON-RPC 2.0, one message a line, on the supervisor's Unix socket. It owns framing, the token, bounds and
 * subscriptions; what the methods do is `control`, their shapes are `protocol/wire.ts`.
 */
export { type ControlMethods, controlMethods } from './methods.ts';
export type { IpcServer, IpcServerOptions } from './server.ts';
export { startIpcServer } from './server.ts';
