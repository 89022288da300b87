/** The methods of the wire, each bound to what `control` offers. Parameters were checked before they come here. */
import type { LiveControl } from '../control/index.ts';
import { TroupeError } from '../kernel/errors.ts';
import type { MethodName, ParamsOf, ResultOf, SubscribeParams } from '../protocol/wire.ts';
import { type Carriage, type Fanout, makeFanout, type Outlet } from './fanout.ts';
import type { TokenBook } from './identity.ts';
import { IPC_LIMITS } from './limits.ts';
import type { WireLog } from './wire-log.ts';

/** Methods that take parameters and give a result, and know nothing of the connection. */
export type PlainMethod = Exclude<MethodName, 'hello' | 'events.subscribe' | 'events.unsubscribe'>;

export interface Handlers {
  readonly plain: {
    readonly [M in PlainMethod]: (params: ParamsOf<M>, signal: AbortSignal) => Promise<ResultOf<M>>;
  };
  /** For a connection that has `open` subscriptions; throws. */
  subscribe(what: {
    readonly id: string;
    readonly params: SubscribeParams;
    readonly outlet: Outlet;
    readonly open: number;
  }): Carriage;
}

export interface HandlerDeps {
  readonly control: LiveControl;
  readonly tokens: TokenBook;
  readonly wireLog: WireLog;
}

export function makeHandlers({ control, tokens, wireLog }: HandlerDeps): Handlers {
  const fanout = makeFanout(control);
  return {
    plain: {
      ...controlMethods(control),
      'trace.wire': (params, signal) => wireLog.read(params, signal),
      'token.issue': async ({ run, actor }) => ({ token: tokens.issue(run, actor) }),
    },
    subscribe: makeSubscribe(fanout),
  };
}

export type ControlMethods = Omit<Handlers['plain'], 'trace.wire' | 'token.issue'>;

/** What is asked of the supervisor, and not of the socket: also for the process that holds it. */
export function controlMethods(control: LiveControl): ControlMethods {
  return {
    ...control.desk,
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
    'run.get': ({ run }) => control.run(run),
    'run.start': (params) => control.startRun(params),
    'run.resume': (params) => control.resumeRun(params),
    'run.wait': ({ run }) => control.waitRun(run),
    'supervisor.down': (params) => control.down(params),
    'run.stop': (params) => control.stopRun(params),
    'actor.compact': (params) => control.compact(params),
    'cron.edit': (params) => control.editCron(params),
    'actor.stop': (params) => control.stopActor(params),
  };
}

function makeSubscribe(fanout: Fanout): Handlers['subscribe'] {
  let inAll = 0;
  return ({ open, ...what }) => {
    if (open >= IPC_LIMITS.subscriptionsMax) {
      throw tooMany(`a connection has at most ${IPC_LIMITS.subscriptionsMax} subscriptions`);
    }
    if (inAll >= IPC_LIMITS.subscriptionsInAllMax) {
      throw tooMany(`there are ${inAll} subscriptions already`);
    }
    const carriage = fanout.carry(what);
    inAll += 1;
    let closed = false;
    return {
      run: carriage.run,
      cursor: carriage.cursor,
      start: () => carriage.start(),
      close() {
        if (!closed) inAll -= 1;
        closed = true;
        carriage.close();
      },
    };
  };
}

function tooMany(message: string): TroupeError {
  return new TroupeError({
    code: 'ipc/subscriptions',
    message,
    hint: 'Close one with events.unsubscribe.',
  });
}

export function isPlain(method: MethodName): method is PlainMethod {
  return method !== 'hello' && method !== 'events.subscribe' && method !== 'events.unsubscribe';
}

export function callHandler<M extends PlainMethod>(
  handlers: Handlers,
  what: { readonly method: M; readonly params: ParamsOf<M>; readonly signal: AbortSignal },
): Promise<ResultOf<M>> {
  return handlers.plain[what.method](what.params, what.signal);
}
