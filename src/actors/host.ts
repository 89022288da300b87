/**
 * What runs actors, as the supervisor sees it: the hosts in `host/` stand behind this one interface.
 *
 * Invariants
 * - A1 `onExit` is called exactly once per start, after the last `onRequests`, when the thread or job is gone.
 * - A2 `start`, `post` and `interrupt` never throw; what goes wrong is told by `onExit`.
 * - A3 A call into a dead thread rejects at once.
 */
import type { ActorStart, Downward, Upward } from '../protocol/actor-wire.ts';

/** How an actor's thread or job ended. */
export type HostExit =
  /** Its run came to its end, or answered a stop. */
  | { readonly kind: 'finished'; readonly text?: string }
  /** `out-of-memory`, `entry-missing`, `uncaught`, `exit`, `start-failed`, `pool-full`, or the code the run gave. */
  | { readonly kind: 'crashed'; readonly code: string; readonly message: string }
  /** Ended from outside: `kill`, or `stop` after its grace. */
  | { readonly kind: 'killed' };

export interface HostEvents {
  /** Requests in the order in which the thread made them. */
  onRequests(requests: readonly Upward[]): void;
  onExit(outcome: HostExit): void;
}

/** A started actor. Everything after its exit is a no-op. */
export interface ActorHandle {
  /** Messages arrive in order; those of one tick travel together. */
  post(messages: readonly Downward[]): void;
  /** What was posted before is in the thread when it notices. Reaches it inside a running tool or stream. */
  interrupt(): void;
  /**
   * Asks, and ends it by force after `graceMs`; idempotent, the shortest grace counts. Resolves when the thread is gone;
   * rejects with `actors/stuck` when even force does not end it in time.
   */
  stop(graceMs: number): Promise<void>;
  /** Ends it by force; else as `stop`. */
  kill(): Promise<void>;
  /** A counter that only the thread raises; the same twice in a row means that it is stuck or gone. */
  heartbeat(): number;
}

export interface ActorHost {
  start(start: ActorStart, events: HostEvents): ActorHandle;
  /** Ends all actors by force and frees the host; idempotent. */
  close(): Promise<void>;
}
