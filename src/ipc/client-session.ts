/**
 * What one client may and does: its `hello`, its requests with their cancellation, its subscriptions. It knows no socket:
 * requests come decoded, answers go as texts.
 *
 * Invariants
 * - I1 Nothing but `hello` is answered before the token was right; a wrong token ends the connection.
 * - I3, I4 Roles are looked at here, before any handler.
 * - I10 Every request with an id has exactly one answer, also a cancelled one.
 */
import { ensureError } from '../kernel/errors.ts';
import type { HelloResult, MethodName, ParamsOf, SubscribeResult } from '../protocol/wire.ts';
import { RPC } from '../protocol/wire.ts';
import { CANCEL, METHOD_INFO } from '../protocol/wire-methods.ts';
import type { Carriage, Outlet } from './fanout.ts';
import { type Identity, narrowed, refusalOf, type TokenBook } from './identity.ts';
import { IPC_LIMITS } from './limits.ts';
import type { Handlers } from './methods.ts';
import { callHandler, isPlain } from './methods.ts';
import type { Fault, Request, RpcId } from './rpc.ts';
import {
  checkParams,
  encodeFault,
  encodeResult,
  encodeThrown,
  fault,
  isMethod,
  unknownMethod,
} from './rpc.ts';
import type { WireLog } from './wire-log.ts';

export interface SessionDeps {
  readonly handlers: Handlers;
  readonly tokens: TokenBook;
  readonly wireLog: WireLog;
  readonly hello: Omit<HelloResult, 'role'>;
  /** Number of the connection. */
  readonly connection: number;
  readonly outlet: Outlet;
  /** The client is who it says; the connection has a place of its own now. Returns false when there is none left. */
  readonly onGreeted: () => boolean;
  /** Takes nothing more, and closes when what is being answered was sent. */
  readonly endSoon: () => void;
  readonly warn: (message: string, data: Readonly<Record<string, unknown>>) => void;
}

export class ClientSession {
  readonly #deps: SessionDeps;
  readonly #subscriptions = new Map<string, Carriage>();
  readonly #running = new Map<string, readonly [AbortController, MethodName]>();
  /** Nothing is sent of them before the answer that names them. */
  #starting: Carriage[] = [];
  #subscribed = 0;
  #identity: Identity | null = null;
  #client = '';

  constructor(deps: SessionDeps) {
    this.#deps = deps;
  }

  get greeted(): boolean {
    return this.#identity !== null;
  }

  /** JSON; null for a notification. Runs as far as `hello` at once, so that what follows on the same chunk finds it done. */
  async answer(item: Request | Fault): Promise<string | null> {
    if (item.kind === 'fault') {
      if (!this.greeted) this.#deps.endSoon();
      return JSON.stringify(encodeFault(item));
    }
    if (item.method === CANCEL && item.id === undefined && this.greeted) {
      this.#cancel(item.params);
      return null;
    }
    const id = item.id ?? null;
    const started = performance.now();
    const message = bounded(id, await this.#respond(item, id));
    this.#note(item, message, started);
    return item.id === undefined ? null : message;
  }

  /** After what named them was sent. */
  startSubscriptions(): void {
    const starting = this.#starting;
    this.#starting = [];
    for (const carriage of starting) {
      carriage.start().catch((error: unknown) => {
        this.#deps.warn('a subscription ended', { message: ensureError(error).message });
        this.#deps.endSoon();
      });
    }
  }

  /** Nobody will wait any longer for what changes nothing. */
  giveUpReading(): void {
    for (const [controller, method] of this.#running.values()) {
      if (METHOD_INFO[method].effect === 'read') controller.abort();
    }
  }

  /** The connection has ended. What was begun and changes something goes on; reading is given up. */
  close(): void {
    for (const carriage of this.#subscriptions.values()) carriage.close();
    this.#subscriptions.clear();
    for (const [controller] of this.#running.values()) controller.abort();
  }

  async #respond(item: Request, id: RpcId): Promise<object> {
    if (item.method === 'hello') return this.#greet(item, id);
    const identity = this.#identity;
    if (identity === null) return this.#deny(id, 'ipc/no-hello', 'the first request must be hello');
    const { method } = item;
    if (!isMethod(method)) return encodeFault(unknownMethod(id, method));
    const refusal = refusalOf(identity.role, method);
    if (refusal !== null) return encodeFault(fault(id, RPC.forbidden, refusal));
    const checked = checkParams(id, method, item.params);
    if (checked.kind === 'fault') return encodeFault(checked);
    const narrow = narrowed(identity, method, checked.params);
    if ('refused' in narrow) return encodeFault(fault(id, RPC.forbidden, narrow.refused));
    return this.#run(item, method, narrow.params);
  }

  async #run<M extends MethodName>(item: Request, method: M, params: ParamsOf<M>): Promise<object> {
    const id = item.id ?? null;
    const key = JSON.stringify(id);
    if (item.id !== undefined && this.#running.has(key)) {
      const message = `a request with the id ${key.slice(0, 64)} is still being answered`;
      return encodeFault(fault(id, RPC.request, { code: 'ipc/id-in-use', message }));
    }
    const controller = new AbortController();
    if (item.id !== undefined) this.#running.set(key, [controller, method]);
    try {
      return await orCancelled(this.#dispatch(id, { method, params }, controller.signal), {
        id,
        method,
        signal: controller.signal,
      });
    } catch (error) {
      return encodeThrown(id, error);
    } finally {
      if (item.id !== undefined) this.#running.delete(key);
    }
  }

