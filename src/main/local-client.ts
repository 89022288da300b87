/** What the socket offers, for the process that holds the supervisor itself: the same methods, without a connection. */
import type { Client } from '../client/index.ts';
import type { LiveControl } from '../control/index.ts';
import { type ControlMethods, controlMethods } from '../ipc/index.ts';
import { TroupeError } from '../kernel/index.ts';
import type { MethodName, ParamsOf, ResultOf } from '../protocol/wire.ts';

type Call = (params: unknown, signal: AbortSignal) => Promise<unknown>;

export function localClient(control: LiveControl, supervisor: Client['supervisor']): Client {
  const methods = controlMethods(control);
  const never = new AbortController().signal;
  return {
    supervisor,
    closed: false,
    async call<M extends MethodName>(method: M, params: ParamsOf<M>): Promise<ResultOf<M>> {
      if (!Object.hasOwn(methods, method)) {
        throw new TroupeError({ code: 'client/local', message: `${method} is for connections` });
      }
      // One name gives one method: its parameters and its result belong together.
      const call = methods[method as keyof ControlMethods] as unknown as Call;
      return (await call(params, never)) as ResultOf<M>;
    },
    async *subscribe(params, signal) {
      const { events } = control.subscribe(params);
      const close = (): void => events.close();
      signal.addEventListener('abort', close);
      try {
        if (!signal.aborted) yield* events;
      } finally {
        signal.removeEventListener('abort', close);
        events.close();
      }
    },
    close: () => undefined,
  };
}
