/**
 * A client that outlives connections and supervisors: it connects again with growing pauses, and its subscriptions go on
 * from the last event that was handed out.
 *
 * Invariants
 * - I13 A subscription hands out each durable event once, in order, over any number of connections; a gap is filled from the
 *   journal. Fragments (`live.*`) that fell between two connections are lost, as they may always be.
 * - I14 A request that changes something is sent once: when its answer is lost, the caller is told so. Reading is repeated.
 */
import { isTroupeError, TroupeError } from '../kernel/errors.ts';
import type { Clock, Random } from '../kernel/ports.ts';
import { type Cursor, parseCursor, type TroupeEvent } from '../protocol/event.ts';
import type { MethodName, ParamsOf, ResultOf } from '../protocol/wire.ts';
import { METHOD_INFO } from '../protocol/wire-methods.ts';
import type { CallOptions, Client } from './client.ts';

export interface LinkOptions {
  /** A new connection; null when nobody is there now. Address and token are looked up anew each time. */
  readonly connect: () => Promise<Client | null>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly random: Pick<Random, 'next'>;
  /** For people: whether somebody is there. */
  readonly onChange?: (connected: boolean) => void;
}

export interface Link {
  /** Waits while nobody is there, until its signal or its deadline gives it up. */
  call<M extends MethodName>(
    method: M,
    params: ParamsOf<M>,
    options?: CallOptions,
  ): Promise<ResultOf<M>>;
  /** Ends when the signal aborts, and rejects only with what no waiting can mend. */
  subscribe(params: ParamsOf<'events.subscribe'>, signal: AbortSignal): AsyncIterable<TroupeEvent>;
  close(): void;
}

/** The pause before the next try: doubled each time, then within a quarter of it, so that not all come at once. */
const FIRST_PAUSE_MS = 50;
const PAUSE_MS_MAX = 5_000;

export function makeLink(options: LinkOptions): Link {
  const closed = new AbortController();
  const connections = makeConnections(options, closed.signal);
  return {
    async call(method, params, { signal, ...rest } = {}) {
      const until = AbortSignal.any([closed.signal, ...(signal === undefined ? [] : [signal])]);
      for (;;) {
        const client = await connections.get(until);
        try {
          return await client.call(method, params, { ...rest, signal: until });
        } catch (error) {
          if (!isLost(error) || METHOD_INFO[method].effect === 'change') throw error;
        }
      }
    },
    subscribe: (params, signal) =>
      resumed(connections, params, AbortSignal.any([closed.signal, signal])),
    close() {
      closed.abort();
      connections.close();
    },
  };
}

interface Connections {
  /** The one that is there, or the next; rejects when the signal aborts or a try fails for good. */
  get(signal: AbortSignal): Promise<Client>;
  /** Longer each time, until `settled`. */
  pause(signal: AbortSignal): Promise<void>;
  settled(): void;
  close(): void;
}

function makeConnections(options: LinkOptions, closed: AbortSignal): Connections {
  const { connect, clock, random, onChange } = options;
  let current: Client | null = null;
  let trying: Promise<Client> | null = null;
  let pauses = 0;

  const pause = async (signal: AbortSignal): Promise<void> => {
    const whole = Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * 2 ** pauses);
    pauses = Math.min(pauses + 1, 16);
    await clock.sleep(whole * (0.75 + random.next() / 2), signal);
  };
  const keepTrying = async (): Promise<Client> => {
    for (;;) {
      const client = await connect().catch((error: unknown) => {
        if (isLost(error)) return null;
        throw error;
      });
      if (client !== null && closed.aborted) client.close();
      closed.throwIfAborted();
      if (client !== null) {
        current = client;
        onChange?.(true);
        return client;
      }
      await pause(closed);
    }
  };
  return {
    get(signal) {
      if (signal.aborted) return Promise.reject(givenUp());
      if (current?.closed === false) return Promise.resolve(current);
      if (current !== null) onChange?.(false);
      current = null;
      trying ??= keepTrying().finally(() => {
        trying = null;
      });
      return orAborted(trying, signal);
    },
    pause,
    settled() {
      pauses = 0;
    },
    close: () => current?.close(),
  };
}

async function* resumed(
  connections: Connections,
  wanted: ParamsOf<'events.subscribe'>,
  signal: AbortSignal,
): AsyncGenerator<TroupeEvent> {
  let params = wanted;
  while (!signal.aborted) {
    const once = new AbortController();
    let dropped = false;
    try {
      const client = await connections.get(signal);
      const events = client.subscribe(params, AbortSignal.any([signal, once.signal]), (started) => {
        params = { ...params, run: started.run, from: started.cursor };
      });
      for await (const event of events) {
        connections.settled();
        dropped = event.type === 'gap';
        if (dropped) break;
        if (!event.type.startsWith('live.')) {
          if (!isAfter(event.cursor, params.from)) continue;
          params = { ...params, from: event.cursor };
        }
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!isPassing(error, params.from !== undefined)) throw error;
    } finally {
      once.abort();
    }
    // What was dropped is in the journal, and is read from there.
    if (!dropped && !signal.aborted) await connections.pause(signal).catch(() => undefined);
  }
}

/** Nobody is there, or not any more. */
function isLost(error: unknown): boolean {
  return isTroupeError(error) && LOST.has(error.code);
}

const LOST: ReadonlySet<string> = new Set([
  'client/unreachable',
  'client/closed',
  'client/timeout',
  'ipc/cancelled',
  'ipc/clients',
]);

/** A new supervisor takes its runs up one after the other: one that was watched may come yet. */
function isPassing(error: unknown, began: boolean): boolean {
  if (isLost(error)) return true;
  return began && isTroupeError(error) && NOT_YET.has(error.code);
}

const NOT_YET: ReadonlySet<string> = new Set(['control/not-running', 'control/no-live-run']);

function isAfter(cursor: string, from: string | undefined): boolean {
  const [at, last] = [parseCursor(cursor), from === undefined ? null : parseCursor(from)];
  return at === null || last === null || order(at, last) > 0;
}

function order(a: Cursor, b: Cursor): number {
  return a.seq === b.seq ? a.index - b.index : a.seq - b.seq;
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(givenUp());
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function givenUp(): TroupeError {
  return new TroupeError({
    code: 'client/cancelled',
    message: 'given up while no supervisor answered',
    exit: 130,
  });
}
