/**
 * The supervisor's end of one thread or pool job: its two ports and shared words, batches both ways, and the one exit.
 * `thread.ts` and `pool.ts` own what runs at the other end.
 *
 * Invariants
 * - A1 `onExit` comes once, after everything that the thread posted before it ended.
 * - A2 Nothing here throws; after the exit everything is a no-op.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { ActorStart, Downward, Upward } from '../../protocol/actor-wire.ts';
import { errors } from '../errors.ts';
import type { ActorHandle, HostEvents, HostExit } from '../host.ts';
import { FORCE_DEADLINE_MS } from '../limits.ts';
import { Batch } from '../wire/batch.ts';
import { type ControlCalls, type GuardedControl, wrapControl } from './control.ts';
import { drainPort, watchPort } from './drain.ts';

/** What travels to the thread; both ports go into the transfer list. */
export interface FarEnd {
  readonly control: MessagePort;
  readonly data: MessagePort;
  readonly words: Int32Array;
  /** What the host gives its threads besides each start: never part of a start, so never recorded. */
  readonly given?: unknown;
}

/** Indexes in `words`. */
export const WORD = { interrupts: 0, beats: 1, started: 2 } as const;

export interface LinkOptions {
  readonly start: ActorStart;
  readonly events: HostEvents;
  /** Ends the thread or job from outside; its end is then told by `exit`. */
  readonly force: () => void;
  readonly after: (ms: number, action: () => void) => () => void;
}

export class Link implements ActorHandle {
  readonly far: FarEnd;
  readonly #options: LinkOptions;
  readonly #data: MessagePort;
  readonly #words: Int32Array;
  readonly #control: GuardedControl;
  readonly #batch: Batch<Downward>;
  readonly #gone: Promise<void>;
  #resolveGone: () => void = () => {};
  #exited = false;
  #forced = false;
  #graceMs = Number.POSITIVE_INFINITY;
  #cancelGrace: () => void = () => {};

  constructor(options: LinkOptions) {
    this.#options = options;
    const control = new MessageChannel();
    const data = new MessageChannel();
    this.#data = data.port1;
    this.#words = new Int32Array(new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT));
    this.far = { control: control.port2, data: data.port2, words: this.#words };
    this.#control = wrapControl(control.port1);
    this.#batch = new Batch((text) => this.#data.postMessage(text));
    this.#gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
    watchPort(this.#data);
    this.#data.on('message', (text: string) => this.#receive(text));
  }

  /** Calls into the thread; they reject at once when it is gone (A3). */
  get calls(): ControlCalls {
    return this.#control.calls;
  }

  /** True when the end was brought about from outside. */
  get forced(): boolean {
    return this.#forced;
  }

  /** True once the entry was loaded and serves. */
  get started(): boolean {
    return Atomics.load(this.#words, WORD.started) === 1;
  }

  post(messages: readonly Downward[]): void {
    if (this.#exited) return;
    for (const message of messages) this.#batch.push(message);
  }

  interrupt(): void {
    if (this.#exited) return;
    this.#batch.flush();
    Atomics.add(this.#words, WORD.interrupts, 1);
    this.calls.interrupt().catch(ignoreGone);
  }

  stop(graceMs: number): Promise<void> {
    if (this.#exited || this.#forced) return this.#goneInTime();
    if (graceMs <= 0) return this.kill();
    if (graceMs < this.#graceMs) {
      if (this.#graceMs === Number.POSITIVE_INFINITY) this.calls.stop().catch(ignoreGone);
      this.#graceMs = graceMs;
      this.#cancelGrace();
      this.#cancelGrace = this.#options.after(graceMs, () => this.#force());
    }
    return this.#goneInTime(graceMs);
  }

  kill(): Promise<void> {
    this.#force();
    return this.#goneInTime();
  }

  heartbeat(): number {
    return Atomics.load(this.#words, WORD.beats);
  }

  /** The thread or job is gone. The first outcome stands. */
  exit(outcome: HostExit): void {
    if (this.#exited) return;
    this.drain();
    this.#exited = true;
    this.#cancelGrace();
    this.#data.close();
    this.#control.end(errors.gone(this.#options.start.name));
    this.#options.events.onExit(outcome);
    this.#resolveGone();
  }

  /** Resolves when the far end of the data port is gone, which a dying thread takes with it. */
  farClosed(): Promise<void> {
    return new Promise((resolve) => {
      this.#data.once('close', () => resolve());
      // No-ops for ports that went to the thread; those that never left close their other half.
      this.far.data.close();
      this.far.control.close();
    });
  }

  /** Hands over what the thread posted and the loop has not brought yet. */
  drain(): void {
    if (!this.#exited) drainPort(this.#data, (text) => this.#receive(text));
  }

  #receive(text: string): void {
    if (!this.#exited) this.#options.events.onRequests(JSON.parse(text) as Upward[]);
  }

  #force(): void {
    if (this.#exited || this.#forced) return;
    this.#forced = true;
    this.#cancelGrace();
    this.#options.force();
  }

  async #goneInTime(graceMs = 0): Promise<void> {
    const waitMs = graceMs + FORCE_DEADLINE_MS;
    const name = this.#options.start.name;
    let cancel: () => void = () => {};
    const late = new Promise<never>((_resolve, reject) => {
      cancel = this.#options.after(waitMs, () => reject(errors.stuck(name, FORCE_DEADLINE_MS)));
    });
    try {
      await Promise.race([this.#gone, late]);
    } finally {
      cancel();
    }
  }
}

/** The exit says what happened; a call that was cut short by it has nothing to add. */
function ignoreGone(): void {}
