/**
 * Actors of the simulated run: they take mail in with an answer, and forward what asks for it by a call. A letter says
 * what is to be done with it: `keep ID`, `forward NAME ID`, `die ID` (the first time that it is given).
 */
import {
  type ActorHandle,
  type ActorHost,
  type ActorPort,
  type HostEvents,
  InlineHost,
} from '../../../src/actors/index.ts';
import { asCallId, type CallId } from '../../../src/kernel/index.ts';
import {
  type ActorReply,
  type ActorStart,
  type AnswerStep,
  type ContentBlock,
  type Envelope,
  mailItem,
  NO_USAGE,
} from '../../../src/protocol/index.ts';
import { type Fact, isWhole, textOf } from './mail-facts.ts';

export interface ActorWorld {
  readonly facts: Fact[];
  /** Calls of the actor's last answer that have no result on record. */
  readonly openCalls: (name: string) => readonly CallId[];
}

type Asks = Pick<ActorPort, 'request'>;

/** Which model answered; so that an answer of an incarnation that is over can be told from the present one's. */
export const modelOf = (incarnation: number): string => `sim-${incarnation}`;

/** `ID>TO`: a call says whom the letter is forwarded to. */
const callOf = (id: string, to: string): CallId => asCallId(`${id}>${to}`);

/** What a forwarded letter says. */
const forwarded = (id: string): string => textOf(`keep fwd-${id}`, id);

/** An inline host that also has an ended incarnation speak once more when the next one has started. */
export class SimHost implements ActorHost {
  readonly #world: ActorWorld;
  readonly #inner: InlineHost;
  readonly #late: Map<string, { step: AnswerStep; events: HostEvents | null }> = new Map();

  constructor(world: ActorWorld) {
    this.#world = world;
    this.#inner = new InlineHost({ run: (start, port, signal) => this.#run(start, port, signal) });
  }

  start(start: ActorStart, events: HostEvents): ActorHandle {
    const late = this.#late.get(start.name);
    if (late?.events != null) {
      this.#late.delete(start.name);
      const { step, events: old } = late;
      queueMicrotask(() => {
        this.#world.facts.push({ type: 'late', actor: start.name });
        old.onRequests([{ id: 1_000_000, request: step }]);
      });
    }
    const handle = this.#inner.start(start, {
      onRequests: (requests) => events.onRequests(requests),
      onExit: (exit) => {
        const known = this.#late.get(start.name);
        if (known !== undefined) known.events = events;
        events.onExit(exit);
      },
    });
    return handle;
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  async #run(start: ActorStart, port: ActorPort, signal: AbortSignal): Promise<void> {
    const asks = untilStopped(port, signal);
    for (const call of this.#world.openCalls(start.name)) await this.#act(start, asks, call);
    for (;;) {
      await port.waitForMail(signal);
      const mail = port.takeMail();
      if (!(await this.#answer(start, asks, mail))) return;
      await asks.request({ type: 'idle', why: 'end' });
    }
  }

  /** False when this incarnation is over. */
  async #answer(start: ActorStart, port: Asks, mail: readonly Envelope[]): Promise<boolean> {
    const { facts } = this.#world;
    const dies = mail.some(({ id, body }) => body.text.startsWith('die') && !wasGiven(facts, id));
    for (const { n, id, from, lane, body } of mail) {
      const { name: to, incarnation } = start;
      // A notice of the supervisor only quotes how a letter began.
      const whole = from === 'supervisor' || isWhole(body.text);
      facts.push({ type: 'given', to, incarnation, n, id, from, lane, whole });
    }
    const took = mail.map(({ n }) => n);
    await port.request({ type: 'delivered', n: took });
    const calls = mail.flatMap(({ id, body }) => {
      const [verb, to] = body.text.split(' ');
      return verb === 'forward' && to !== undefined ? [callOf(id, to)] : [];
    });
    const step = answerStep(start, mail, calls);
    if (dies) {
      this.#late.set(start.name, { step, events: null });
      throw new Error('told to die');
    }
    const reply = await port.request(step);
    if (reply.type !== 'committed') return false;
    facts.push({ type: 'committed', actor: start.name, took, seq: reply.seq });
    for (const call of calls) await this.#act(start, port, call);
    return true;
  }

  async #act(start: ActorStart, port: Asks, call: CallId): Promise<ActorReply> {
    const [id = '', to = ''] = call.split('>');
    const input = { to, text: forwarded(id) };
    const reply = await port.request({ type: 'act', call, tool: 'send_message', input });
    const ok = reply.type === 'acted' && reply.result.ok;
    this.#world.facts.push({ type: 'acted', actor: start.name, call, ok });
    return reply;
  }
}

/** On a full disk a last result is held back: who waits for it ends with its stop, as an agent does. */
function untilStopped(port: Asks, signal: AbortSignal): Asks {
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('stopped')), { once: true });
  });
  stopped.catch(() => undefined);
  return { request: (request) => Promise.race([port.request(request), stopped]) };
}

function wasGiven(facts: readonly Fact[], id: string): boolean {
  return facts.some((fact) => fact.type === 'given' && fact.id === id);
}

function answerStep(
  start: ActorStart,
  mail: readonly Envelope[],
  calls: readonly CallId[],
): AnswerStep {
  const content: ContentBlock[] = calls.map((id) => ({
    type: 'call',
    id,
    name: 'send_message',
    input: {},
  }));
  return {
    type: 'answer',
    took: mail.map(({ n }) => n),
    entries: [
      { type: 'mail', items: mail.map(mailItem) },
      {
        type: 'answer',
        task: null,
        model: modelOf(start.incarnation),
        content,
        stop: calls.length === 0 ? 'end' : 'calls',
        usage: NO_USAGE,
      },
    ],
    usage: NO_USAGE,
  };
}
