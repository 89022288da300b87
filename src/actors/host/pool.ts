/**
 * One-shot jobs on a bounded Piscina pool: for subagents. Parents that live long have threads of their own; a job that
 * waits for a job of its own holds no slot while it does, so nested ones never wait for each other's threads.
 *
 * Invariants: A1, A2, A3 of `host.ts`; at most `maxThreads` work and `maxQueue` wait, one more is refused by name of the
 * bound. Threads are used again, so an entry keeps no state between jobs.
 */

import type { ResourceLimits } from 'node:worker_threads';
import type { Piscina } from 'piscina';
import { ensureError } from '../../kernel/errors.ts';
import type { ActorStart } from '../../protocol/actor-wire.ts';
import type { ActorHandle, ActorHost, HostEvents, HostExit } from '../host.ts';
import { POOL_IDLE_MS, POOL_QUEUE_MAX, POOL_THREADS_MAX } from '../limits.ts';
import { crashOf } from './death.ts';
import { Link } from './link.ts';

export interface PoolHostOptions {
  /** Built JavaScript whose default export calls `serveJob`. */
  readonly entry: URL;
  readonly maxThreads?: number;
  /** Jobs that may wait for a thread. */
  readonly maxQueue?: number;
  readonly resourceLimits?: ResourceLimits;
  readonly env?: Readonly<Record<string, string>>;
  /** As of `ThreadHostOptions`. */
  readonly given?: unknown;
}

export class PoolHost implements ActorHost {
  readonly #options: PoolHostOptions;
  readonly #threadsMax: number;
  readonly #queueMax: number;
  readonly #running = new Set<Job>();
  /** Ours, not Piscina's: that one leaves its queue lying when a thread dies and no further job comes. */
  readonly #waiting = new Set<Job>();
  #pool: Promise<Piscina> | null = null;
  #closed = false;

  constructor(options: PoolHostOptions) {
    this.#options = options;
    this.#threadsMax = options.maxThreads ?? POOL_THREADS_MAX;
    this.#queueMax = options.maxQueue ?? POOL_QUEUE_MAX;
  }

  start(start: ActorStart, events: HostEvents): ActorHandle {
    const job: Job = new Job(start, {
      onRequests: (requests) => events.onRequests(requests),
      onExit: (outcome) => {
        events.onExit(outcome);
        this.#waiting.delete(job);
        this.#running.delete(job);
        this.#dispatch();
      },
    });
    const refusal = this.#refusal();
    if (refusal === null) {
      this.#waiting.add(job);
      this.#dispatch();
    } else {
      queueMicrotask(() => job.fail(refusal));
    }
    return job.handle;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#waiting, ...this.#running].map((job) => job.handle.kill()));
    const pool = await this.#pool?.catch(() => null);
    await pool?.destroy();
  }

  #dispatch(): void {
    for (const job of this.#waiting) {
      if (this.#working() >= this.#threadsMax || this.#closed) return;
      this.#waiting.delete(job);
      this.#running.add(job);
      this.#pool ??= this.#makePool();
      void job.runOn(this.#pool, this.#options.given);
    }
  }

  /** Jobs that hold a slot: all that run but those that wait for one of the others. */
  #working(): number {
    const idle = new Set<string>();
    for (const { awaitedBy } of this.#running) if (awaitedBy !== undefined) idle.add(awaitedBy);
    for (const { awaitedBy } of this.#waiting) if (awaitedBy !== undefined) idle.add(awaitedBy);
    let working = 0;
    for (const { name } of this.#running) if (!idle.has(name)) working += 1;
    return working;
  }

  #refusal(): HostExit | null {
    if (this.#closed) {
      return { kind: 'crashed', code: 'start-failed', message: 'The pool of subagents is closed' };
    }
    if (this.#working() < this.#threadsMax || this.#waiting.size < this.#queueMax) return null;
    return {
      kind: 'crashed',
      code: 'pool-full',
      message: `The pool of subagents is full: ${this.#threadsMax} run (bound maxThreads) and ${this.#queueMax} wait (bound maxQueue)`,
    };
  }

  /** Loaded with the first job: most runs have none. */
  async #makePool(): Promise<Piscina> {
    const { Piscina } = await import('piscina');
    const { entry, resourceLimits, env } = this.#options;
    const pool = new Piscina({
      filename: entry.href,
      minThreads: 0,
      // A slot is ours to give; threads of those that wait for a child come on top.
      maxThreads: this.#threadsMax + this.#queueMax,
      idleTimeout: POOL_IDLE_MS,
      atomics: 'disabled',
      ...(resourceLimits === undefined ? {} : { resourceLimits }),
      ...(env === undefined ? {} : { env: { ...env } }),
    });
    // An entry that can't be loaded settles no run and is told here alone; without a listener it ends the process.
    pool.on('error', (error: unknown) => {
      for (const job of this.#running) job.lose(error);
    });
    return pool;
  }
}

class Job {
  readonly handle: ActorHandle;
  readonly name: string;
  readonly awaitedBy: string | undefined;
  readonly #link: Link;
  readonly #start: ActorStart;
  readonly #abort = new AbortController();
  #submitted = false;

  constructor(start: ActorStart, events: HostEvents) {
    this.#start = start;
    this.name = start.name;
    this.awaitedBy = start.awaitedBy;
    const link = new Link({ start, events, force: () => this.#force(), after: afterReal });
    this.#link = link;
    this.handle = {
      post: (messages) => link.post(messages),
      interrupt: () => link.interrupt(),
      // A job that still waits for a thread has nobody to ask.
      stop: (graceMs) => (link.started ? link.stop(graceMs) : link.kill()),
      kill: () => link.kill(),
      heartbeat: () => link.heartbeat(),
    };
  }

  async runOn(opening: Promise<Piscina>, given: unknown): Promise<void> {
    const { far, calls } = this.#link;
    this.#submitted = true;
    // The call waits in the port until the job has a thread; how the job ends is told by its promise.
    calls.start(this.#start).catch(() => {});
    try {
      const pool = await opening;
      const ended: unknown = await pool.run(
        { ...far, given },
        {
          transferList: [far.control, far.data],
          signal: this.#abort.signal,
        },
      );
      this.#link.exit(ended as HostExit);
    } catch (error) {
      if (this.#link.forced) {
        // Rejected at once; the thread is gone a moment later, and takes its ports along.
        await this.#link.farClosed();
        this.#link.exit({ kind: 'killed' });
      } else {
        this.lose(error);
      }
    }
  }

  /** The thread died under it. */
  lose(error: unknown): void {
    this.fail(crashOf({ error: ensureError(error), exitCode: null }, this.#link.started));
  }

  fail(outcome: HostExit): void {
    this.#link.exit(outcome);
    // Takes it away from a pool that can't run it.
    this.#abort.abort();
    this.#link.far.control.close();
    this.#link.far.data.close();
  }

  #force(): void {
    if (this.#submitted) this.#abort.abort();
    else this.fail({ kind: 'killed' });
  }
}

function afterReal(ms: number, action: () => void): () => void {
  const timer = setTimeout(action, ms);
  return () => clearTimeout(timer);
}
