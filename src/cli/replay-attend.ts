/**
 * What a replay needs from outside: the words of people, at their places, and somebody who sees that it is over or that
 * nothing moves any more.
 */
import type { ErrorShape } from '../kernel/errors.ts';
import { USER } from '../kernel/ids.ts';
import type { CassetteHeader, StoredRunRecord } from '../protocol/index.ts';
import type { Supervisor } from '../supervisor/index.ts';

/** Nothing was recorded and no command ran for so long: what is waited for does not come. */
const SILENCE_MS = 30_000;
const LOOK_MS = 1_000;
/** Ends of runs that a replay comes to by itself. */
const OWN_ENDS: ReadonlySet<string | null> = new Set(['done', 'failed']);

export class ReplayDirector {
  readonly #run: string;
  readonly #header: CassetteHeader;
  readonly #waits = new Map<string, string>();
  readonly #proposed = new Map<string, number>();
  #supervisor: Supervisor | null = null;
  #answers = 0;
  #letters = 0;
  #sending = false;
  #heardAt = performance.now();
  /** Who waits for what, when nothing moved any more. */
  stalled: string | null = null;
  /** All that was recorded was played, of a run that was cut. */
  reachedEnd = false;

  constructor(run: string, header: CassetteHeader) {
    this.#run = run;
    this.#header = header;
  }

  get answers(): number {
    return this.#answers;
  }

  /** `before`: what an earlier term recorded. Returns the way out. */
  begin(supervisor: Supervisor, before: readonly StoredRunRecord[]): () => void {
    this.#supervisor = supervisor;
    for (const record of before) this.#count(record);
    const forget = [
      supervisor.onRecord((run, record) => {
        if (run === this.#run) this.#heard(record);
      }),
      supervisor.onLive((run, { actor, type, data }) => {
        if (run !== this.#run) return;
        if (type === 'reset' && data.startsWith('waits for ')) this.#waits.set(actor, data);
        else this.#waits.delete(actor);
      }),
    ];
    const timer = setInterval(() => this.#look(), LOOK_MS);
    return () => {
      clearInterval(timer);
      for (const one of forget) one();
    };
  }

  #count(record: StoredRunRecord): void {
    for (const entry of record.entries ?? []) if (entry.type === 'answer') this.#answers += 1;
    const isOpening = record.run?.some(({ type }) => type === 'run.started') === true;
    if (isOpening) return;
    for (const { from, type } of record.mail ?? []) {
      if (from === USER && type === 'chat.message') this.#letters += 1;
    }
  }

  #heard(record: StoredRunRecord): void {
    this.#heardAt = performance.now();
    this.#count(record);
    if (record.a !== undefined && record.entries !== undefined) this.#waits.delete(record.a);
    this.#answerAsks(record);
    this.#decidePlans(record);
    if (record.run !== undefined || record.actors !== undefined) void this.#sendMail();
    const { state, answers } = this.#header;
    if (!OWN_ENDS.has(state) && this.#answers >= answers && !this.reachedEnd) {
      this.reachedEnd = true;
      this.#stop();
    }
  }

  #stop(): void {
    const ended = this.#supervisor?.stop({ run: this.#run, now: true, by: 'the replay' });
    ended?.catch(() => undefined);
  }

  /** In their order; one whose reader is not there yet waits for it. */
  async #sendMail(): Promise<void> {
    if (this.#sending || this.#supervisor === null) return;
    this.#sending = true;
    try {
      for (;;) {
        const next = this.#header.words.mail[this.#letters];
        const state = this.#supervisor.state(this.#run);
        if (next === undefined || state === null) return;
        if (!state.actors.byName.has(next.to)) return;
        const before = this.#letters;
        await this.#supervisor.send({ run: this.#run, ...next, interrupt: false });
        // Its record has been heard of before its receipt.
        if (this.#letters === before) this.#letters += 1;
      }
    } catch (error) {
      this.#note(error as ErrorShape);
    } finally {
      this.#sending = false;
    }
  }

  #answerAsks(record: StoredRunRecord): void {
    for (const change of record.asks ?? []) {
      if (change.type !== 'ask.put') continue;
      const word = this.#header.words.asks[change.waiter.call];
      if (word === undefined) continue;
      const reply = {
        run: this.#run,
        id: change.ask.id,
        digest: null,
        days: 1,
        by: 'the recording',
      };
      // A grant of the workspace would outlive the replay.
      const scope = word.scope === 'workspace' ? ('run' as const) : word.scope;
      this.#supervisor?.answerAsk({ ...reply, ...word, scope }).catch((error) => this.#note(error));
    }
  }

  #decidePlans(record: StoredRunRecord): void {
    for (const change of record.team ?? []) {
      if (change.type !== 'plan.proposed') continue;
      const nth = (this.#proposed.get(change.by) ?? 0) + 1;
      this.#proposed.set(change.by, nth);
      const word = this.#header.words.plans[`${change.by} ${nth}`];
      if (word === undefined) continue;
      const decided = this.#supervisor?.decidePlan({ run: this.#run, id: change.id, ...word });
      decided?.catch((error) => this.#note(error));
    }
  }

  /** What can't be said again shows as a request that differs, or as one that waits. */
  #note(error: { readonly message: string }): void {
    this.#waits.set('the recording', `could not say what a person said: ${error.message}`);
  }

  #look(): void {
    const state = this.#supervisor?.state(this.#run);
    if (state == null || state.procs.size > 0 || this.stalled !== null) return;
    if (performance.now() - this.#heardAt < SILENCE_MS) return;
    const waits = [...this.#waits].map(([actor, what]) => `${actor} ${what}`);
    this.stalled = waits.length === 0 ? 'nothing moves any more' : waits.join('; ');
    this.#stop();
  }
}
