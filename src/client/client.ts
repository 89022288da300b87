/** A connection to a running supervisor, whatever carries it. */
import type { TroupeEvent } from '../protocol/event.ts';
import type { HelloResult, MethodName, ParamsOf, ResultOf } from '../protocol/wire.ts';

export interface Client {
  readonly supervisor: HelloResult;
  /** Rejects with the supervisor's error, `client/timeout` or `client/closed`. `timeoutMs` 0: no deadline. */
  call<M extends MethodName>(
    method: M,
    params: ParamsOf<M>,
    options?: { readonly timeoutMs?: number },
  ): Promise<ResultOf<M>>;
  /** Ends when the signal aborts or the connection ends. */
  subscribe(params: ParamsOf<'events.subscribe'>, signal: AbortSignal): AsyncIterable<TroupeEvent>;
  close(): void;
}
