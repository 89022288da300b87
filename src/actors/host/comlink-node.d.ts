/** Comlink's adapter for Node ships types that its path does not lead to, and that ask for lib dom. */
declare module 'comlink/dist/esm/node-adapter.mjs' {
  import type { MessagePort, Worker } from 'node:worker_threads';
  import type { Endpoint } from 'comlink';

  export default function nodeEndpoint(port: MessagePort | Worker): Endpoint;
}
