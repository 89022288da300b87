/**
 * The line to a provider: `fetch` is handed in, time is kept here. One watch covers one stream: how long its first byte
 * takes, and how long it may be silent.
 *
 * Invariants
 * - L13 A redirect is not followed: headers with a key would go with it.
 * - L14 A stream that says nothing ends in the named time, and so does its connection; bytes count, also those of pings.
 */
import type { Clock } from '../kernel/index.ts';

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

export interface WatchOptions {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly firstMs: number;
  readonly idleMs: number;
}

export interface Watched {
  readonly fetch: Fetch;
  /** Which limit ended it; null: none did. */
  late(): 'first' | 'idle' | null;
}

export function watchFetch(options: WatchOptions): Watched {
  let late: 'first' | 'idle' | null = null;
  return {
    late: () => late,
    async fetch(input, init = {}) {
      const limit = new AbortController();
      const given = init.signal ?? null;
      const watchdog = new Watchdog(options, (kind) => {
        late = kind;
        limit.abort(new Error('the provider was silent for too long'));
      });
      try {
        const response = await options.fetch(input, {
          ...init,
          redirect: 'error',
          signal: given === null ? limit.signal : AbortSignal.any([given, limit.signal]),
        });
        if (response.body === null) {
          watchdog.stop();
          return response;
        }
        const { status, statusText, headers } = response;
        if (response.ok && headers.get('content-type')?.startsWith(EVENTS) === true) {
          watchReading(response.body, watchdog);
          return response;
        }
        const body = ReadableStream.from(watchBytes(response.body, watchdog));
        return new Response(body, { status, statusText, headers });
      } catch (error) {
        watchdog.stop();
        throw error;
      }
    },
  };
}

const EVENTS = 'text/event-stream';

/**
 * Streams of events are read piece by piece by iteration alone, here and in the SDKs. A body around the body would cost each
 * piece a queue, a lock and a dozen promises more: with fifty streams that is what tokens wait for.
 */
function watchReading(body: ReadableStream<Uint8Array>, watchdog: Watchdog): void {
  const read = body[Symbol.asyncIterator].bind(body);
  Object.defineProperty(body, Symbol.asyncIterator, {
    value: (): AsyncIterator<Uint8Array> => {
      const pieces = read();
      return {
        next: () =>
          pieces.next().then(
            (piece) => {
              if (piece.done === true) watchdog.stop();
              else watchdog.beat();
              return piece;
            },
            (error: unknown) => {
              watchdog.stop();
              throw error;
            },
          ),
        return: async () => {
          watchdog.stop();
          await pieces.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  });
}

async function* watchBytes(
  body: AsyncIterable<Uint8Array>,
  watchdog: Watchdog,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const bytes of body) {
      watchdog.beat();
      yield bytes;
    }
  } finally {
    watchdog.stop();
  }
}

class Watchdog {
  readonly #options: WatchOptions;
  readonly #onLate: (kind: 'first' | 'idle') => void;
  #kind: 'first' | 'idle' = 'first';
  #since: number;
  #round = new AbortController();
  #stopped = false;

  constructor(options: WatchOptions, onLate: (kind: 'first' | 'idle') => void) {
    this.#options = options;
    this.#onLate = onLate;
    this.#since = options.clock.monotonicMs();
    void this.#watch(this.#round.signal);
  }

  beat(): void {
    this.#since = this.#options.clock.monotonicMs();
    if (this.#kind === 'idle' || this.#stopped) return;
    this.#kind = 'idle';
    this.#round.abort();
    this.#round = new AbortController();
    void this.#watch(this.#round.signal);
  }

  stop(): void {
    this.#stopped = true;
    this.#round.abort();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { clock, firstMs, idleMs } = this.#options;
    const limitMs = this.#kind === 'first' ? firstMs : idleMs;
    for (;;) {
      const leftMs = limitMs - (clock.monotonicMs() - this.#since);
      if (leftMs <= 0) {
        this.stop();
        this.#onLate(this.#kind);
        return;
      }
      try {
        await clock.sleep(leftMs, signal);
      } catch {
        return;
      }
    }
  }
}
