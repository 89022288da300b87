/**
 * One repository, one metadata operation at a time (W2): git's own lock files make concurrent `worktree add`, ref and
 * config writes fail rather than wait. Order is first come, first served. A holder has its own deadlines (every git call
 * has one), so a waiter's deadline only names the holder that broke them.
 */
import type { Clock } from '../kernel/index.ts';
import { errors } from './errors.ts';
import { LIMITS } from './limits.ts';

export class GitLock {
  readonly #clock: Clock;
  #tail: Promise<void> = Promise.resolve();
  #holder = '';
  #waiting = 0;
  readonly #places = new Map<string, Promise<void>>();

  constructor(options: { readonly clock: Clock }) {
    this.#clock = options.clock;
  }

  /** One tree, one operation at a time; others go on meanwhile. Taken before `run`, never within it. Not reentrant. */
  async at<T>(path: string, operation: () => Promise<T>): Promise<T> {
    const before = this.#places.get(path) ?? Promise.resolve();
    const done = before.then(operation);
    const tail = done.then(
      () => undefined,
      () => undefined,
    );
    this.#places.set(path, tail);
    try {
      return await done;
    } finally {
      if (this.#places.get(path) === tail) this.#places.delete(path);
    }
  }

  /** Operations that wait or run. */
  get pending(): number {
    return this.#waiting;
  }

  /**
   * Runs `operation` after all that were asked for before it. Rejects with `worktree/lock-timeout`, without having run
   * it, when it had to wait for longer than `waitMs`. Not reentrant.
   */
  async run<T>(
    what: string,
    operation: () => Promise<T>,
    waitMs: number = LIMITS.lockWaitMs,
  ): Promise<T> {
    const before = this.#tail;
    let release: () => void = () => undefined;
    const turn = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#tail = before.then(() => turn);
    this.#waiting += 1;
    try {
      await this.#waitFor(before, { what, waitMs });
      this.#holder = what;
      return await operation();
    } finally {
      this.#waiting -= 1;
      release();
    }
  }

  async #waitFor(before: Promise<void>, limit: { what: string; waitMs: number }): Promise<void> {
    const stop = new AbortController();
    const expired = this.#clock.sleep(limit.waitMs, stop.signal).then(
      () => true,
      () => false,
    );
    const late = await Promise.race([before.then(() => false), expired]);
    stop.abort();
    if (late) throw errors.lockTimeout(limit.what, this.#holder);
  }
}
