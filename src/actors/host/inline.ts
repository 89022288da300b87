/**
 * Actors in the supervisor's own thread, over the same wire: strings through JSON, in batches. For simulation, and for
 * tests that want no threads. It can't end code that does not listen to its signal; it only stops listening to it.
 */
import type { Clock } from '../../kernel/ports.ts';
import type { ActorStart, Downward, Upward } from '../../protocol/actor-wire.ts';
import { errors } from '../errors.ts';
import type { ActorHandle, ActorHost, HostEvents, HostExit } from '../host.ts';
import { Batch } from '../wire/batch.ts';
import { type ActorWire, makeActorWire } from '../wire/port.ts';
import { type ActorRun, runToEnd } from '../wire/run.ts';

export interface InlineHostOptions {
  readonly run: ActorRun;
  /** For the grace of `stop`; without one a stop waits for the run's own end. */
  readonly clock?: Pick<Clock, 'sleep'>;
}

export class InlineHost implements ActorHost {
  readonly #options: InlineHostOptions;
  readonly #handles = new Set<ActorHandle>();
  #closed = false;

  constructor(options: InlineHostOptions) {
    this.#options = options;
  }

  start(start: ActorStart, events: HostEvents): ActorHandle {
    const actor = new InlineActor(this.#options, start, {
      onRequests: (requests) => events.onRequests(requests),
      onExit: (outcome) => {
        this.#handles.delete(actor);
        events.onExit(outcome);
      },
    });
    this.#handles.add(actor);
    if (this.#closed) void actor.kill();
    return actor;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#handles].map((handle) => handle.kill()));
  }
}

class InlineActor implements ActorHandle {
  readonly #options: InlineHostOptions;
  readonly #events: HostEvents;
  readonly #name: string;
  readonly #wire: ActorWire;
  readonly #batch: Batch<Downward>;
  readonly #stopping = new AbortController();
  readonly #gone: Promise<void>;
  #resolveGone: () => void = () => {};
  #beats = 0;
  #interrupts = 0;
  #interruptsSeen = 0;
  #exited = false;

  constructor(options: InlineHostOptions, start: ActorStart, events: HostEvents) {
    this.#options = options;
    this.#events = events;
    this.#name = start.name;
    this.#gone = new Promise((resolve) => {
      this.#resolveGone = resolve;
    });
    this.#wire = makeActorWire({
      send: (text) => this.#receive(text),
      workplace: start.workplace,
      beforeRead: () => {
        this.#batch.flush();
        this.#interruptsSeen = this.#interrupts;
      },
    });
    this.#batch = new Batch((text) => this.#wire.receive(text));
    queueMicrotask(() => void this.#run(start));
  }

  post(messages: readonly Downward[]): void {
    if (this.#exited) return;
    for (const message of messages) this.#batch.push(message);
  }

  interrupt(): void {
    if (this.#exited) return;
    this.#batch.flush();
    this.#interrupts += 1;
    // As over a port: the handlers do not run inside the supervisor's call, nor when the mail was taken meanwhile.
    queueMicrotask(() => {
      if (this.#interruptsSeen === this.#interrupts) return;
      this.#interruptsSeen = this.#interrupts;
      this.#wire.interrupt();
    });
  }

  async stop(graceMs: number): Promise<void> {
    if (this.#exited) return;
    this.#stopping.abort(errors.stopped(this.#name));
    const { clock } = this.#options;
    if (clock !== undefined) {
      const gone = new AbortController();
      void this.#gone.then(() => gone.abort());
      clock.sleep(graceMs, gone.signal).then(
        () => this.#exit({ kind: 'killed' }),
        () => {},
      );
    }
    await this.#gone;
  }

  async kill(): Promise<void> {
    this.#stopping.abort(errors.stopped(this.#name));
    this.#exit({ kind: 'killed' });
    await this.#gone;
  }

  heartbeat(): number {
    return this.#beats;
  }

  async #run(start: ActorStart): Promise<void> {
    if (this.#exited) return;
    // Through JSON, so that nothing is shared that a thread could not share.
    const copy = JSON.parse(JSON.stringify(start)) as ActorStart;
    const { port } = this.#wire;
    const ended = await runToEnd(this.#options.run, copy, port, this.#stopping.signal);
    this.#exit(ended);
  }

  #receive(text: string): void {
    this.#beats += 1;
    if (!this.#exited) this.#events.onRequests(JSON.parse(text) as Upward[]);
  }

  #exit(outcome: HostExit): void {
    if (this.#exited) return;
    this.#wire.flush();
    this.#exited = true;
    this.#wire.close(errors.gone(this.#name));
    this.#events.onExit(outcome);
    this.#resolveGone();
  }
}
