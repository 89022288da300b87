/**
 * The turn loop: take in mail, build the request, stream the answer, record it, run its calls, again. It owns the order
 * of these; the supervisor owns what is durable, the provider how an answer is made, the tools what a call does.
 *
 * Invariants
 * - L1 Each request is legal for the API; open calls are closed by recorded results first.
 * - L11 An answer is recorded whole, with the mail that its request contained, or not at all; an aborted one leaves
 *   nothing and is asked for again.
 * - L12 Whatever keeps the agent from going on is told (`idle`, `stuck`) with its reason; nothing ends in silence.
 */
import { fromErrorShape, InvariantError, toErrorShape } from '../kernel/index.ts';
import type { ProviderRequest, SessionEntry, ToolSpec } from '../protocol/index.ts';
import { callsOf } from '../sessions/index.ts';
import { toolSpecs } from '../tools/index.ts';
import { type Answer, ask, Models } from './ask.ts';
import { type CallDeps, runCalls } from './calls.ts';
import { Compactor } from './compactor.ts';
import { Conversation, type Next } from './conversation.ts';
import { Interrupts } from './interrupts.ts';
import { SAME_CALLS_MAX } from './limits.ts';
import type { AgentDeps, AgentEnd } from './port.ts';
import { Recorder } from './recorder.ts';
import { closeDangling } from './recover.ts';
import { Surroundings } from './surroundings.ts';
import { Toll } from './toll.ts';
import type { Trouble } from './trouble.ts';

/** Ends by value; throws only on a broken invariant. A lead and teammates end with the signal alone. */
export async function runAgent(deps: AgentDeps, signal: AbortSignal): Promise<AgentEnd> {
  const agent = new Agent(deps, signal);
  const unsubscribe = deps.port.onInterrupt(() => {
    agent.interrupt();
  });
  try {
    return await agent.run();
  } catch (error) {
    if (error instanceof InvariantError) throw error;
    if (signal.aborted) return { kind: 'stopped' };
    return { kind: 'failed', error: toErrorShape(error) };
  } finally {
    unsubscribe();
  }
}

const OVERFLOW = 'providers/context-overflow';

class Agent {
  readonly #deps: AgentDeps;
  readonly #signal: AbortSignal;
  readonly #conversation: Conversation;
  readonly #interrupts: Interrupts;
  readonly #recorder: Recorder;
  readonly #calls: CallDeps;
  readonly #specs: readonly ToolSpec[];
  readonly #models: Models;
  readonly #toll: Toll;
  readonly #surroundings: Surroundings;
  readonly #compactor: Compactor;
  readonly #delivered = new Set<number>();
  /** Got stuck: only new mail sets it going again. */
  #parked = false;
  #announced: string | null = null;

