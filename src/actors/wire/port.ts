/**
 * The thread's end of the wire: pairs requests with replies and keeps the mail that the agent has not taken yet. Free of
 * threads, so that the inline host runs the very same code.
 *
 * Invariants
 * - A6 What was posted before an interrupt is in the inbox when its handlers run (M5: the next request contains it).
 * - A7 An envelope is given to the agent once per activation, however often it is posted; once more after it was given up.
 */
import type { TroupeError } from '../../kernel/errors.ts';
import type {
  ActorReply,
  ActorRequest,
  ActorStart,
  Downward,
  Upward,
  Workplace,
} from '../../protocol/actor-wire.ts';
import { type Envelope, LANES } from '../../protocol/envelope.ts';
import { Batch } from './batch.ts';

/** What the agent loop sees of the supervisor (the same shape as `AgentPort` of room `agent`). */
export interface ActorPort {
  /** Resolves with the reply, also with `failed`; rejects with `actors/stopped` or `actors/gone` when none will come. */
  request(request: ActorRequest): Promise<ActorReply>;
  /** The mail that came since the last call, most urgent lane first, by position within a lane. */
  takeMail(): Envelope[];
  /** Whether the user has asked for a compaction since the last call, and what is to be kept above all. */
  takeCompaction(): { readonly focus: string | null } | null;
  /** Resolves as soon as there is mail or a wish of the user to take; rejects with the signal's reason. */
  waitForMail(signal: AbortSignal): Promise<void>;
  /** Calls back at each interrupt, inside a running tool or stream; returns what ends that. */
  onInterrupt(handler: () => void): () => void;
  /** Where the actor works now, as last told. */
  workplace(): Workplace | null;
  /** As last told; null: as they were at the start. */
  rules(): ActorStart['permissions'] | null;
}

export interface WireOptions {
  readonly send: (text: string) => void;
  readonly workplace: Workplace | null;
  /** Called before the inbox is read: brings in what has arrived but was not handed over yet. */
  readonly beforeRead?: () => void;
  /** Called before a request is sent: code that never waits for the loop notices interrupts here. */
  readonly beforeSend?: () => void;
  /** When fragments for those who watch are sent: after all that has arrived by now; default: at the end of the tick. */
  readonly defer?: (flush: () => void) => void;
}

/** The far side of an `ActorPort`: what the host calls. */
export interface ActorWire {
  readonly port: ActorPort;
  /** A batch from the supervisor. */
  readonly receive: (text: string) => void;
  interrupt(): void;
  /** Sends at once what is waiting. */
  flush(): void;
  /** Rejects what is pending and all that comes. */
  close(reason: TroupeError): void;
}

interface PendingReply {
  readonly resolve: (reply: ActorReply) => void;
  readonly reject: (reason: TroupeError) => void;
}

export function makeActorWire(options: WireOptions): ActorWire {
  const wire = new Wire(options);
  return {
    port: wire,
    receive: (text) => wire.receive(text),
    interrupt: () => wire.interrupt(),
    flush: () => wire.flush(),
    close: (reason) => wire.close(reason),
  };
}

const NOTED: Promise<ActorReply> = Promise.resolve({ type: 'noted' });

/** Text that follows on text is one fragment. */
function joined(last: Upward, next: Upward): Upward | null {
  const [a, b] = [last.request, next.request];
  if (a.type !== 'live' || b.type !== 'live' || a.event !== b.event) return null;
  if (b.event !== 'text' && b.event !== 'thinking') return null;
  return { id: next.id, request: { ...b, data: a.data + b.data } };
}

class Wire implements ActorPort {
  readonly #options: WireOptions;
  readonly #batch: Batch<Upward>;
  readonly #pending = new Map<number, PendingReply>();
  readonly #posted = new Set<number>();
  readonly #waiting = new Set<() => void>();
  readonly #interrupts = new Set<() => void>();
  #inbox: Envelope[] = [];
  #compaction: { readonly focus: string | null } | null = null;
  #workplace: Workplace | null;
  #rules: ActorStart['permissions'] | null = null;
  #lastId = 0;
  #closed: TroupeError | null = null;

