/**
 * `Clock` that stands still until a test moves it. Sleepers wake in order of their due time, then of their arrival, one
 * at a time, and what each of them sets off (all microtasks and one turn of the event loop) is done before the next.
 */
import { type Clock, ensureError } from '../kernel/index.ts';

interface Sleeper {
  readonly dueMs: number;
  readonly order: number;
  wake(): void;
}

/** 2026-01-01T00:00:00Z: any fixed instant would do. */
const EPOCH = 1_767_225_600_000;

export class VirtualClock implements Clock {
  #monotonicMs = 0;
  #offset: number;
  #order = 0;
  #sleepers: Sleeper[] = [];

  constructor(startMs: number = EPOCH) {
    this.#offset = startMs;
  }

  now(): number {
    return this.#offset + this.#monotonicMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(ensureError(signal.reason));
        return;
      }
      if (ms <= 0) {
        resolve();
        return;
      }
      const onAbort = (): void => {
        this.#sleepers = this.#sleepers.filter((entry) => entry !== sleeper);
        reject(ensureError(signal?.reason));
      };
      const sleeper: Sleeper = {
        dueMs: this.#monotonicMs + ms,
        order: this.#order,
        wake: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      this.#order += 1;
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Sleepers that wait. */
  get pending(): number {
    return this.#sleepers.length;
  }

  /** Monotonic time at which the next sleeper wakes; null when none waits. */
  get nextDueMs(): number | null {
    return this.#next()?.dueMs ?? null;
  }

  /** Moves both clocks by `ms` and wakes all that is due on the way, also those who go to sleep meanwhile. */
  async advance(ms: number): Promise<void> {
    const target = this.#monotonicMs + ms;
    await turn();
    for (let next = this.#next(); next !== null && next.dueMs <= target; next = this.#next()) {
      await this.#wake(next);
    }
    this.#monotonicMs = Math.max(this.#monotonicMs, target);
    await turn();
  }

  /** Moves to the next due time and wakes one sleeper; false when none waits. */
  async advanceToNext(): Promise<boolean> {
    await turn();
    const next = this.#next();
    if (next === null) return false;
    await this.#wake(next);
    return true;
  }

  /** Moves on until `promise` settles; throws when it can't, because nobody sleeps any more. */
  async runUntil<T>(promise: Promise<T>): Promise<T> {
    const outcome = { settled: false };
    const settle = (): void => {
      outcome.settled = true;
    };
    promise.then(settle, settle);
    await turn();
    for (let idle = 0; !outcome.settled; ) {
      idle = (await this.advanceToNext()) ? 0 : idle + 1;
      if (idle > IDLE_TURNS_MAX) throw new Error('VirtualClock: it never settles, nobody sleeps');
    }
    return promise;
  }

  /** The wall clock jumps (sleep of the machine, a correction); delays do not notice. */
  jump(ms: number): void {
    this.#offset += ms;
  }

  #next(): Sleeper | null {
    let first: Sleeper | null = null;
    for (const entry of this.#sleepers) {
      if (first === null || entry.dueMs < first.dueMs) first = entry;
      else if (entry.dueMs === first.dueMs && entry.order < first.order) first = entry;
    }
    return first;
  }

  async #wake(sleeper: Sleeper): Promise<void> {
    this.#sleepers = this.#sleepers.filter((entry) => entry !== sleeper);
    this.#monotonicMs = Math.max(this.#monotonicMs, sleeper.dueMs);
    sleeper.wake();
    await turn();
  }
}

/** Turns of the event loop without a sleeper, after which `runUntil` gives up: real I/O may be under way. */
const IDLE_TURNS_MAX = 1000;

/** One turn of the event loop: every microtask that is due runs before it resolves. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    // oxlint-disable-next-line no-restricted-globals -- a turn of the loop, not a delay
    setImmediate(resolve);
  });
}
