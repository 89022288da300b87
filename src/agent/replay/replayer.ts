/**
 * Plays one actor from a recording: its answers come from there, one after the other, each only for a request that says
 * what the recorded one said; its tools really run. It stands between the loop and the world: as the provider that
 * answers, and as the port that lets mail through when the recorded request had it.
 *
 * Invariants
 * - L31 An answer is given for the request that it answered, or not at all: the first that differs ends the actor's part
 *   (`replay/differs`), and says where.
 * - L32 A request holds the letters that the recorded one took in, and no other letter of the recording.
 * - L33 The place in the recording is the number of the actor's own answers in the journal: a restart goes on there.
 */
import type { Clock } from '../../kernel/index.ts';
import type {
  ActorReply,
  ActorRequest,
  ActorStart,
  Envelope,
  PlacedEntry,
  Provider,
  ProviderEvent,
  ProviderRequest,
} from '../../protocol/index.ts';
import { mailItem } from '../../protocol/index.ts';
import { normalText, type RunPlaces } from '../../sessions/index.ts';
import type { Outputs } from '../../tools/index.ts';
import { abortable } from '../interrupts.ts';
import { LETTER_WAIT_MS } from '../limits.ts';
import type { AgentPort } from '../port.ts';
import type { Digest } from '../request-mark.ts';
import { compareRequest, type Difference, recordedPlaces } from './compare.ts';
import { LetterBook } from './letters.ts';
import { describeLetter, isCutByMail, type Letter, type Step, type Track } from './track.ts';
import { Translation } from './translate.ts';

export interface ReplayerOptions {
  readonly start: ActorStart;
  readonly port: AgentPort;
  readonly track: Track;
  /** Its own transcript, of all lives of its name. */
  readonly entries: readonly PlacedEntry[];
  readonly places: RunPlaces;
  readonly digest: Digest;
  readonly clock: Clock;
  readonly outputs: Outputs;
}

export class Replayer {
  readonly provider: Provider;
  readonly port: AgentPort;
  readonly #with: ReplayerOptions;
  readonly #letters: LetterBook<Letter & { readonly envelope?: Envelope }>;
  readonly #names: Translation;
  readonly #given = new Set<number>();
  #at = 0;
  #summaries = 0;
  #missing: Letter | null = null;

