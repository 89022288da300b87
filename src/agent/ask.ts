/**
 * One answer of a model: the stream is read to its end, failures that pass are tried again, and where they do not pass
 * the next model stands in. Nothing of an answer leaves here before it is whole.
 *
 * Invariants
 * - L18 Each try begins at the same request: of a stream that broke nothing is kept, and watchers are told so.
 * - L20 A provider that goes on failing for a passing reason is waited for, with all others who use it; the agent gets stuck by
 *   it only when others are answered meanwhile, or after `DOWN_ROUNDS_MAX` waits.
 * - L19 What would fail again (a wrong key, a bad request) is not tried again, and no other model is asked in its place.
 */
import { type Clock, ensureError, type Random } from '../kernel/index.ts';
import {
  type ContentBlock,
  type FailureData,
  NO_USAGE,
  type Provider,
  type ProviderEvent,
  type ProviderRequest,
  type Rate,
  type SettleRequest,
  type StopReason,
  type Usage,
} from '../protocol/index.ts';
import { Leash } from './interrupts.ts';
import {
  CHARS_PER_TOKEN,
  DOWN_ROUNDS_MAX,
  RETRIES_MAX,
  RETRIES_WITH_STAND_IN,
  RETRY_AFTER_MAX_MS,
  RETRY_WAIT_MAX_MS,
  RETRY_WAIT_MS,
  STAND_IN_MS,
} from './limits.ts';
import { costOfNothing, type Toll, type Trip } from './toll.ts';

export interface Answer {
  readonly kind: 'answer';
  /** `provider/model` that gave it. */
  readonly model: string;
  readonly content: readonly ContentBlock[];
  readonly stop: StopReason;
  readonly usage: Usage;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
  /** What was put aside for it. */
  readonly reservation?: string;
}

export interface AskFailure {
  readonly kind: 'error';
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
  readonly retryable: boolean;
  readonly data: FailureData | undefined;
}

export type Asked = Answer | AskFailure | { readonly kind: 'aborted' };

/** A model that can be asked. */
export interface ModelChoice {
  /** `provider/model`. */
  readonly ref: string;
  readonly provider: Provider;
  /** Without the provider's name. */
  readonly model: string;
  /** Left out: nobody knows, or it costs nothing. */
  readonly rate?: Rate | null;
}

export interface AskDeps {
  readonly models: Models;
  readonly clock: Clock;
  /** Spreads the waits of actors that failed together; without it they are exact. */
  readonly random: Random | undefined;
  /** Left out: nobody counts. */
  readonly toll?: Pick<Toll, 'enter' | 'begun' | 'leave'>;
  /** Tokens of the request, as far as is known. */
  readonly input?: number;
  /** See `ReserveRequest`. */
  readonly turn?: number;
  readonly onText: (delta: string) => void;
  readonly onThinking: (delta: string) => void;
  /** What was shown of the answer is void; why, and what happens now. */
  readonly onReset: (why: string) => void;
  /** The first word of an answer is there, or its first call. */
  readonly onBegin?: () => void;
}

/** An agent's models, its own first. One that could not be had is passed over for a while. */
export class Models {
  readonly #choices: readonly ModelChoice[];
  readonly #passedUntil = new Map<ModelChoice, number>();

  constructor(choices: readonly ModelChoice[]) {
    this.#choices = choices;
  }