  async #dispatch(
    id: RpcId,
    { method, params }: { readonly method: MethodName; readonly params: unknown },
    signal: AbortSignal,
  ): Promise<object> {
    if (method === 'events.subscribe') {
      return encodeResult(id, this.#subscribe(params as ParamsOf<'events.subscribe'>));
    }
    if (method === 'events.unsubscribe') {
      const { subscription } = params as ParamsOf<'events.unsubscribe'>;
      return encodeResult(id, { closed: this.#unsubscribe(subscription) });
    }
    if (!isPlain(method)) return encodeFault(unknownMethod(id, method));
    const given = params as ParamsOf<typeof method>;
    return encodeResult(
      id,
      await callHandler(this.#deps.handlers, { method, params: given, signal }),
    );
  }

  #greet(item: Request, id: RpcId): object {
    const checked = checkParams(id, 'hello', item.params);
    if (checked.kind === 'fault') {
      this.#deps.endSoon();
      return encodeFault(checked);
    }
    const { token, protocol, client } = checked.params;
    // A client of another version may have another idea of tokens: it is told the versions first.
    const own = this.#deps.hello.protocol;
    if (protocol !== own) {
      const message = `this supervisor speaks protocol ${own}, not ${protocol}`;
      return this.#deny(id, 'ipc/protocol', message, { supervisor: own, client: protocol });
    }
    const identity = this.#deps.tokens.identify(token);
    if (identity === null) {
      return this.#deny(id, 'ipc/token', 'the token is not the one of this supervisor');
    }
    if (this.#identity === null && !this.#deps.onGreeted()) {
      return this.#deny(id, 'ipc/clients', 'there are too many clients');
    }
    this.#identity = identity;
    this.#client = client ?? '';
    return encodeResult(id, { ...this.#deps.hello, role: identity.role });
  }

  #deny(
    id: RpcId,
    code: string,
    message: string,
    data?: Readonly<Record<string, unknown>>,
  ): object {
    this.#deps.endSoon();
    return encodeFault(
      fault(id, RPC.denied, { code, message, ...(data === undefined ? {} : { data }) }),
    );
  }

  #cancel(params: unknown): void {
    if (typeof params !== 'object' || params === null || !('id' in params)) return;
    this.#running.get(JSON.stringify(params.id))?.[0].abort();
  }

  #subscribe(params: ParamsOf<'events.subscribe'>): SubscribeResult {
    this.#subscribed += 1;
    const id = `sub-${this.#subscribed}`;
    const { outlet, handlers } = this.#deps;
    const carriage = handlers.subscribe({ id, params, outlet, open: this.#subscriptions.size });
    this.#subscriptions.set(id, carriage);
    this.#starting.push(carriage);
    return { subscription: id, run: carriage.run, cursor: carriage.cursor };
  }

  #unsubscribe(id: string): boolean {
    this.#subscriptions.get(id)?.close();
    return this.#subscriptions.delete(id);
  }

  #note(item: Request, message: string, started: number): void {
    const { wireLog, connection } = this.#deps;
    const isHello = item.method === 'hello';
    wireLog.add({
      connection,
      client: this.#client,
      role: this.#identity?.role ?? 'stranger',
      method: item.method.slice(0, 64),
      params: isHello ? {} : item.params,
      outcome: outcomeOf(message),
      ms: Math.round(performance.now() - started),
      bytesIn: item.bytes,
      bytesOut: message.length,
    });
  }
}

/** Nobody waits for what was cancelled; a change goes on all the same, and the answer says so. */
function orCancelled(
  answer: Promise<object>,
  of: { readonly id: RpcId; readonly method: MethodName; readonly signal: AbortSignal },
): Promise<object> {
  const { id, method, signal } = of;
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => {
      const changes = METHOD_INFO[method].effect === 'change';
      const message = `${method} was cancelled${changes ? '; what it began may still be done' : ''}`;
      resolve(encodeFault(fault(id, RPC.cancelled, { code: 'ipc/cancelled', message })));
    });
    answer.then(resolve, reject);
  });
}

function bounded(id: RpcId, message: object): string {
  const text = JSON.stringify(message);
  if (text.length <= IPC_LIMITS.resultMax) return text;
  const said = `the answer has ${text.length} characters, more than ${IPC_LIMITS.resultMax}`;
  const error = { code: 'ipc/result-too-large', message: said, hint: 'Ask for a smaller part.' };
  return JSON.stringify(encodeFault(fault(id, RPC.domain, error)));
}

const ERROR_CODE = /"data":\{"code":"([a-z/-]{1,64})"/;

/** Of a message that was made here: an error begins with its code. */
function outcomeOf(message: string): string {
  if (!message.includes('"error":{"code"')) return 'ok';
  return ERROR_CODE.exec(message.slice(0, 16_384))?.[1] ?? 'error';
}
