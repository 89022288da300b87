/**
 * One run as a view of it needs it: calls, and its events from a cursor on. It lives on what the wire offers, so that a
 * run in this process and one in a supervisor that is up are watched by the same code.
 *
 * Invariant: every durable event after the cursor is given once, in order, also over a gap and over a connection that
 * broke, as long as a supervisor can be reached again in time.
 */
import type { Client } from '../client/index.ts';
import { ensureError, isTroupeError } from '../kernel/errors.ts';
import type { Clock } from '../kernel/ports.ts';
import type { TroupeEvent } from '../protocol/event.ts';
import type { RunRow } from '../protocol/shapes.ts';
import type { MethodName, ParamsOf, ResultOf } from '../protocol/wire.ts';
import { END_SEEN_MS, RECONNECT_LOOK_MS, RECONNECT_MS } from './limits.ts';

export interface RunLink {
  readonly run: string;
  call<M extends MethodName>(
    method: M,
    params: ParamsOf<M>,
    options?: { readonly timeoutMs?: number },
  ): Promise<ResultOf<M>>;
  /** Until the function that is given back is called. */
  follow(onEvent: (event: TroupeEvent) => void): () => void;
  /** When it has ended or was interrupted, and nothing of it is left; who follows has seen its end by then. */
  finished(): Promise<RunRow>;
  close(): void;
}

export interface RunLinkOptions {
  readonly run: string;
  /** Events after it are told. */
  readonly from: string;
  readonly client: Client;
  readonly clock: Clock;
  /** Another connection, when this one broke; null while nobody answers. Left out: it can't break. */
  readonly again?: () => Promise<Client | null>;
  /** The connection broke, or is there again. */
  readonly onBreak?: (broken: boolean) => void;
}

const OVER: ReadonlySet<string> = new Set(['run.ended', 'run.interrupted']);

export function makeRunLink(options: RunLinkOptions): RunLink {
  return new Link(options);
}

class Link implements RunLink {
  readonly run: string;
  readonly #options: RunLinkOptions;
  readonly #closed = new AbortController();
  readonly #following: Promise<void>[] = [];
  #client: Client;
  #mending: Promise<Client> | null = null;
  #seenEnd: () => void = () => undefined;
  readonly #ended = new Promise<void>((resolve) => {
    this.#seenEnd = resolve;
  });

  constructor(options: RunLinkOptions) {
    this.run = options.run;
    this.#options = options;
    this.#client = options.client;
  }

  async call<M extends MethodName>(
    method: M,
    params: ParamsOf<M>,
    options?: { readonly timeoutMs?: number },
  ): Promise<ResultOf<M>> {
    return this.#client.call(method, params, options);
  }

  follow(onEvent: (event: TroupeEvent) => void): () => void {
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#closed.signal]);
    this.#following.push(this.#follow(onEvent, signal).catch(() => undefined));
    return () => stop.abort();
  }

  async #follow(onEvent: (event: TroupeEvent) => void, signal: AbortSignal): Promise<void> {
    let { from } = this.#options;
    while (!signal.aborted) {
      const client = this.#client;
      try {
        for await (const event of client.subscribe({ run: this.run, from }, signal)) {
          // What was dropped is in the journal: it is asked for again.
          if (event.type === 'gap') break;
          from = event.cursor;
          onEvent(event);
          if (OVER.has(event.type)) this.#seenEnd();
        }
      } catch (error) {
        if (!isBroken(error)) {
          this.#seenEnd();
          return;
        }
      }
      if (client.closed && !signal.aborted) await this.#mend(client);
    }
  }

  async finished(): Promise<RunRow> {
    for (;;) {
      const client = this.#client;
      try {
        const row = await client.call('run.wait', { run: this.run }, { timeoutMs: 0 });
        if (this.#following.length > 0) await this.#endSeen();
        return row;
      } catch (error) {
        if (!isBroken(error)) throw error;
        await this.#mend(client, error);
      }
    }
  }

  async #endSeen(): Promise<void> {
    const patience = this.#options.clock.sleep(END_SEEN_MS, this.#closed.signal);
    await Promise.race([this.#ended, patience.catch(() => undefined)]);
  }

  close(): void {
    this.#closed.abort();
    this.#client.close();
  }

  /** One connection for all who lost `broken`. */
  #mend(broken: Client, cause?: unknown): Promise<Client> {
    if (this.#client !== broken) return Promise.resolve(this.#client);
    this.#mending ??= this.#reconnect(cause).finally(() => {
      this.#mending = null;
    });
    return this.#mending;
  }

  async #reconnect(cause: unknown): Promise<Client> {
    const { again, clock, onBreak } = this.#options;
    const until = clock.monotonicMs() + RECONNECT_MS;
    onBreak?.(true);
    while (!this.#closed.signal.aborted && clock.monotonicMs() < until) {
      if (again === undefined) break;
      const client = await again();
      if (client !== null) {
        this.#client = client;
        onBreak?.(false);
        return client;
      }
      await clock.sleep(RECONNECT_LOOK_MS, this.#closed.signal);
    }
    throw ensureError(cause ?? 'the supervisor is gone');
  }
}

function isBroken(error: unknown): boolean {
  return isTroupeError(error) && ['client/closed', 'client/timeout'].includes(error.code);
}
