/**
 * The thread's side of `link.ts`: what an entry calls to run one actor. Entries are composition roots; they hand in what
 * to run and the clock that the heartbeat follows.
 */
import { setImmediate } from 'node:timers';
import { workerData } from 'node:worker_threads';
import type { Clock } from '../../kernel/ports.ts';
import type { ActorStart } from '../../protocol/actor-wire.ts';
import { errors } from '../errors.ts';
import type { HostExit } from '../host.ts';
import { HEARTBEAT_MS } from '../limits.ts';
import { type ActorWire, makeActorWire } from '../wire/port.ts';
import { type ActorRun, runToEnd } from '../wire/run.ts';
import { exposeControl } from './control.ts';
import { drainPort, watchPort } from './drain.ts';
import { type FarEnd, WORD } from './link.ts';

export interface ServeOptions {
  readonly run: ActorRun;
  readonly clock: Pick<Clock, 'sleep'>;
  /** What `inspect` tells; default null. */
  readonly inspect?: () => unknown;
}

/** Serves the thread that this is called in, to its end. */
export async function serveThread(options: ServeOptions): Promise<void> {
  await serveJob(workerData as FarEnd, options);
}

/** Serves one pool job; the value is what the pool's promise resolves with. */
export function serveJob(far: FarEnd, options: ServeOptions): Promise<HostExit> {
  const { promise, resolve } = whenEnded();
  const activation = new Activation(far, options);
  exposeControl(
    {
      start: async (start) => {
        const ended = await activation.run(start);
        resolve(ended);
        return ended;
      },
      interrupt: () => activation.noticeInterrupt(),
      stop: () => activation.stop(),
      inspect: () => options.inspect?.() ?? null,
    },
    far.control,
  );
  Atomics.store(far.words, WORD.started, 1);
  return promise;
}

function whenEnded(): { promise: Promise<HostExit>; resolve: (ended: HostExit) => void } {
  let resolve: (ended: HostExit) => void = () => {};
  const promise = new Promise<HostExit>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

class Activation {
  readonly #far: FarEnd;
  readonly #options: ServeOptions;
  readonly #stopping = new AbortController();
  #wire: ActorWire | null = null;
  #name = 'this actor';
  #interruptsSeen = 0;

  constructor(far: FarEnd, options: ServeOptions) {
    this.#far = far;
    this.#options = options;
  }

  async run(start: ActorStart): Promise<HostExit> {
    const { data } = this.#far;
    this.#name = start.name;
    const wire = makeActorWire({
      send: (text) => {
        this.#beat();
        data.postMessage(text);
      },
      workplace: start.workplace,
      beforeRead: () => this.#catchUp(),
      beforeSend: () => this.noticeInterrupt(),
      // Under load several pieces of an answer wait in this thread: they cost one post and one look at it.
      defer: (flush) => void setImmediate(flush),
    });
    this.#wire = wire;
    watchPort(data);
    data.on('message', (text: string) => {
      this.#beat();
      wire.receive(text);
    });
    const ended = new AbortController();
    void this.#beatUntil(ended.signal);
    const { given } = this.#far;
    const run: ActorRun = (...what) => this.#options.run(what[0], what[1], what[2], given);
    const outcome = await runToEnd(run, start, wire.port, this.#stopping.signal);
    ended.abort();
    wire.flush();
    wire.close(errors.gone(start.name));
    return outcome;
  }

  stop(): void {
    this.#stopping.abort(errors.stopped(this.#name));
  }

  /** Told by a call, and seen in the shared word by code that is too busy for calls; each interrupt counts once. */
  noticeInterrupt(): void {
    const count = Atomics.load(this.#far.words, WORD.interrupts);
    if (count === this.#interruptsSeen || this.#wire === null) return;
    this.#interruptsSeen = count;
    // An interrupt must not overtake the mail that it is about (A6).
    drainPort(this.#far.data, this.#wire.receive);
    this.#wire.interrupt();
  }

  /** Who takes its mail now has no need to be interrupted for it: handlers are not called. */
  #catchUp(): void {
    const count = Atomics.load(this.#far.words, WORD.interrupts);
    this.#beat();
    if (this.#wire !== null) drainPort(this.#far.data, this.#wire.receive);
    this.#interruptsSeen = count;
  }

  #beat(): void {
    Atomics.add(this.#far.words, WORD.beats, 1);
  }

  async #beatUntil(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#beat();
      this.noticeInterrupt();
      await this.#options.clock.sleep(HEARTBEAT_MS, signal).catch(() => {});
    }
  }
}
