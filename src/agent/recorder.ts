/**
 * The agent's line to the supervisor: what was recorded is added to the conversation in the same breath, what was
 * refused ends the agent.
 *
 * Invariants
 * - L8 The conversation holds exactly what the journal holds, large parts whole (M8): nothing is added before its record
 *   is confirmed.
 */
import { type Clock, fromErrorShape, invariant, isoTime } from '../kernel/index.ts';
import type {
  ActorReply,
  ActorRequest,
  AnswerStep,
  LiveKind,
  SessionEntry,
} from '../protocol/index.ts';
import { mailByReference } from '../sessions/index.ts';
import type { Conversation } from './conversation.ts';
import { abortable } from './interrupts.ts';
import type { AgentPort } from './port.ts';

export type ResultEntry = Extract<SessionEntry, { type: 'result' }>;

export class Recorder {
  readonly #port: AgentPort;
  readonly #clock: Clock;
  readonly #conversation: Conversation;
  readonly #stop: AbortSignal;

  constructor(options: {
    readonly port: AgentPort;
    readonly clock: Clock;
    readonly conversation: Conversation;
    readonly stop: AbortSignal;
  }) {
    this.#port = options.port;
    this.#clock = options.clock;
    this.#conversation = options.conversation;
    this.#stop = options.stop;
  }

  /** Rejects when the agent is stopped or the far side is gone. */
  request(request: ActorRequest): Promise<ActorReply> {
    return abortable(this.#port.request(request), this.#stop);
  }

  /** Rejects with the far side's error when it says no. */
  async note(request: ActorRequest): Promise<void> {
    const reply = await this.request(request);
    if (reply.type === 'failed') throw fromErrorShape(reply.error);
  }

  async commitAnswer(step: AnswerStep): Promise<void> {
    const entries = step.entries.map(mailByReference);
    await this.#commit({ ...step, entries }, step.entries);
  }

  /** Results in one record; nothing happens for none. */
  async commitResults(results: readonly ResultEntry[]): Promise<void> {
    if (results.length > 0) await this.#commit({ type: 'result', entries: results }, results);
  }

  /** What the supervisor has recorded itself. */
  keep(result: ResultEntry): void {
    this.#conversation.commit(this.#conversation.lastSeq, isoTime(this.#clock.now()), [result]);
  }

  /** For those who watch; nobody waits for it and nobody misses it. */
  live(event: LiveKind, data: string): void {
    this.#port.request({ type: 'live', event, data }).catch(() => undefined);
  }

  async #commit(request: ActorRequest, entries: readonly SessionEntry[]): Promise<void> {
    const reply = await this.request(request);
    if (reply.type === 'failed') throw fromErrorShape(reply.error);
    invariant(reply.type === 'committed', `L8: a step was answered with ${reply.type}`);
    this.#conversation.commit(reply.seq, isoTime(this.#clock.now()), entries);
  }
}
