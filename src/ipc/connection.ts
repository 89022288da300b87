/**
 * One connection on the socket: bytes to lines to requests, and answers back, within bounds.
 *
 * Invariants
 * - I5 A client is bounded in what it sends (line length, requests at once), in how long it may stay a stranger, and in
 *   what it does not read.
 */
import type { Socket } from 'node:net';
import { ensureError } from '../kernel/errors.ts';
import { RPC } from '../protocol/wire.ts';
import { ClientSession, type SessionDeps } from './client-session.ts';
import type { Outlet } from './fanout.ts';
import { IPC_LIMITS } from './limits.ts';
import type { Line } from './lines.ts';
import { makeLineSplitter } from './lines.ts';
import { decodeMessage, encodeFault, fault } from './rpc.ts';

export interface ConnectionOptions extends Omit<SessionDeps, 'outlet' | 'endSoon'> {
  readonly onClose: () => void;
}

export class Connection implements Outlet {
  private readonly socket: Socket;
  private readonly options: ConnectionOptions;
  private readonly splitter = makeLineSplitter();
  private readonly session: ClientSession;
  private readonly helloTimer: NodeJS.Timeout;
  private waiters: (() => void)[] = [];
  private pending = 0;
  private started = false;
  private ending = false;
  private ended = false;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.socket = socket;
    this.options = options;
    this.session = new ClientSession({
      ...options,
      outlet: this,
      onGreeted: () => {
        clearTimeout(this.helloTimer);
        return options.onGreeted();
      },
      endSoon: () => this.endSoon(),
    });
    this.helloTimer = setTimeout(() => {
      if (!this.session.greeted) socket.destroy();
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

  giveUpReading(): void {
    this.session.giveUpReading();
  }

  drained(): Promise<void> {
    return this.open ? Promise.resolve() : new Promise((resolve) => this.waiters.push(resolve));
  }

  send(bytes: Buffer): void {
    this.write(bytes);
  }

  /** Sends what is written, then closes, whether or not the other side reads it; `destroy` does not wait. */
  end(): void {
    if (this.ended) return;
    this.ending = true;
    this.socket.end();
    setTimeout(() => this.socket.destroy(), IPC_LIMITS.lastWordsMs).unref();
  }

  destroy(): void {
    this.socket.destroy();
  }

  private take(chunk: Buffer): void {
    // Counted by nobody, kept by nobody.
    if (this.ending) return;
    if (!this.started) {
      this.started = true;
      // Browsers can be made to speak to odd places (HTTP, TLS); nothing that they can begin with is a brace.
      if (chunk[0] !== BRACE) {
        this.options.warn('dropped a connection that does not speak JSON-RPC', {});
        this.socket.destroy();
        return;
      }
    }
    this.splitter.push(chunk);
    this.work();
  }

  private work(): void {
    while (!this.ending && !this.ended && this.pending < IPC_LIMITS.pendingMax && this.open) {
      const greeted = this.session.greeted;
      const line = this.splitter.next(greeted ? IPC_LIMITS.lineMax : IPC_LIMITS.helloLineMax);
      if (line === null) {
        this.socket.resume();
        return;
      }
      this.handle(line);
    }
    if (!this.ending) this.socket.pause();
  }

  private handle(line: Line): void {
    if (line.kind === 'too-long') {
      const max = this.session.greeted ? IPC_LIMITS.lineMax : IPC_LIMITS.helloLineMax;
      const message = `a line has at most ${max} bytes${this.session.greeted ? '' : ' before hello'}`;
      this.writeText(refusalText('ipc/line-too-long', message));
      this.end();
      return;
    }
    if (line.kind === 'not-utf8') {
      const error = { code: 'ipc/parse', message: 'the line is not UTF-8' };
      this.run(1, this.session.answer(fault(null, RPC.parse, error)));
      return;
    }
    const decoded = decodeMessage(line.text, this.session.greeted ? IPC_LIMITS.batchMax : 1);
    if (decoded.kind !== 'batch') {
      this.run(1, this.session.answer(decoded));
      return;
    }
    const answers = Promise.all(decoded.items.map((item) => this.session.answer(item)));
    this.run(decoded.items.length, answers.then(batchText));
  }

  private run(weight: number, answer: Promise<string | null>): void {
    this.pending += weight;
    answer
      .then((text) => {
        if (text !== null) this.writeText(text);
        this.session.startSubscriptions();
      })
      .catch((error: unknown) => {
        this.options.warn('an answer could not be made', { message: ensureError(error).message });
        this.socket.destroy();
      })
      .finally(() => {
        this.pending -= weight;
        this.work();
      });
  }

  /** After the answer that is being made. */
  private endSoon(): void {
    this.ending = true;
    setImmediate(() => this.end());
  }

  private writeText(text: string): void {
    this.write(`${text}\n`);
  }

  private write(message: string | Buffer): void {
    if (this.ended || this.socket.destroyed || this.socket.writableEnded) return;
    this.socket.write(message);
    if (this.socket.writableLength > IPC_LIMITS.unsentMax) {
      this.options.warn('dropped a client that does not read', {});
      this.socket.destroy();
    }
  }

  private drain(): void {
    const { waiters } = this;
    this.waiters = [];
    for (const resolve of waiters) resolve();
    this.work();
  }

  private cleanUp(): void {
    this.ended = true;
    clearTimeout(this.helloTimer);
    this.session.close();
    this.drain();
    this.options.onClose();
  }
}

const BRACE = 0x7b;

function refusalText(code: string, message: string): string {
  return JSON.stringify(encodeFault(fault(null, RPC.request, { code, message })));
}

/** Answers in the order of the requests, without those of notifications; together no longer than one may be. */
function batchText(answers: readonly (string | null)[]): string | null {
  const kept = answers.filter((answer) => answer !== null);
  if (kept.length === 0) return null;
  const length = kept.reduce((sum, text) => sum + text.length, 0);
  if (length <= IPC_LIMITS.resultMax) return `[${kept.join(',')}]`;
  const message = `the answers of the batch have ${length} characters, more than ${IPC_LIMITS.resultMax}`;
  return refusalText('ipc/result-too-large', message);
}