  constructor(options: ReplayerOptions) {
    this.#with = options;
    const { track, places, port, entries } = options;
    const then = recordedPlaces(track);
    this.#names = new Translation(then, places);
    this.#letters = new LetterBook<Letter & { readonly envelope?: Envelope }>(
      track.letters,
      ({ text }, recorded) => normalText(text, recorded ? then : places),
    );
    this.provider = {
      name: 'replay',
      stream: (request) => this.#stream(request),
    };
    this.port = {
      ...bound(port),
      request: (request) => this.#request(request),
      takeMail: () => this.#takeMail(),
      waitForMail: (signal) => this.#waitForMail(signal),
      readyToAsk: (signal) => this.#readyToAsk(signal),
      // Where mail cut what ran, the recording says so; here nothing is cut by when it comes.
      onInterrupt: () => () => undefined,
    };
    for (const { entry } of entries) this.#remember(entry);
  }

  /** What it has recorded itself, before and in this life. */
  #remember(entry: PlacedEntry['entry']): void {
    if (entry.type === 'answer') this.#step();
    else if (entry.type === 'mail') for (const item of entry.items) this.#arrive(item);
    else if (entry.type === 'result') {
      const recorded = this.#with.track.results.get(entry.call);
      if (recorded !== undefined) this.#names.learn(recorded.text, entry.text);
    }
  }

  /** On to the next, past requests that got no answer. */
  #step(): void {
    const { steps } = this.#with.track;
    while (steps[this.#at]?.kind === 'failure') this.#at += 1;
    for (const letter of this.#next()?.took ?? []) this.#given.add(letter);
    this.#at += 1;
    this.#summaries = 0;
  }

  #next(): Step | undefined {
    return this.#with.track.steps[this.#at];
  }

  /** The recording stops in the middle of the run, and this actor has come to its end. */
  get #isOver(): boolean {
    return this.#next() === undefined && this.#with.track.header.state === null;
  }

  #arrive(letter: Letter & { readonly envelope?: Envelope }): void {
    const at = this.#letters.take(letter);
    if (at === null) return;
    this.#names.learn(this.#with.track.letters[at]?.text ?? '', letter.text);
  }

  #takeIn(): void {
    for (const envelope of this.#with.port.takeMail()) {
      this.#arrive({ ...mailItem(envelope), envelope });
    }
  }

  #takeMail(): Envelope[] {
    this.#takeIn();
    this.#passFailure();
    const step = this.#next();
    if (step === undefined) return this.#isOver ? [] : envelopesOf(this.#letters.takeOthers());
    const took = step.took.map((at) => ({ at, letter: this.#letters.get(at) }));
    if (took.some(({ letter }) => letter === null)) return [];
    const fresh = took.filter(({ at }) => !this.#given.has(at));
    for (const { at } of fresh) this.#given.add(at);
    return envelopesOf(fresh.flatMap(({ letter }) => letter ?? []));
  }

  /** It lies behind when the letters of what came after it are there: a thread of an earlier start had it. */
  #passFailure(): void {
    const step = this.#next();
    if (step?.kind !== 'failure') return;
    const after = this.#with.track.steps.slice(this.#at).find((one) => one.kind === 'answer');
    if (after === undefined || after.took.length === 0) return;
    if (after.took.every((at) => this.#letters.get(at) !== null)) {
      this.#at = this.#with.track.steps.indexOf(after);
    }
  }

  async #waitForMail(signal: AbortSignal): Promise<void> {
    const { port } = this.#with;
    for (;;) {
      this.#takeIn();
      this.#passFailure();
      const step = this.#next();
      if (
        step !== undefined &&
        step.took.some((at) => !this.#given.has(at)) &&
        this.#isHere(step)
      ) {
        return;
      }
      if (step === undefined && !this.#isOver && this.#letters.hasOthers) return;
      await port.waitForMail(signal);
    }
  }

  #isHere(step: Step): boolean {
    return step.took.every((at) => this.#letters.get(at) !== null);
  }

  /** Until the letters of the recorded request are there, for a bounded time. */
  async #readyToAsk(signal: AbortSignal): Promise<void> {
    const { port, clock } = this.#with;
    if (this.#isOver) await abortable(new Promise(() => undefined), signal);
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    const step = this.#next();
    if (step === undefined) return;
    void clock.sleep(LETTER_WAIT_MS, until).then(
      () => over.abort(new Error('waited long enough')),
      () => undefined,
    );
    try {
      for (;;) {
        this.#takeIn();
        const missing = step.took.find((at) => this.#letters.get(at) === null);
        if (missing === undefined) return;
        const letter = this.#with.track.letters[missing] ?? null;
        if (letter !== null && letter !== this.#missing) this.#tellWait(letter);
        this.#missing = letter;
        await port.waitForMail(until);
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!over.signal.aborted) throw error;
    } finally {
      over.abort(new Error('no longer waited'));
    }
  }

  /** For those who watch: who sees that nothing moves any more can say what for. */
  #tellWait(letter: Letter): void {
    const data = `waits for ${describeLetter(letter)}`;
    this.#with.port.request({ type: 'live', event: 'reset', data }).catch(() => undefined);
  }

  async #request(request: ActorRequest): Promise<ActorReply> {
    const { port, track } = this.#with;
    if (request.type === 'act' || request.type === 'permit') {
      const recorded = track.results.get(request.call);
      if (recorded !== undefined && isCutByMail(recorded)) {
        if (request.type === 'permit') return { type: 'refused', reason: recorded.text };
        const reply = await port.request({ type: 'result', entries: [recorded] });
        return reply.type === 'committed' ? { type: 'acted', result: recorded } : reply;
      }
    }
    const reply = await port.request(request);
    if (reply.type === 'acted') this.#remember(reply.result);
    if (reply.type === 'committed' && (request.type === 'answer' || request.type === 'result')) {
      for (const entry of request.entries) if (entry.type !== 'mail') this.#remember(entry);
    }
    return reply;
  }

  async *#stream(request: ProviderRequest): AsyncGenerator<ProviderEvent> {
    const step = this.#next();
    if (request.purpose === 'summary') {
      yield this.#summary(step);
      return;
    }
    if (step?.kind === 'failure') {
      this.#at += 1;
      yield failure('replay/recorded-failure', step.failed);
      return;
    }
    const difference = this.#differs(step, request);
    if (difference !== null) {
      yield await this.#told(step, request, difference);
      return;
    }
    if (step?.answer == null) return;
    const { content, stop, usage, meta } = step.answer;
    const now = this.#names.data(content);
    for (const block of now) {
      if (block.type === 'text') yield { type: 'text', delta: block.text };
      else yield { type: 'call', id: block.id, name: block.name };
    }
    yield { type: 'end', content: now, stop, usage, ...(meta === undefined ? {} : { meta }) };
  }

  #summary(step: Step | undefined): ProviderEvent {
    const recorded = step?.compactions[this.#summaries];
    this.#summaries += 1;
    if (recorded?.by !== 'model') return failure('replay/no-summary', 'there is no summary here');
    const text = this.#names.text(recorded.summary);
    const { usage } = recorded;
    return { type: 'end', content: [{ type: 'text', text }], stop: 'end', usage };
  }

  #differs(step: Step | undefined, request: ProviderRequest): Difference | null {
    if (step === undefined) {
      const where = 'there being one: the recording has none after it';
      return { where, sides: '', hunk: '', note: lastWords(request) };
    }
    if (this.#missing !== null && !this.#isHere(step)) {
      const where = `its mail: it waits for ${describeLetter(this.#missing)}, which never came`;
      return { where, sides: '', hunk: '', note: '' };
    }
    const { start, track, places, digest } = this.#with;
    const about = { track, kind: start.kind, prompt: start.prompt, places, digest };
    return compareRequest(about, step, request);
  }

  async #told(
    step: Step | undefined,
    request: ProviderRequest,
    difference: Difference,
  ): Promise<ProviderEvent> {
    const { where, sides, hunk, note } = difference;
    const nth = this.#with.track.steps.slice(0, this.#at).filter(isAnswer).length + 1;
    const record =
      step === undefined ? '' : ` (record ${step.seq} of ${this.#with.track.header.cassette})`;
    const task = request.task === null ? '' : `, on task ${request.task},`;
    const head = `request ${nth} of ${request.actor}${task} differs from the recording${record} in ${where}`;
    const parts = [head, sides, note, hunk].filter((part) => part !== '');
    const { path } = await this.#with.outputs.save(`${parts.join('\n')}\n`);
    const message = `${sides === '' ? head : `${head}: ${sides}`} (${path})`;
    return failure('replay/differs', message);
  }
}

const isAnswer = (step: Step): boolean => step.kind === 'answer';

function failure(code: string, message: string): Extract<ProviderEvent, { type: 'error' }> {
  return { type: 'error', code, message, retryable: false };
}

function envelopesOf(letters: readonly { readonly envelope?: Envelope }[]): Envelope[] {
  // What was looked up then was not there by itself; here it is simply there.
  return letters.flatMap(({ envelope }) =>
    envelope === undefined
      ? []
      : [envelope.lane === 'bulk' ? { ...envelope, lane: 'normal' as const } : envelope],
  );
}

function lastWords({ messages }: ProviderRequest): string {
  const last = messages.at(-1)?.content.at(-1);
  const text = last?.type === 'text' || last?.type === 'result' ? last.text : '';
  return `It would answer: ${text.slice(0, 400)}`;
}

/** The methods of a port as values, whatever it is an instance of. */
function bound(port: AgentPort): AgentPort {
  return {
    request: (request) => port.request(request),
    takeMail: () => port.takeMail(),
    takeCompaction: () => port.takeCompaction(),
    waitForMail: (signal) => port.waitForMail(signal),
    onInterrupt: (handler) => port.onInterrupt(handler),
    workplace: () => port.workplace(),
    rules: () => port.rules(),
  };
}
