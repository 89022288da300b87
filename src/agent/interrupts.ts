/**
 * Interrupt mail and stop, as signals. An interrupt stays raised until the next request takes the mail in, so that it
 * also reaches what begins after it came.
 */
export class Interrupts {
  readonly #stop: AbortSignal;
  #controller = new AbortController();
  #both: AbortSignal;

  constructor(stop: AbortSignal) {
    this.#stop = stop;
    this.#both = AbortSignal.any([stop, this.#controller.signal]);
  }

  raise(): void {
    this.#controller.abort(new Error('interrupted by mail'));
  }

  get raised(): boolean {
    return this.#controller.signal.aborted;
  }

  get stopped(): boolean {
    return this.#stop.aborted;
  }

  /** Aborts on stop and on an interrupt. */
  get signal(): AbortSignal {
    return this.#both;
  }

  /** Just before waiting mail is taken in for a request. */
  clear(): void {
    if (!this.raised) return;
    this.#controller = new AbortController();
    this.#both = AbortSignal.any([this.#stop, this.#controller.signal]);
  }
}

/** `abortable` for many promises, one after the other: it listens once for all of them. */
export class Leash {
  readonly #signal: AbortSignal;
  #reject: ((reason: Error) => void) | null = null;
  readonly #onAbort = (): void => this.#reject?.(reasonOf(this.#signal));

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#reject = reject;
      if (this.#signal.aborted) reject(reasonOf(this.#signal));
      promise.then(resolve, reject);
    });
  }

  release(): void {
    this.#signal.removeEventListener('abort', this.#onAbort);
  }
}

const reasonOf = ({ reason }: AbortSignal): Error =>
  reason instanceof Error ? reason : new Error('aborted');

/** The promise, or a rejection as soon as the signal aborts; what the promise brings later is dropped. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => {
      reject(reasonOf(signal));
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    void promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}