  constructor(deps: AgentDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    const { start, port, clock, entries } = deps;
    this.#conversation = new Conversation({ kind: start.kind, prompt: start.prompt, entries });
    this.#interrupts = new Interrupts(signal);
    this.#recorder = new Recorder({ port, clock, conversation: this.#conversation, stop: signal });
    this.#calls = {
      deps,
      conversation: this.#conversation,
      recorder: this.#recorder,
      interrupts: this.#interrupts,
    };
    this.#surroundings = new Surroundings(deps);
    this.#specs = toolSpecs(start.tools);
    const { provider, model, rate = null, fallbacks = [] } = deps;
    this.#models = new Models([{ ref: start.model, provider, model, rate }, ...fallbacks]);
    const prefix = `${start.name}-${start.incarnation}-${start.epoch}`;
    this.#toll = new Toll({ port, clock, random: deps.random, prefix });
    this.#compactor = new Compactor({
      ...this.#calls,
      models: this.#models,
      toll: this.#toll,
      specs: this.#specs,
      system: () => this.#surroundings.system(port.workplace()),
    });
  }

  interrupt(): void {
    this.#interrupts.raise();
  }

  async run(): Promise<AgentEnd> {
    await closeDangling(this.#calls);
    for (;;) {
      this.#signal.throwIfAborted();
      this.#takeIn();
      await this.#compactor.whenAsked(this.#parked || this.#announced !== null);
      const next = this.#next();
      if (next.kind === 'answered' && this.#deps.start.kind === 'subagent') {
        return { kind: 'finished', text: next.text };
      }
      if (next.kind !== 'ask') {
        await this.#rest(next.why);
        continue;
      }
      this.#announced = null;
      const trouble = this.#limitReached() ?? (await this.#turn());
      if (trouble === null) continue;
      const stuck = await this.#stuck(trouble);
      if (stuck !== null) return stuck;
    }
  }

  /** Clears the interrupt first: mail that comes later raises it again. */
  #takeIn(): void {
    this.#interrupts.clear();
    if (this.#conversation.receive(this.#deps.port.takeMail())) this.#parked = false;
  }

  #next(): Next {
    if (this.#parked) return { kind: 'idle', why: 'end' };
    const workplace = this.#deps.port.workplace();
    const next = this.#conversation.next(workplace);
    if (next.kind === 'ask' || !this.#conversation.hasBulk) return next;
    this.#conversation.admitBulk();
    return this.#conversation.next(workplace);
  }

  /** Says once that there is nothing to do, and waits for mail. */
  async #rest(why: 'end' | 'length' | 'refusal'): Promise<void> {
    if (!this.#parked && this.#announced !== why) {
      await this.#recorder.note({ type: 'idle', why });
      this.#announced = why;
    }
    await this.#deps.port.waitForMail(this.#signal);
  }

  #limitReached(): Trouble | null {
    const task = this.#deps.port.workplace()?.task ?? null;
    const { turns } = this.#deps.start.limits;
    if (this.#conversation.turnsSpent(task) >= turns) {
      return {
        code: 'agent/turn-limit',
        message: `${this.#deps.start.name} has used its ${turns} turns`,
        hint: 'Raise limits.turns, or make the task smaller.',
      };
    }
    const same = this.#conversation.sameCalls();
    if (same < SAME_CALLS_MAX) return null;
    return {
      code: 'agent/loop',
      message: `${this.#deps.start.name} made the same call ${same} times in a row, always with the same result`,
    };
  }

  /** One model answer and the calls it asked for; null when it can go on. */
  async #turn(): Promise<Trouble | null> {
    const { start, port, clock, random, marks } = this.#deps;
    if (port.readyToAsk !== undefined) {
      await port.readyToAsk(this.#signal);
      this.#takeIn();
    }
    const full = await this.#compactor.makeRoom(this.#interrupts.signal);
    if (full !== null) return full;
    const task = port.workplace()?.task ?? null;
    const mail = [...this.#conversation.waiting];
    const request: ProviderRequest = {
      model: this.#deps.model,
      ...(await this.#surroundings.system(port.workplace())),
      tools: this.#specs,
      messages: this.#conversation.messages(),
      maxTokens: this.#compactor.answerTokens,
      actor: start.name,
      profile: start.profile.name,
      task,
    };
    await this.#tellDelivered(mail.map((item) => item.n));
    this.#recorder.live('thinking', '');
    const recorder = this.#recorder;
    const watchers = {
      onText: (delta: string): void => recorder.live('text', delta),
      onThinking: (delta: string): void => recorder.live('thinking', delta),
      onReset: (why: string): void => recorder.live('reset', why),
    };
    const input = this.#compactor.inputTokens;
    const turn = this.#conversation.turnsSpent(task) + 1;
    const asked = await ask(
      { models: this.#models, toll: this.#toll, input, turn, clock, random, ...watchers },
      request,
      this.#interrupts.signal,
    );
    if (asked.kind === 'aborted') return null;
    if (asked.kind === 'error') {
      return asked.code === OVERFLOW ? this.#compactor.afterOverflow(asked) : asked;
    }
    const calls = callsOf(asked);
    const repeated = calls.find((call) => !this.#conversation.isFreshCall(call.id));
    if (repeated !== undefined || calls.length < countCalls(asked)) {
      return { code: 'agent/call-id', message: 'the provider used the id of a call twice' };
    }
    const entries: SessionEntry[] = mail.length === 0 ? [] : [{ type: 'mail', items: mail }];
    entries.push({
      type: 'answer',
      task,
      model: asked.model,
      content: asked.content,
      stop: asked.stop,
      usage: asked.usage,
      ...(asked.meta === undefined ? {} : { meta: asked.meta }),
      ...(marks === undefined ? {} : { request: marks.of(request, this.#conversation.entries) }),
    });
    const took = mail.map((item) => item.n);
    const { usage, reservation } = asked;
    const put = reservation === undefined ? {} : { reservation };
    await this.#recorder.commitAnswer({ type: 'answer', took, entries, usage, ...put });
    await runCalls(this.#calls, calls);
    return null;
  }

  async #tellDelivered(positions: readonly number[]): Promise<void> {
    const n = positions.filter((position) => !this.#delivered.has(position));
    if (n.length === 0) return;
    for (const position of n) this.#delivered.add(position);
    await this.#recorder.note({ type: 'delivered', n });
  }

  /** A subagent ends with it; the others report it and rest until mail comes. */
  async #stuck(trouble: Trouble): Promise<AgentEnd | null> {
    const { code, message, hint, data } = trouble;
    const told = {
      code,
      message,
      ...(hint === undefined ? {} : { hint }),
      ...(data === undefined ? {} : { data }),
    };
    if (this.#deps.start.kind === 'subagent') return { kind: 'stuck', ...told };
    this.#parked = true;
    const reply = await this.#recorder.request({ type: 'stuck', ...told });
    if (reply.type === 'failed') throw fromErrorShape(reply.error);
    if (reply.type === 'noted') this.#conversation.giveUp(reply.gaveUp ?? []);
    return null;
  }
}

function countCalls(answer: Answer): number {
  return answer.content.filter((block) => block.type === 'call').length;
}
