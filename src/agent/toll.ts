/**
 * The agent's side of the way out: before a request it asks for leave, afterwards it says what came of it. What may be
 * spent is decided by the supervisor alone.
 *
 * Invariant: B1 each request that was let out is told of once: with its answer, or by `leave`.
 */
import { type Clock, fromErrorShape, invariant, type Random } from '../kernel/index.ts';
import {
  type ActorReply,
  type ActorRequest,
  NO_USAGE,
  type ProviderRequest,
  type Rate,
  type ReserveRequest,
  type SettleRequest,
  type Usage,
} from '../protocol/index.ts';
import { abortable } from './interrupts.ts';
import { INPUT_MARGIN } from './limits.ts';

export type Passage =
  | {
      readonly kind: 'go';
      readonly id: string;
      readonly maxTokens: number;
      readonly ahead: boolean;
      /** Its provider was not to be asked when it came. */
      readonly wasHeld: boolean;
    }
  | { readonly kind: 'held'; readonly ms: number; readonly text: string }
  | { readonly kind: 'spent'; readonly scope: string; readonly text: string }
  | { readonly kind: 'aborted' };

/** One request to one model. */
export interface Trip {
  /** `provider/model`. */
  readonly ref: string;
  readonly rate: Rate | null;
  readonly request: ProviderRequest;
  /** Tokens of it, as far as is known. */
  readonly input: number;
  readonly patient: boolean;
  /** See `ReserveRequest`. */
  readonly prefix?: string;
}

export interface TollOptions {
  readonly port: { request(request: ActorRequest): Promise<ActorReply> };
  readonly clock: Clock;
  readonly random: Random | undefined;
  /** Begins the ids of this incarnation's requests. */
  readonly prefix: string;
}

export class Toll {
  readonly #with: TollOptions;
  #count = 0;

  constructor(options: TollOptions) {
    this.#with = options;
  }

  /** Rejects when the far side is gone or says no. `turn`: see `ReserveRequest`. */
  async enter(trip: Trip, turn: number, signal: AbortSignal): Promise<Passage> {
    const { port, clock, random, prefix } = this.#with;
    this.#count += 1;
    const id = `${prefix}-${this.#count}`;
    const ask: ReserveRequest = {
      type: 'reserve',
      id,
      model: trip.ref,
      task: trip.request.task,
      input: Math.ceil(trip.input * INPUT_MARGIN),
      maxTokens: trip.request.maxTokens,
      rate: trip.rate,
      turn,
      patient: trip.patient,
      ...(trip.prefix === undefined ? {} : { prefix: trip.prefix }),
    };
    try {
      const reply = await abortable(port.request(ask), signal);
      const passage = passageOf(id, reply);
      if (reply.type === 'granted' && reply.spreadMs !== undefined && random !== undefined) {
        await clock.sleep(Math.round(random.next() * reply.spreadMs), signal);
      }
      return passage;
    } catch (error) {
      if (!signal.aborted) throw error;
      // It did not go out.
      this.leave({ id, trip, usage: NO_USAGE });
      return { kind: 'aborted' };
    }
  }

  /** Siblings wait for it. */
  begun(id: string): void {
    this.#with.port.request({ type: 'begun', id }).catch(() => undefined);
  }

  /** Nobody waits for the reply: what is not told is charged as a whole. */
  leave(end: {
    readonly id: string;
    readonly trip: Trip;
    readonly usage: Usage;
    readonly limited?: SettleRequest['limited'];
  }): void {
    const { id, trip, usage, limited } = end;
    const { ref: model, request } = trip;
    const settle: SettleRequest = {
      type: 'settle',
      id,
      model,
      task: request.task,
      usage,
      ...(limited === undefined ? {} : { limited }),
    };
    this.#with.port.request(settle).catch(() => undefined);
  }
}

function passageOf(id: string, reply: ActorReply): Passage {
  if (reply.type === 'granted') {
    const { maxTokens, spreadMs } = reply;
    return {
      kind: 'go',
      id,
      maxTokens,
      ahead: reply.ahead === true,
      wasHeld: spreadMs !== undefined,
    };
  }
  if (reply.type === 'held') return { kind: 'held', ms: reply.ms, text: reply.text };
  if (reply.type === 'failed') throw fromErrorShape(reply.error);
  invariant(reply.type === 'spent', `B1: leave to ask was answered with ${reply.type}`);
  return { kind: 'spent', scope: reply.scope, text: reply.text };
}

/** What a request without an answer has cost, as far as can be told: its input, and what came of the output. */
export function costOfNothing(trip: Trip, outputTokens: number): Usage {
  const { input, rate } = trip;
  const costUsd = rate === null ? 0 : (input * rate.input + outputTokens * rate.output) / 1_000_000;
  return { ...NO_USAGE, inputTokens: input, outputTokens, costUsd, estimated: true };
}
