/** Starts and listeners for tests of actor hosts. */
import type { HostEvents, HostExit } from '../../../src/actors/index.ts';
import { asActorName, asEnvelopeId } from '../../../src/kernel/index.ts';
import type { ActorStart, Downward, Envelope, Upward } from '../../../src/protocol/index.ts';

/** Starts an actor that does `behaviour` (`behaviours.mjs`). */
export function startOf(behaviour: string, name = 'ada'): ActorStart {
  return {
    run: 'run-1',
    name: asActorName(name),
    kind: 'teammate',
    incarnation: 1,
    epoch: 1,
    profile: {
      name: 'implementer',
      description: '',
      prompt: '',
      model: null,
      tools: null,
      restart: 'transient',
    },
    model: 'scripted/x',
    scripts: {},
    system: '',
    tools: [],
    limits: { parallel: 1, turns: 1, depth: 1, fanout: 1 },
    permissions: { default: 'allow', rules: [], attended: false },
    journalDirectory: '/nowhere',
    outputsDirectory: '/nowhere',
    workplace: null,
    prompt: behaviour,
    upToSeq: 0,
  };
}

export function envelope(n: number, text: string, lane: Envelope['lane'] = 'normal'): Envelope {
  return {
    v: 1,
    n,
    seq: n,
    id: asEnvelopeId(`env_${n}`),
    at: '2026-01-01T00:00:00.000Z',
    to: asActorName('ada'),
    from: asActorName('user'),
    fromIncarnation: 1,
    lane,
    type: 'chat.message',
    body: { text },
  };
}

export const mail = (n: number, text: string, lane?: Envelope['lane']): Downward => ({
  type: 'mail',
  envelopes: [envelope(n, text, lane)],
});

/** Records what a host tells, and lets a test wait for it. */
export class Listener implements HostEvents {
  readonly requests: Upward[] = [];
  readonly exits: HostExit[] = [];
  #waiting: {
    readonly done: () => boolean;
    readonly resolve: () => void;
    readonly reject: (reason: Error) => void;
  }[] = [];

  onRequests(requests: readonly Upward[]): void {
    // A1: nothing comes after the exit.
    if (this.exits.length > 0) throw new Error('requests after the exit');
    this.requests.push(...requests);
    this.#wake();
  }

  onExit(outcome: HostExit): void {
    this.exits.push(outcome);
    this.#wake();
  }

  /** Data of the live fragments so far. */
  get live(): string[] {
    return this.requests.flatMap(({ request }) => (request.type === 'live' ? [request.data] : []));
  }

  async exit(): Promise<HostExit> {
    await this.until(() => this.exits.length > 0);
    return this.exits[0]!;
  }

  async requested(count = 1): Promise<void> {
    await this.until(() => this.requests.length >= count);
  }

  until(done: () => boolean): Promise<void> {
    if (done()) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ done, resolve, reject });
    });
  }

  #wake(): void {
    const ready = this.#waiting.filter(({ done }) => done());
    this.#waiting = this.#waiting.filter((one) => !ready.includes(one));
    for (const { resolve } of ready) resolve();
    if (this.exits.length === 0) return;
    // What a test waits for can't come any more.
    for (const { reject } of this.#waiting)
      reject(new Error(`exit: ${JSON.stringify(this.exits[0])}`));
    this.#waiting = [];
  }
}
