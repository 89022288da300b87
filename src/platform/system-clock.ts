/**
 * `Clock` of the machine. Its timers never keep a process alive alone, and a delay longer than Node's timer can hold
 * (2^31 ms, past which Node would fire at once) is slept in parts.
 */
import { setMaxListeners } from 'node:events';
import { ensureError } from '../kernel/errors.ts';
import type { Clock } from '../kernel/ports.ts';
import { TIMER_MS_MAX } from './limits.ts';

export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonicMs(): number {
    return performance.now();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const until = performance.now() + ms;
    let left = ms;
    do {
      await sleepOnce(Math.min(Math.max(left, 0), TIMER_MS_MAX), signal);
      left = until - performance.now();
    } while (left >= 1);
  }
}

function sleepOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(ensureError(signal.reason));
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(ensureError(signal?.reason));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    timer.unref();
    // Whatever waits in a run sleeps on the run's one signal: that many listeners are no leak, and nobody is to be warned of one.
    if (signal !== undefined) setMaxListeners(0, signal);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
