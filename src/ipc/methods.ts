/** The methods of the wire, each bound to what `control` offers. Parameters were checked before they come here. */
import type { LiveControl } from '../control/index.ts';
import { TroupeError } from '../kernel/errors.ts';
import type { MethodName, ParamsOf, ResultOf } from '../protocol/wire.ts';
import { IPC_LIMITS } from './limits.ts';

/** Methods that take parameters and give a result, and know nothing of the connection. */
export type PlainMethod = Exclude<MethodName, 'hello' | 'events.subscribe' | 'events.unsubscribe'>;

export interface Handlers {
  readonly plain: {
    readonly [M in PlainMethod]: (params: ParamsOf<M>) => Promise<ResultOf<M>>;
  };
  /** For a connection that has `open` subscriptions; throws. */
  subscribe(
    params: ParamsOf<'events.subscribe'>,
    open: number,
  ): ReturnType<LiveControl['subscribe']>;
}

export function makeHandlers(control: LiveControl): Handlers {
  return {
    plain: {
      status: () => Promise.resolve(control.status()),
      'runs.list': () => control.runs(),
      'tasks.list': ({ run }) => control.tasks(run),
      'actors.list': ({ run }) => control.actors(run),
      why: (params) => control.why(params),
      'mail.send': (params) => control.send(params),
      'mail.settle': (params) => control.settleDead(params),
      'trust.set': async ({ words }) => {
        await control.trust(words);
        return {};
      },
      'plans.list': ({ run }) => control.plans(run),
      'plans.decide': (params) => control.decidePlan(params),
      'approvals.list': ({ run }) => control.approvals(run),
      'approvals.answer': (params) => control.answerAsk(params),
      'rules.list': () => control.grants(),
      'rules.revoke': (params) => control.revokeGrant(params),
      'run.stop': (params) => control.stopRun(params),
      'actor.compact': (params) => control.compact(params),
      'actor.stop': (params) => control.stopActor(params),
    },
    subscribe(params, open) {
      if (open >= IPC_LIMITS.subscriptionsMax) {
        throw new TroupeError({
          code: 'ipc/subscriptions',
          message: `a connection has at most ${IPC_LIMITS.subscriptionsMax} subscriptions`,
          hint: 'Close one with events.unsubscribe.',
        });
      }
      return control.subscribe(params);
    },
  };
}

export function isPlain(method: MethodName): method is PlainMethod {
  return method !== 'hello' && !method.startsWith('events.');
}

export function callHandler<M extends PlainMethod>(
  handlers: Handlers,
  method: M,
  params: ParamsOf<M>,
): Promise<ResultOf<M>> {
  return handlers.plain[method](params);
}