  constructor(options: WireOptions) {
    this.#options = options;
    this.#workplace = options.workplace;
    this.#batch = new Batch(options.send, options.defer);
  }

  request(request: ActorRequest): Promise<ActorReply> {
    if (this.#closed !== null) return Promise.reject(this.#closed);
    this.#options.beforeSend?.();
    this.#lastId += 1;
    const id = this.#lastId;
    if (request.type === 'live') {
      // Fragments for those who watch: nobody answers them.
      this.#batch.pushLater({ id, request }, joined);
      return NOTED;
    }
    this.#batch.push({ id, request });
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
    });
  }

  takeMail(): Envelope[] {
    this.#options.beforeRead?.();
    const mail = this.#inbox;
    this.#inbox = [];
    const urgency = (envelope: Envelope): number => LANES.indexOf(envelope.lane);
    return mail.toSorted((a, b) => urgency(a) - urgency(b) || a.n - b.n);
  }

  takeCompaction(): { readonly focus: string | null } | null {
    const asked = this.#compaction;
    this.#compaction = null;
    return asked;
  }

  async waitForMail(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#options.beforeRead?.();
    if (this.#inbox.length > 0 || this.#compaction !== null) return;
    if (this.#closed !== null) throw this.#closed;
    await new Promise<void>((resolve, reject) => {
      const settle = (): void => {
        this.#waiting.delete(settle);
        signal.removeEventListener('abort', settle);
        if (signal.aborted) reject(signal.reason as Error);
        else if (this.#closed === null) resolve();
        else reject(this.#closed);
      };
      this.#waiting.add(settle);
      signal.addEventListener('abort', settle);
    });
  }

  onInterrupt(handler: () => void): () => void {
    // Each subscription is its own, also of one function twice.
    const own = (): void => handler();
    this.#interrupts.add(own);
    return () => {
      this.#interrupts.delete(own);
    };
  }

  workplace(): Workplace | null {
    return this.#workplace;
  }

  rules(): ActorStart['permissions'] | null {
    return this.#rules;
  }

  receive(text: string): void {
    if (this.#closed !== null) return;
    let news = false;
    for (const message of JSON.parse(text) as Downward[]) {
      if (message.type === 'reply') this.#settle(message.id, message.reply);
      else if (message.type === 'rules') this.#rules = message.permissions;
      else if (message.type === 'compact') {
        this.#compaction = { focus: message.focus };
        news = true;
      } else news = this.#deliver(message) || news;
    }
    if (news) for (const wake of this.#waiting) wake();
  }

  interrupt(): void {
    for (const handler of Array.from(this.#interrupts)) handler();
  }

  flush(): void {
    this.#batch.flush();
  }

  close(reason: TroupeError): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(reason);
    for (const wake of this.#waiting) wake();
    this.#interrupts.clear();
  }

  #settle(id: number, reply: ActorReply): void {
    if (reply.type === 'acted' && reply.workplace !== undefined) this.#workplace = reply.workplace;
    if (reply.type === 'noted' && reply.gaveUp !== undefined) this.#giveUp(reply.gaveUp);
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    pending?.resolve(reply);
  }

  /** What has become a dead letter is not the agent's any more; retried, it is new. */
  #giveUp(positions: readonly number[]): void {
    for (const n of positions) this.#posted.delete(n);
    this.#inbox = this.#inbox.filter((envelope) => this.#posted.has(envelope.n));
  }

  /** True when it brought an envelope that is new. */
  #deliver(message: Extract<Downward, { type: 'mail' }>): boolean {
    if (message.workplace !== undefined) this.#workplace = message.workplace;
    const fresh = message.envelopes.filter((envelope) => !this.#posted.has(envelope.n));
    for (const envelope of fresh) this.#posted.add(envelope.n);
    this.#inbox.push(...fresh);
    return fresh.length > 0;
  }
}