  /** All of them, those that are passed over now last. */
  inOrder(nowMs: number): readonly ModelChoice[] {
    const away = (choice: ModelChoice): boolean => (this.#passedUntil.get(choice) ?? 0) > nowMs;
    return [...this.#choices.filter((one) => !away(one)), ...this.#choices.filter(away)];
  }

  passOver(choice: ModelChoice, untilMs: number): void {
    this.#passedUntil.set(choice, untilMs);
  }
}

/**
 * An abort is `aborted`, whatever the provider does; rejects only when the far side of the toll is gone. `request.model` is
 * that of the choice.
 */
export async function ask(
  deps: AskDeps,
  request: ProviderRequest,
  signal: AbortSignal,
): Promise<Asked> {
  const { models, clock } = deps;
  const choices = models.inOrder(clock.monotonicMs());
  let quota: { readonly asked: AskFailure; readonly choice: ModelChoice } | null = null;
  for (const [index, choice] of choices.entries()) {
    const next = choices[index + 1];
    const asked = await askPatiently(deps, { choice, request, last: next === undefined }, signal);
    if (asked.kind === 'error' && asked.code === QUOTA) quota ??= { asked, choice };
    if (next === undefined) {
      if (asked.kind !== 'error' || quota === null || asked === quota.asked) return asked;
      // Where there is a toll, a quota is waited for; without one it is the reason that is told.
      if (deps.toll === undefined) return quota.asked;
      return askPatiently(deps, { choice: quota.choice, request, last: true }, signal);
    }
    if (!letsOthersStandIn(asked)) return asked;
    if (asked.kind === 'error') {
      const restMs = Math.max(asked.data?.retryAfterMs ?? 0, STAND_IN_MS);
      models.passOver(choice, clock.monotonicMs() + restMs);
      deps.onReset(`${asked.message}; ${next.ref} stands in`);
    } else deps.onReset(`${choice.ref} refused to answer; ${next.ref} stands in`);
  }
  return cut('there is no model to ask');
}

const QUOTA = 'providers/quota';
/** Its provider is not to be asked now. */
const HELD = 'agent/held';

function letsOthersStandIn(asked: Asked): boolean {
  if (asked.kind === 'answer') return asked.stop === 'refusal';
  return asked.kind === 'error' && (asked.retryable || asked.code === QUOTA);
}

/** So many tries after each other; the first of them waited with all who use the provider. */
interface Round {
  since: number;
  wasHeld: boolean;
}

interface Asking {
  readonly choice: ModelChoice;
  readonly request: ProviderRequest;
  readonly last: boolean;
}

/** Nothing that is wrong with the request: there is nobody else to ask, and the wait is everybody's. */
function isDown(deps: AskDeps, { last }: Asking, asked: AskFailure): boolean {
  return last && deps.toll !== undefined && asked.retryable && asked.code.startsWith('providers/');
}

async function askPatiently(deps: AskDeps, asking: Asking, signal: AbortSignal): Promise<Asked> {
  const retries = asking.last ? RETRIES_MAX : RETRIES_WITH_STAND_IN;
  let round: Round = { since: deps.clock.monotonicMs(), wasHeld: true };
  let rounds = 0;
  for (let tries = 0; ; ) {
    const asked = await askWithLeave(deps, asking, { tries, signal, round, retries });
    // The next leave is given when the quota is there again.
    if (asked.kind === 'error' && asked.code === QUOTA && asking.last && deps.toll !== undefined) {
      deps.onReset(asked.message);
      continue;
    }
    if (asked.kind !== 'error' || !asked.retryable) return asked;
    const waitMs = asked.code === HELD ? null : waitFor(asked, tries, deps.random);
    if (tries >= retries || waitMs === null) {
      if (isDown(deps, asking, asked) && round.wasHeld && rounds < DOWN_ROUNDS_MAX) {
        rounds += 1;
        tries = 0;
        round = { since: deps.clock.monotonicMs(), wasHeld: false };
        deps.onReset(asked.message);
        continue;
      }
      const after = tries === 0 ? '' : ` (given up after ${tries + 1} tries)`;
      return { ...asked, message: `${asked.message}${after}` };
    }
    tries += 1;
    deps.onReset(`${asked.message}; asked again in ${(waitMs / 1000).toFixed(1)} s`);
    try {
      await deps.clock.sleep(waitMs, signal);
    } catch {
      return { kind: 'aborted' };
    }
  }
}

/** One try, for which leave is asked; what it has cost without an answer is told. */
async function askWithLeave(
  deps: AskDeps,
  asking: Asking,
  at: {
    readonly tries: number;
    readonly retries: number;
    readonly round: Round;
    readonly signal: AbortSignal;
  },
): Promise<Asked> {
  const { tries, signal, round } = at;
  const { toll, input = 0, turn = 0, random } = deps;
  if (toll === undefined) return askOnce(deps, asking, signal);
  const { choice, request, last: patient } = asking;
  const rate = choice.rate ?? null;
  const trip: Trip = { ref: choice.ref, rate, request, input, patient, ...prefixOf(asking) };
  const passage = await toll.enter(trip, turn, signal);
  if (passage.kind === 'aborted') return passage;
  if (passage.kind === 'spent') {
    return { ...failed(`budget/${passage.scope}`, passage.text), retryable: false };
  }
  if (passage.kind === 'held') {
    return { ...failed(HELD, passage.text), data: { retryAfterMs: passage.ms } };
  }
  let chars = 0;
  const count = (delta: string): void => {
    chars += delta.length;
  };
  const { id, maxTokens, ahead } = passage;
  if (tries === 0 && passage.wasHeld) {
    round.since = deps.clock.monotonicMs();
    round.wasHeld = true;
  }
  const one = { ...asking, request: { ...request, maxTokens } };
  const asked = await askOnce(
    heard(deps, count, ahead ? () => toll.begun(id) : undefined),
    one,
    signal,
  );
  if (asked.kind === 'answer') return { ...asked, reservation: id };
  const usage = isPaid(asked) ? costOfNothing(trip, Math.ceil(chars / CHARS_PER_TOKEN)) : NO_USAGE;
  const isLastTry =
    asked.kind === 'error' &&
    (tries >= at.retries || (asked.data?.retryAfterMs ?? 0) > RETRY_AFTER_MAX_MS) &&
    isDown(deps, asking, asked);
  const limited = isLastTry
    ? ({
        kind: 'down',
        forMs: deps.clock.monotonicMs() - round.since,
        text: asked.message,
      } as const)
    : limitOf(asked, () => waitFor(asked as AskFailure, tries, random));
  toll.leave({ id, trip, usage, ...(limited === undefined ? {} : { limited }) });
  return asked;
}

/** What siblings have in common: profile, tools, and how long the common part is. */
function prefixOf({ choice, request }: Asking): Pick<Trip, 'prefix'> {
  const [end] = request.shared ?? [];
  if (choice.provider.keepsPrefixes !== true || end === undefined) return {};
  return { prefix: `${request.profile} ${end} ${request.tools.length}` };
}

function heard(
  deps: AskDeps,
  hear: (delta: string) => void,
  onBegin: (() => void) | undefined,
): AskDeps {
  return {
    ...deps,
    ...(onBegin === undefined ? {} : { onBegin }),
    onText: (delta) => {
      hear(delta);
      deps.onText(delta);
    },
    onThinking: (delta) => {
      hear(delta);
      deps.onThinking(delta);
    },
  };
}

/** What was turned down has a status, and costs nothing; what broke off has none, and may have been paid for. */
function isPaid(asked: AskFailure | { readonly kind: 'aborted' }): boolean {
  if (asked.kind === 'aborted') return true;
  const { status, unsent } = asked.data ?? {};
  return !(unsent === true || (status !== undefined && status >= 400) || UNPAID.has(asked.code));
}

const UNPAID: ReadonlySet<string> = new Set([
  'scripted/no-turn',
  'scripted/no-summary',
  'scripted/fail',
  'providers/rate-limited',
  'providers/quota',
]);

/** What all have to know of it. */
function limitOf(
  asked: AskFailure | { readonly kind: 'aborted' },
  wait: () => number | null,
): SettleRequest['limited'] {
  if (asked.kind === 'aborted') return undefined;
  if (asked.code === QUOTA) {
    return { kind: 'quota', resetAt: asked.data?.resetAt ?? null, text: asked.message };
  }
  if (asked.code !== 'providers/rate-limited') return undefined;
  const told = asked.data?.retryAfterMs ?? wait() ?? 0;
  return { kind: 'rate', ms: told };
}

/** As long as the provider says, else longer each time; null when that is too long to wait for. */
function waitFor(failed: AskFailure, tries: number, random: Random | undefined): number | null {
  const spread = random?.next() ?? 0;
  const told = failed.data?.retryAfterMs;
  if (told !== undefined) {
    // Never earlier than told, and not all at once.
    return told > RETRY_AFTER_MAX_MS ? null : told + Math.round(spread * RETRY_WAIT_MS);
  }
  const waitMs = Math.min(RETRY_WAIT_MS * 2 ** tries, RETRY_WAIT_MAX_MS);
  return Math.round(waitMs * (1 - spread / 2));
}

async function askOnce(deps: AskDeps, asking: Asking, signal: AbortSignal): Promise<Asked> {
  if (signal.aborted) return { kind: 'aborted' };
  const { choice } = asking;
  const request = { ...asking.request, model: choice.model };
  let events: AsyncIterator<ProviderEvent> | null = null;
  let begin = deps.onBegin;
  const leash = new Leash(signal);
  try {
    events = choice.provider.stream(request, signal)[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await leash.wait(events.next());
      if (done === true) return cut('the stream ended without an end');
      const asked = asAsked(value, choice.ref);
      if (asked === null) begin?.();
      begin = undefined;
      if (asked !== null) return asked.kind === 'aborted' ? ended(signal) : asked;
      if (value.type === 'text') deps.onText(value.delta);
      else if (value.type === 'thinking') deps.onThinking(value.delta);
    }
  } catch (error) {
    if (signal.aborted) {
      if (events !== null) release(events);
      return { kind: 'aborted' };
    }
    return cut(ensureError(error).message);
  } finally {
    leash.release();
  }
}

function asAsked(event: ProviderEvent, model: string): Asked | null {
  switch (event.type) {
    case 'end': {
      const { content, stop, usage, meta } = event;
      return { kind: 'answer', model, content, stop, usage, meta };
    }
    case 'error': {
      const { code, message, hint, retryable, data } = event;
      return { kind: 'error', code, message, hint, retryable, data };
    }
    case 'aborted':
      return { kind: 'aborted' };
    case 'text':
    case 'thinking':
    case 'call':
      return null;
  }
}

/** A provider that says `aborted` on its own has failed. */
function ended(signal: AbortSignal): Asked {
  return signal.aborted ? { kind: 'aborted' } : cut('the provider aborted the stream');
}

function cut(message: string): AskFailure {
  return failed('agent/stream-cut', message);
}

function failed(code: string, message: string): AskFailure {
  return { kind: 'error', code, message, hint: undefined, retryable: true, data: undefined };
}

/** Nobody waits for a provider that does not listen. */
function release(events: AsyncIterator<ProviderEvent>): void {
  const ending = events.return?.();
  ending?.catch(() => undefined);
}
