/**
 * The typed client of the supervisor's socket: requests with deadlines, subscriptions as iterators.
 *
 * Invariants
 * - I8 Every request settles; when the connection ends, all that wait reject at once.
 * - I9 An idle client does not keep its process alive; a waiting request or a subscription does.
 */
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { ensureError, systemCode, TroupeError } from '../kernel/errors.ts';
import type { TroupeEvent } from '../protocol/event.ts';
import { PROTOCOL_VERSION } from '../protocol/shapes.ts';
import type { MethodName, Notice, ParamsOf, ResultOf, SubscribeResult } from '../protocol/wire.ts';
import { CANCEL } from '../protocol/wire-methods.ts';
import type { Calls } from './calls.ts';
import { makeCalls } from './calls.ts';
import type { Client } from './client.ts';

export interface SocketOptions {
  readonly socketPath: string;
  readonly token: string;
  /** For the connection with its `hello`, and for each request that names none. */
  readonly timeoutMs: number;
  readonly client: string;
}

/** A message that never ends would fill the memory. Answers may be long, but not longer than all tasks of a run. */
const MESSAGE_MAX = 64 * 1_048_576;

/** Events that wait for one who takes them slowly. */
const WAITING_MAX = 10_000;

/** Rejects `client/unreachable` when nobody listens there, else what `hello` was answered with. */
export async function connectSocket(options: SocketOptions): Promise<Client> {
  const socket = await open(options);
  const calls = makeCalls();
  const inbox = new Map<string, (item: TroupeEvent) => void>();
  const early = new Map<string, TroupeEvent[]>();
  const closed = new AbortController();
  const hold = makeHold(socket);
  listenTo(socket, calls, (notice) => {
    const { subscription } = notice.params;
    const item = notice.params.event;
    const taker = inbox.get(subscription);
    if (taker === undefined) early.set(subscription, [...(early.get(subscription) ?? []), item]);
    else taker(item);
  });
  socket.once('close', () => closed.abort());

  const call: Client['call'] = (method, params, callOptions) =>
    request(
      { socket, calls, hold },
      {
        method,
        params,
        timeoutMs: callOptions?.timeoutMs ?? options.timeoutMs,
        signal: callOptions?.signal,
      },
    );

  try {
    const supervisor = await call('hello', {
      token: options.token,
      protocol: PROTOCOL_VERSION,
      client: options.client,
    });
    requireProtocol(supervisor.protocol);
    return {
      supervisor,
      get closed(): boolean {
        return closed.signal.aborted || socket.destroyed;
      },
      call,
      subscribe: (params, signal, onStart) =>
        subscription({
          call,
          params,
          onStart,
          inbox,
          early,
          hold,
          signal: AbortSignal.any([signal, closed.signal]),
        }),
      close: () => socket.destroy(),
    };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The other side refuses first when it is ours; one that does not is no version that we know. */
function requireProtocol(protocol: unknown): void {
  if (protocol === PROTOCOL_VERSION) return;
  throw new TroupeError({
    code: 'client/protocol',
    message: `the supervisor speaks protocol ${String(protocol)}, this troupe speaks ${PROTOCOL_VERSION}`,
    hint: 'Use the version of Troupe that started it, or stop it and start it with this one.',
    exit: 4,
  });
}

function open(options: SocketOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = dial(options.socketPath);
    const fail = (why: string, cause?: unknown): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(
        new TroupeError({
          code: 'client/unreachable',
          message: `no supervisor answers at ${options.socketPath}: ${why}`,
          exit: 4,
          cause,
        }),
      );
    };
    const timer = setTimeout(() => fail('it took too long'), options.timeoutMs);
    socket.once('error', (error) => fail(systemCode(error) || ensureError(error).message, error));
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeAllListeners('error');
      resolve(socket);
    });
  });
}

/** A path, or `tcp://127.0.0.1:PORT` as `supervisor.json` names it where there are no sockets; never another host. */
function dial(address: string): Socket {
  const tcp = /^tcp:\/\/127\.0\.0\.1:(\d{1,5})$/.exec(address);
  return tcp === null ? connect(address) : connect(Number(tcp[1]), '127.0.0.1');
}

