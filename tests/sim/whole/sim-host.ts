/**
 * Threads of one process's life: production wire and agent loop, in this thread. Some die, some are stuck and answer to
 * nothing but force, and what the dead had sent may come again, late.
 */
import {
  type ActorHandle,
  type ActorHost,
  type ActorPort,
  type HostEvents,
  InlineHost,
} from '../../../src/actors/index.ts';
import { runAgent } from '../../../src/agent/index.ts';
import type {
  ActorReply,
  ActorRequest,
  ActorStart,
  Downward,
  Upward,
} from '../../../src/protocol/index.ts';
import { readSession } from '../../../src/sessions/index.ts';
import type { MemoryFiles } from '../../../src/testing/memory-files.ts';
import type { SeededRandom } from '../../../src/testing/seeded-random.ts';
import type { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { MemoryOutputs } from '../../unit/tools/call.ts';
import { MemoryTree } from '../../unit/tools/memory-tree.ts';
import { DIRECTORY } from '../journal/explorer.ts';
import type { Fact } from '../permissions/queue-facts.ts';
import type { Life } from './life.ts';
import type { SimModel } from './sim-model.ts';

/** Requests that change something; of an incarnation that is over they must not. */
const LASTING: ReadonlySet<string> = new Set(['answer', 'result', 'act', 'permit']);
const LATE_MAX = 12;

interface Thread {
  readonly start: ActorStart;
  readonly death: AbortController;
  readonly events: HostEvents;
  readonly handle: ActorHandle;
  stuck: boolean;
}

export interface SimHostOptions {
  readonly clock: VirtualClock;
  readonly random: SeededRandom;
  readonly disk: MemoryFiles;
  readonly facts: Fact[];
  readonly model: SimModel;
}

export class SimHost implements ActorHost {
  /** By `NAME INCARNATION`; in one incarnation there is one thread at a time. */
  readonly threads: Map<string, Thread> = new Map();
  readonly #life: Life;
  readonly #options: SimHostOptions;
  readonly #inner: InlineHost;
  readonly #late: {
    readonly events: HostEvents;
    readonly batch: readonly Upward[];
    readonly of: string;
  }[] = [];

  constructor(life: Life, options: SimHostOptions) {
    this.#life = life;
    this.#options = options;
    this.#inner = new InlineHost({
      clock: options.clock,
      run: (start, port, signal) => this.#run(start, port, signal),
    });
  }

  start(start: ActorStart, events: HostEvents): ActorHandle {
    const of = `${start.name} ${start.incarnation}`;
    this.#life.checks.threadStarted(start, this.threads.has(of));
    const inner = this.#inner.start(start, {
      onRequests: (requests) => {
        const thread = this.threads.get(of);
        if (this.#life.isDead || thread?.stuck === true) return;
        this.#keep({
          events,
          batch: requests.filter(({ request }) => LASTING.has(request.type)),
          of,
        });
        events.onRequests(requests);
      },
      onExit: (exit) => {
        if (this.#life.isDead) return;
        this.threads.delete(of);
        events.onExit(exit);
      },
    });
    const thread: Thread = {
      start,
      death: new AbortController(),
      events,
      handle: inner,
      stuck: false,
    };
    this.threads.set(of, thread);
    return {
      post: (messages: readonly Downward[]) => inner.post(messages),
      interrupt: () => inner.interrupt(),
      stop: async (graceMs) => {
        if (thread.stuck) await this.#options.clock.sleep(graceMs);
        await (thread.stuck ? inner.kill() : inner.stop(graceMs));
      },
      kill: () => inner.kill(),
      // A stuck one is told by a counter that stands still.
      heartbeat: () => (thread.stuck ? 0 : 1 + Math.floor(this.#options.clock.monotonicMs())),
    };
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  names(): string[] {
    return [...this.threads.values()].map(({ start }) => start.name);
  }

  die(): string | null {
    const thread = this.#options.random.pick([...this.threads.values()]);
    thread?.death.abort(new Error('killed by the simulation'));
    return thread?.start.name ?? null;
  }

  stick(): string | null {
    const thread = this.#options.random.pick([...this.threads.values()]);
    if (thread !== undefined) thread.stuck = true;
    return thread?.start.name ?? null;
  }

  /** What a thread that is gone had sent comes once more. */
  repeat(): string | null {
    const gone = this.#late.filter(({ of }) => !this.threads.has(of));
    const late = this.#options.random.pick(gone);
    late?.events.onRequests(late.batch.map((one) => ({ ...one, id: one.id + 10_000 })));
    return late?.of ?? null;
  }

  /** The end of a thread is told twice. */
  exitAgain(): string | null {
    const late = this.#options.random.pick(this.#late);
    if (late === undefined || this.threads.has(late.of)) return null;
    late.events.onExit({ kind: 'crashed', code: 'uncaught', message: 'told twice' });
    return late.of;
  }

  #keep(late: {
    readonly events: HostEvents;
    readonly batch: readonly Upward[];
    readonly of: string;
  }): void {
    if (late.batch.length === 0) return;
    this.#late.push(late);
    if (this.#late.length > LATE_MAX) this.#late.shift();
  }

  async #run(
    start: ActorStart,
    port: ActorPort,
    stop: AbortSignal,
  ): Promise<undefined | { kind: 'finished'; text: string }> {
    const { clock, disk, model } = this.#options;
    const death = this.threads.get(`${start.name} ${start.incarnation}`)?.death.signal;
    const killed = new Promise<never>((_, reject) => {
      death?.addEventListener('abort', () => reject(new Error('killed by the simulation')), {
        once: true,
      });
    });
    const signal = death === undefined ? stop : AbortSignal.any([stop, death]);
    const entries = await readSession({
      files: disk,
      directory: DIRECTORY,
      actor: start.name,
      upTo: start.upToSeq,
      from: start.fromSeq,
    });
    const work = runAgent(
      {
        start,
        port: this.#watched(port),
        provider: model.provider(start),
        model: 'sim',
        clock,
        entries,
        treeAt: (root) => this.#treeAt(root),
        outputs: new MemoryOutputs(),
        limitWork: (run) => {
          run();
          return true;
        },
      },
      signal,
    );
    const end = await Promise.race([work, killed]);
    if (end.kind === 'finished') return end;
    if (end.kind === 'stuck') throw new Error(end.message);
    if (end.kind === 'failed') throw new Error(end.error.message);
    return undefined;
  }

  #treeAt(root: string): MemoryTree {
    const disk = this.#life.outside.repo.trees.get(root)?.disk ?? new MemoryTree({}, root);
    const life = this.#life;
    return new Proxy(disk, {
      get: (target, key) => {
        if (key !== 'write') {
          const value: unknown = Reflect.get(target, key);
          return typeof value === 'function' ? (value as () => unknown).bind(target) : value;
        }
        return async (path: string, bytes: Uint8Array): Promise<void> => {
          await life.alive();
          life.checks.written(root);
          await target.write(path, bytes);
        };
      },
    });
  }

  /** What is asked for, and what may be written, are facts. */
  #watched(port: ActorPort): ActorPort {
    const { facts } = this.#options;
    const request = async (asked: ActorRequest): Promise<ActorReply> => {
      if (asked.type === 'permit' || asked.type === 'act')
        facts.push({ type: 'requested', call: asked.call });
      const reply = await port.request(asked);
      const may =
        asked.type === 'permit' && reply.type === 'permitted' && asked.tool === 'write_file';
      if (may && !this.#life.isDead)
        facts.push({ type: 'permitted', call: asked.call, swapped: false });
      return reply;
    };
    return {
      request,
      takeMail: () => port.takeMail(),
      takeCompaction: () => port.takeCompaction(),
      waitForMail: (signal) => port.waitForMail(signal),
      onInterrupt: (handler) => port.onInterrupt(handler),
      workplace: () => port.workplace(),
      rules: () => port.rules(),
    };
  }
}
