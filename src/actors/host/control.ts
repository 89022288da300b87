/**
 * The control port of a thread (Comlink), and calls through it that settle: Comlink alone never settles a call into a
 * thread that died.
 *
 * Invariants
 * - A3 Every pending call rejects when the thread is gone, and every later one at once.
 */

import type { MessagePort } from 'node:worker_threads';
import * as Comlink from 'comlink';
import nodeEndpoint from 'comlink/dist/esm/node-adapter.mjs';
import type { ActorStart } from '../../protocol/actor-wire.ts';
import type { HostExit } from '../host.ts';

/** What a thread offers its host. */
export interface Control {
  /** Runs the actor; resolves with how that ended. */
  start(start: ActorStart): Promise<HostExit>;
  interrupt(): void;
  stop(): void;
  /** Whatever the entry wants to tell a person who debugs it. */
  inspect(): unknown;
}

export type ControlCalls = {
  readonly [K in keyof Control]: (
    ...args: Parameters<Control[K]>
  ) => Promise<Awaited<ReturnType<Control[K]>>>;
};

export function exposeControl(control: Control, port: MessagePort): void {
  Comlink.expose(control, nodeEndpoint(port));
}

export interface GuardedControl {
  readonly calls: ControlCalls;
  /** The thread is gone: rejects what is pending and closes the port. Idempotent. */
  end(reason: Error): void;
}

export function wrapControl(port: MessagePort): GuardedControl {
  const remote = Comlink.wrap<Control>(nodeEndpoint(port));
  const pending = new Set<(reason: Error) => void>();
  let gone: Error | null = null;

  const guard = <T>(call: () => PromiseLike<T>): Promise<T> => {
    if (gone !== null) return Promise.reject(gone);
    return new Promise<T>((resolve, reject) => {
      pending.add(reject);
      call().then(
        (value) => {
          pending.delete(reject);
          resolve(value);
        },
        (error: unknown) => {
          pending.delete(reject);
          reject(error instanceof Error ? error : new Error(String(error)));
        },
      );
    });
  };

  return {
    calls: {
      start: (start) => guard(() => remote.start(start) as Promise<HostExit>),
      interrupt: () => guard(() => remote.interrupt()),
      stop: () => guard(() => remote.stop()),
      inspect: () => guard(() => remote.inspect()),
    },
    end(reason) {
      if (gone !== null) return;
      gone = reason;
      port.close();
      for (const reject of pending) reject(reason);
      pending.clear();
    },
  };
}
