/**
 * One client on the socket: framing, `hello`, requests, subscriptions, and its bounds.
 *
 * Invariants
 * - I1 Nothing but `hello` is answered before the token was right; a wrong token ends the connection.
 * - I5 A client is bounded in what it sends (line length, requests at once) and in what it does not read.
 */
import type { Socket } from 'node:net';
import type { EventSubscription } from '../events/index.ts';
import { ensureError } from '../kernel/errors.ts';
import type {
  HelloResult,
  MethodName,
  Notice,
  ParamsOf,
  SubscribeResult,
} from '../protocol/wire.ts';
import { RPC } from '../protocol/wire.ts';
import { IPC_LIMITS } from './limits.ts';
import type { Line } from './lines.ts';
import { makeLineSplitter } from './lines.ts';
import type { Handlers } from './methods.ts';
import { callHandler, isPlain } from './methods.ts';
import type { Fault, Request, RpcId } from './rpc.ts';
import {
  checkParams,
  decodeMessage,
  encodeFault,
  encodeResult,
  encodeThrown,
  fault,
  isMethod,
  unknownMethod,
} from './rpc.ts';
import { carryEvents, type Outlet } from './subscription.ts';

export interface ConnectionOptions {
  readonly handlers: Handlers;
  readonly hello: HelloResult;
  readonly isToken: (token: string) => boolean;
  readonly onClose: () => void;
  readonly warn: (message: string, data: Readonly<Record<string, unknown>>) => void;
}

/** Browsers can be made to post to odd places; none of them can start a line like ours. */
const HTTP_START = /^(?:[A-Z]{2,10} |PRI )/;

