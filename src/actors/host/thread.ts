/**
 * One actor, one worker thread: for the lead and teammates.
 *
 * Invariants: A1, A2, A3 of `host.ts`; no port, listener or timer of an actor outlives its thread.
 */
import { type ResourceLimits, Worker } from 'node:worker_threads';
import { ensureError } from '../../kernel/errors.ts';
import type { ActorStart } from '../../protocol/actor-wire.ts';
import type { ActorHandle, ActorHost, HostEvents, HostExit } from '../host.ts';
import type { ControlCalls } from './control.ts';
import { crashOf, type Death } from './death.ts';
import { Link } from './link.ts';

export interface ThreadHostOptions {
  /** Built JavaScript that calls `serveThread`. */
  readonly entry: URL;
  /** Heap limits of one thread; memory outside the heap (buffers) is not counted by Node. */
  readonly resourceLimits?: ResourceLimits;
  /** The environment of the threads; default: a copy of this process's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Handed to each run beside its start, as a copy: keys of providers, which no record may hold. */
  readonly given?: unknown;
}

export interface ThreadHandle extends ActorHandle {
  /** What the entry's `inspect` tells; rejects with `actors/gone` when the thread is gone. */
  inspect(): Promise<unknown>;
}

export class ThreadHost implements ActorHost {
  readonly #options: ThreadHostOptions;
  readonly #handles = new Set<ThreadHandle>();
  #closed = false;

  constructor(options: ThreadHostOptions) {
    this.#options = options;
  }

  start(start: ActorStart, events: HostEvents): ThreadHandle {
    const thread = new ActorThread(this.#options, start, {
      onRequests: (requests) => events.onRequests(requests),
      onExit: (outcome) => {
        this.#handles.delete(thread);
        events.onExit(outcome);
      },
    });
    this.#handles.add(thread);
    if (this.#closed) void thread.kill();
    return thread;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#handles].map((handle) => handle.kill()));
  }
}

class ActorThread implements ThreadHandle {
  readonly #link: Link;
  #worker: Worker | null = null;
  /** How its run ended, when it got so far. */
  #ended: HostExit | null = null;
  #death: Death = { error: null, exitCode: null };

  constructor(options: ThreadHostOptions, start: ActorStart, events: HostEvents) {
    this.#link = new Link({
      start,
      events,
      force: () => this.#terminate(),
      after: afterReal,
    });
    try {
      this.#worker = this.#launch(options, start);
    } catch (error) {
      const { message } = ensureError(error);
      queueMicrotask(() => this.#link.exit({ kind: 'crashed', code: 'start-failed', message }));
      return;
    }
    this.#link.calls.start(start).then(
      (ended) => {
        this.#ended = ended;
        this.#terminate();
      },
      // It died on the way; the exit tells how.
      () => {},
    );
  }

  post: ActorHandle['post'] = (messages) => this.#link.post(messages);
  interrupt: ActorHandle['interrupt'] = () => this.#link.interrupt();
  stop: ActorHandle['stop'] = (graceMs) => this.#link.stop(graceMs);
  kill: ActorHandle['kill'] = () => this.#link.kill();
  heartbeat: ActorHandle['heartbeat'] = () => this.#link.heartbeat();
  inspect: ControlCalls['inspect'] = () => this.#link.calls.inspect();

  #launch(options: ThreadHostOptions, start: ActorStart): Worker {
    const { far } = this.#link;
    const worker = new Worker(options.entry, {
      name: start.name,
      workerData: { ...far, given: options.given },
      transferList: [far.control, far.data],
      resourceLimits: {
        ...options.resourceLimits,
        ...(start.heapMb === undefined || options.resourceLimits !== undefined
          ? {}
          : { maxOldGenerationSizeMb: start.heapMb }),
      },
      ...(options.env === undefined ? {} : { env: { ...options.env } }),
    });
    worker.on('error', (error) => {
      this.#death = { ...this.#death, error: ensureError(error) };
    });
    worker.once('exit', (exitCode) => {
      this.#death = { ...this.#death, exitCode };
      this.#link.exit(this.#outcome());
    });
    return worker;
  }

  #outcome(): HostExit {
    if (this.#ended !== null) return this.#ended;
    if (this.#link.forced) return { kind: 'killed' };
    return crashOf(this.#death, this.#link.started);
  }

  #terminate(): void {
    // Resolves after 'exit', which is what is listened to; it does not reject.
    void this.#worker?.terminate();
  }
}

function afterReal(ms: number, action: () => void): () => void {
  const timer = setTimeout(action, ms);
  return () => clearTimeout(timer);
}
