/** A connection to a running supervisor, whatever carries it. */
import type { TroupeEvent } from '../protocol/event.ts';
import type {
  HelloResult,
  MethodName,
  ParamsOf,
  ResultOf,
  SubscribeResult,
} from '../protocol/wire.ts';

export interface Client {
  readonly supervisor: HelloResult;
  /** The connection has ended: nothing comes of it any more. */
  readonly closed: boolean;
  /** Rejects with the supervisor's error, `client/timeout` or `client/closed`. `timeoutMs` 0: no deadline. */
  call<M extends MethodName>(
    method: M,
    params: ParamsOf<M>,
    options?: CallOptions,
  ): Promise<ResultOf<M>>;
  /**
   * Ends when the signal aborts or the connection ends. Who takes events more slowly than they come gets a `gap` in the
   * place of what was dropped. `onStart` is told where it begins.
   */
  subscribe(
    params: ParamsOf<'events.subscribe'>,
    signal: AbortSignal,
    onStart?: (started: SubscribeResult) => void,
  ): AsyncIterable<TroupeEvent>;
  close(): void;
}

export interface CallOptions {
  readonly timeoutMs?: number;
  /** Gives the request up, here and over there; what changes something may be done all the same. */
  readonly signal?: AbortSignal | undefined;
}