export class Connection implements Outlet {
  private readonly socket: Socket;
  private readonly options: ConnectionOptions;
  private readonly splitter = makeLineSplitter(IPC_LIMITS.lineMax);
  private readonly subscriptions = new Map<string, EventSubscription>();
  private readonly helloTimer: NodeJS.Timeout;
  private lines: Line[] = [];
  private waiters: (() => void)[] = [];
  private pending = 0;
  private subscribed = 0;
  private greeted = false;
  private started = false;
  private ended = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.socket = socket;
    this.options = options;
    this.helloTimer = setTimeout(() => {
      if (!this.greeted) socket.destroy();
    }, IPC_LIMITS.helloMs);
    this.helloTimer.unref();
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    socket.on('drain', () => this.drain());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.cleanUp());
  }

  get open(): boolean {
    return this.ended || this.socket.writableLength < IPC_LIMITS.unsentSoft;
  }

  get busy(): boolean {
    return this.pending > 0;
  }

  drained(): Promise<void> {
    return this.open ? Promise.resolve() : new Promise((resolve) => this.waiters.push(resolve));
  }

  send(notice: Notice): void {
    this.write({ jsonrpc: '2.0', ...notice });
  }

  /** Sends what is written, then closes; `destroy` does not wait. */
  end(): void {
    if (!this.ended) this.socket.end();
  }

  destroy(): void {
    this.socket.destroy();
  }

  private take(chunk: Buffer): void {
    if (!this.started) {
      this.started = true;
      if (HTTP_START.test(chunk.subarray(0, 16).toString('latin1'))) {
        this.options.warn('dropped a connection that spoke HTTP', {});
        this.socket.destroy();
        return;
      }
    }
    this.lines.push(...this.splitter.push(chunk));
    this.work();
  }

  private work(): void {
    while (this.pending < IPC_LIMITS.pendingMax && !this.ended) {
      const line = this.lines.shift();
      if (line === undefined) break;
      this.handle(line);
    }
    if (this.lines.length > 0) this.socket.pause();
    else this.socket.resume();
  }

  private handle(line: Line): void {
    if (line.kind === 'too-long') {
      const message = `a line has at most ${IPC_LIMITS.lineMax} bytes`;
      this.write(encodeFault(fault(null, RPC.request, { code: 'ipc/line-too-long', message })));
      this.end();
      return;
    }
    if (line.kind === 'not-utf8') {
      const message = 'the line is not UTF-8';
      this.run(this.answer(fault(null, RPC.parse, { code: 'ipc/parse', message })));
      return;
    }
    const decoded = decodeMessage(line.text, IPC_LIMITS.batchMax);
    if (decoded.kind === 'batch') {
      this.run(
        Promise.all(decoded.items.map((item) => this.answer(item))).then((answers) => {
          const kept = answers.filter((answer) => answer !== null);
          return kept.length === 0 ? null : kept;
        }),
      );
      return;
    }
    this.run(this.answer(decoded));
  }

  private run(answer: Promise<object | null>): void {
    this.pending += 1;
    answer
      .then((message) => {
        if (message !== null) this.write(message);
      })
      .catch((error: unknown) => {
        this.options.warn('an answer could not be made', { message: ensureError(error).message });
        this.socket.destroy();
      })
      .finally(() => {
        this.pending -= 1;
        this.work();
      });
  }

  /** Null for a notification. Runs as far as `hello` at once, so that what follows on the same chunk finds it done. */
  private async answer(item: Request | Fault): Promise<object | null> {
    if (item.kind === 'fault') {
      if (!this.greeted) this.endSoon();
      return encodeFault(item);
    }
    const id = item.id ?? null;
    const message = await this.respond(item, id);
    return item.id === undefined ? null : message;
  }

  private async respond(item: Request, id: RpcId): Promise<object> {
    if (item.method === 'hello') return this.greet(item, id);
    if (!this.greeted) return this.deny(id, 'ipc/no-hello', 'the first request must be hello');
    const { method } = item;
    if (!isMethod(method)) return encodeFault(unknownMethod(id, method));
    try {
      return await this.dispatch(id, method, item.params);
    } catch (error) {
      return encodeThrown(id, error);
    }
  }

  private greet(item: Request, id: RpcId): object {
    const checked = checkParams(id, 'hello', item.params);
    if (checked.kind === 'fault') {
      this.endSoon();
      return encodeFault(checked);
    }
    if (!this.options.isToken(checked.params.token)) {
      return this.deny(id, 'ipc/token', 'the token is not the one of this supervisor');
    }
    const { protocol } = this.options.hello;
    if (checked.params.protocol !== protocol) {
      const message = `this supervisor speaks protocol ${protocol}, not ${checked.params.protocol}`;
      return this.deny(id, 'ipc/protocol', message);
    }
    this.greeted = true;
    clearTimeout(this.helloTimer);
    return encodeResult(id, this.options.hello);
  }

  private deny(id: RpcId, code: string, message: string): object {
    this.endSoon();
    return encodeFault(fault(id, RPC.denied, { code, message }));
  }

  /** After the answer that is being made. */
  private endSoon(): void {
    this.lines = [];
    setImmediate(() => this.end());
  }

  private async dispatch(id: RpcId, method: MethodName, params: unknown): Promise<object> {
    if (method === 'events.subscribe') {
      const checked = checkParams(id, method, params);
      if (checked.kind === 'fault') return encodeFault(checked);
      return encodeResult(id, this.subscribe(checked.params));
    }
    if (method === 'events.unsubscribe') {
      const checked = checkParams(id, method, params);
      if (checked.kind === 'fault') return encodeFault(checked);
      return encodeResult(id, { closed: this.unsubscribe(checked.params.subscription) });
    }
    if (!isPlain(method)) return encodeFault(unknownMethod(id, method));
    const checked = checkParams(id, method, params);
    if (checked.kind === 'fault') return encodeFault(checked);
    return encodeResult(id, await callHandler(this.options.handlers, method, checked.params));
  }

  private subscribe(params: ParamsOf<'events.subscribe'>): SubscribeResult {
    const { run, events } = this.options.handlers.subscribe(params, this.subscriptions.size);
    this.subscribed += 1;
    const id = `sub-${this.subscribed}`;
    this.subscriptions.set(id, events);
    // It listens already, but nothing is sent before the answer that names it.
    setImmediate(() => {
      carryEvents({ id, events, live: params.live ?? false, outlet: this }).catch((error) => {
        this.options.warn('a subscription ended', { message: ensureError(error).message });
        this.socket.destroy();
      });
    });
    return { subscription: id, run };
  }

  private unsubscribe(id: string): boolean {
    const subscription = this.subscriptions.get(id);
    subscription?.close();
    return this.subscriptions.delete(id);
  }

  private write(message: object): void {
    if (this.ended || this.socket.destroyed) return;
    this.socket.write(`${JSON.stringify(message)}\n`);
    if (this.socket.writableLength > IPC_LIMITS.unsentMax) {
      this.options.warn('dropped a client that does not read', {});
      this.socket.destroy();
    }
  }

  private drain(): void {
    const { waiters } = this;
    this.waiters = [];
    for (const resolve of waiters) resolve();
  }

  private cleanUp(): void {
    this.ended = true;
    clearTimeout(this.helloTimer);
    for (const subscription of this.subscriptions.values()) subscription.close();
    this.subscriptions.clear();
    this.drain();
    this.options.onClose();
  }
}