function listenTo(socket: Socket, calls: Calls, onNotice: (notice: Notice) => void): void {
  let rest = '';
  const end = (why: string): void => {
    calls.end(new TroupeError({ code: 'client/closed', message: why, exit: 4 }));
    socket.destroy();
  };
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    if (rest.length > MESSAGE_MAX) end('the supervisor sent a message without an end');
    for (const part of parts) {
      try {
        const notice = calls.take(JSON.parse(part));
        if (notice !== null) onNotice(notice);
      } catch {
        end('the supervisor sent something that is not JSON');
      }
    }
  });
  socket.on('error', (error) => end(`the connection to the supervisor broke: ${error.message}`));
  socket.on('close', () => end('the supervisor closed the connection'));
  socket.unref();
}

/** Keeps the process alive until the function it returns is called. */
type Hold = () => () => void;

function makeHold(socket: Socket): Hold {
  let held = 0;
  return () => {
    held += 1;
    socket.ref();
    return () => {
      held -= 1;
      if (held === 0) socket.unref();
    };
  };
}

async function request<M extends MethodName>(
  on: { readonly socket: Socket; readonly calls: Calls; readonly hold: Hold },
  what: {
    readonly method: M;
    readonly params: ParamsOf<M>;
    readonly timeoutMs: number;
    readonly signal: AbortSignal | undefined;
  },
): Promise<ResultOf<M>> {
  const { method, params, timeoutMs, signal } = what;
  const { socket, calls } = on;
  const { id, answer } = calls.open();
  const release = on.hold();
  const timer =
    timeoutMs === 0
      ? undefined
      : setTimeout(() => {
          const message = `the supervisor did not answer ${method} within ${timeoutMs} ms`;
          giveUp(new TroupeError({ code: 'client/timeout', message, exit: 4 }));
        }, timeoutMs);
  const giveUp = (error: Error): void => {
    calls.fail(id, error);
    const cancel = { jsonrpc: '2.0', method: CANCEL, params: { id } };
    if (method !== 'hello') socket.write(`${JSON.stringify(cancel)}\n`);
  };
  const onAbort = (): void => {
    giveUp(
      new TroupeError({ code: 'client/cancelled', message: `${method} was given up`, exit: 130 }),
    );
  };
  signal?.addEventListener('abort', onAbort);
  try {
    if (signal?.aborted === true) onAbort();
    socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    // The protocol was compared at `hello`, so the result has the shape that the table promises.
    return (await answer) as ResultOf<M>;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    release();
  }
}

interface SubscriptionDeps {
  readonly call: Client['call'];
  readonly params: ParamsOf<'events.subscribe'>;
  readonly inbox: Map<string, (item: TroupeEvent) => void>;
  /** What came before the answer that names the subscription was read. */
  readonly early: Map<string, TroupeEvent[]>;
  readonly hold: Hold;
  readonly signal: AbortSignal;
  readonly onStart: ((started: SubscribeResult) => void) | undefined;
}

async function* subscription(deps: SubscriptionDeps): AsyncGenerator<TroupeEvent> {
  const { call, inbox, early, signal } = deps;
  const started = await call('events.subscribe', deps.params);
  const id = started.subscription;
  deps.onStart?.(started);
  let queue = early.get(id) ?? [];
  early.delete(id);
  let wake = (): void => undefined;
  let gap: { readonly from: TroupeEvent; to: TroupeEvent; dropped: number } | null = null;
  inbox.set(id, (item) => {
    if (gap !== null) {
      gap.to = item;
      gap.dropped += 1;
    } else if (queue.length >= WAITING_MAX) gap = { from: item, to: item, dropped: 1 };
    else queue.push(item);
    wake();
  });
  const onAbort = (): void => wake();
  const release = deps.hold();
  signal.addEventListener('abort', onAbort);
  try {
    while (!signal.aborted) {
      const items = queue;
      queue = [];
      yield* items;
      const dropped = gap;
      gap = null;
      if (dropped !== null) yield gapEvent(dropped);
      if (queue.length === 0 && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    inbox.delete(id);
    release();
    call('events.unsubscribe', { subscription: id }).catch(() => undefined);
  }
}

/** As the supervisor marks it: see `events/subscription.ts`. */
function gapEvent(gap: {
  readonly from: TroupeEvent;
  readonly to: TroupeEvent;
  readonly dropped: number;
}): TroupeEvent {
  const { cursor, at, run } = gap.to;
  const from = gap.from.cursor;
  const data = { from, to: cursor, dropped: gap.dropped };
  return { cursor, id: `${run}:gap:${from}`, at, run, type: 'gap', data };
}
