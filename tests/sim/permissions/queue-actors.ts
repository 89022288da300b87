/**
 * Actors of the simulated queue: each takes the letter of its task, makes the calls of its plan, a few at once, and ends its
 * task. In a new incarnation it goes on as an agent does: calls that wait for a person are made again, others are closed.
 */
import { setMaxListeners } from 'node:events';
import type { ActorPort, ActorRun } from '../../../src/actors/index.ts';
import { asCallId } from '../../../src/kernel/index.ts';
import {
  type ActorReply,
  type ActorRequest,
  type ActorStart,
  type ContentBlock,
  type Envelope,
  mailItem,
  NO_USAGE,
} from '../../../src/protocol/index.ts';
import type { Fact, SimCall } from './queue-facts.ts';

export interface QueueActors {
  readonly facts: Fact[];
  readonly plans: ReadonlyMap<string, readonly (readonly SimCall[])[]>;
  /** Calls of the last answer that have no result on record. */
  readonly openCalls: (name: string) => readonly string[];
  /** Whether an answer with this call is on record. */
  readonly wasSaid: (call: string) => boolean;
  readonly hasTask: (name: string) => boolean;
  readonly isSwapped: () => boolean;
  /** Aborted: the thread dies. */
  readonly deathOf: (name: string) => AbortSignal;
}

export function queueRun(world: QueueActors): ActorRun {
  return async (start, port, signal) => {
    await new QueueActor(world, start, port, eitherOf(signal, world.deathOf(start.name))).live();
  };
}

class QueueActor {
  readonly #world: QueueActors;
  readonly #start: ActorStart;
  readonly #port: ActorPort;
  readonly #signal: AbortSignal;
  readonly #over: Promise<never>;

  constructor(world: QueueActors, start: ActorStart, port: ActorPort, signal: AbortSignal) {
    this.#world = world;
    this.#start = start;
    this.#port = port;
    this.#signal = signal;
    this.#over = new Promise((_, reject) => {
      const end = (): void => reject(new Error('its thread has ended'));
      if (signal.aborted) end();
      signal.addEventListener('abort', end, { once: true });
    });
    this.#over.catch(() => undefined);
  }

  async live(): Promise<void> {
    await this.#goOn();
    for (;;) {
      while (this.#nextTurn() !== null && this.#world.hasTask(this.#start.name))
        await this.#turn([]);
      await Promise.race([this.#port.waitForMail(this.#signal), this.#over]);
      await this.#turn(this.#port.takeMail());
      if (this.#nextTurn() === null) await this.#ask({ type: 'idle', why: 'end' });
    }
  }

  /** As `closeDangling` of the agent. */
  async #goOn(): Promise<void> {
    const asked: ReadonlySet<string> = new Set(this.#start.asked ?? []);
    const open = this.#world.openCalls(this.#start.name);
    const from = open.findIndex((call) => asked.has(call));
    const over = from < 0 ? open : open.slice(0, from);
    for (const call of over) await this.#close(call, 'interrupted; effects unknown');
    if (from >= 0) await this.#perform(open.slice(from).map((call) => this.#callOf(call)));
  }

  #callOf(id: string): SimCall | null {
    const plan = this.#world.plans.get(this.#start.name) ?? [];
    return plan.flat().find((call) => call.id === id) ?? null;
  }

  #nextTurn(): readonly SimCall[] | null {
    const plan = this.#world.plans.get(this.#start.name) ?? [];
    return plan.find(([first]) => first !== undefined && !this.#world.wasSaid(first.id)) ?? null;
  }

  async #turn(mail: readonly Envelope[]): Promise<void> {
    const { name } = this.#start;
    const took = mail.map(({ n }) => n);
    await this.#ask({ type: 'delivered', n: took });
    const calls = this.#world.hasTask(name) ? this.#nextTurn() : [];
    const done = asCallId(`${name}.done.${this.#start.incarnation}.${took[0] ?? 0}`);
    const ends = calls === null && this.#world.hasTask(name) && !this.#world.wasSaid(done);
    const said = [
      ...(calls ?? []),
      ...(ends ? [{ id: done, tool: 'complete_task', input: {} }] : []),
    ];
    const content: ContentBlock[] = said.map(({ id, tool, input }) => ({
      type: 'call',
      id: asCallId(id),
      name: tool,
      input,
    }));
    const stop = content.length === 0 ? 'end' : 'calls';
    await this.#ask({
      type: 'answer',
      took,
      entries: [
        ...(mail.length === 0 ? [] : [{ type: 'mail' as const, items: mail.map(mailItem) }]),
        { type: 'answer', task: null, model: 'sim', content, stop, usage: NO_USAGE },
      ],
      usage: NO_USAGE,
    });
    await this.#perform(calls ?? []);
    if (!ends) return;
    const input = { summary: 'done' };
    await this.#ask({ type: 'act', call: done, tool: 'complete_task', input });
  }

  /** One after the other, but for what only reads: such calls that follow each other are made at once (as `nextBatch`). */
  async #perform(calls: readonly (SimCall | null)[]): Promise<void> {
    let reads: Promise<void>[] = [];
    for (const call of calls) {
      if (call?.tool === 'read_file') reads.push(this.#one(call));
      else {
        await Promise.all(reads);
        reads = [];
        if (call !== null) await this.#one(call);
      }
    }
    await Promise.all(reads);
  }

  async #one(call: SimCall): Promise<void> {
    const { facts } = this.#world;
    const { id, tool, input } = call;
    facts.push({ type: 'requested', call: id });
    if (tool === 'bash') {
      const reply = await this.#ask({ type: 'act', call: asCallId(id), tool, input });
      if (reply.type !== 'acted') await this.#close(id, 'refused');
      return;
    }
    let listening = (): void => undefined;
    const interrupted = new Promise<null>((resolve) => {
      listening = this.#port.onInterrupt(() => resolve(null));
    });
    const asked = this.#ask({ type: 'permit', call: asCallId(id), tool, input });
    const reply = await Promise.race([asked, interrupted]);
    listening();
    if (reply?.type === 'permitted' && tool === 'write_file') {
      facts.push({ type: 'permitted', call: id, swapped: this.#world.isSwapped() });
    }
    await this.#close(id, reply?.type ?? 'interrupted');
  }

  async #close(call: string, text: string): Promise<void> {
    const ok = text === 'permitted';
    const entry = { type: 'result', call: asCallId(call), tool: 'bash', ok, text } as const;
    await this.#ask({ type: 'result', entries: [entry] });
  }

  #ask(request: ActorRequest): Promise<ActorReply> {
    const asked = this.#port.request(request);
    asked.catch(() => undefined);
    return Promise.race([asked, this.#over]);
  }
}

function eitherOf(one: AbortSignal, other: AbortSignal): AbortSignal {
  const either = AbortSignal.any([one, other]);
  // All calls of an actor wait for it.
  setMaxListeners(0, either);
  return either;
}
