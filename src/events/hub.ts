/**
 * Hands events to those who watch. Each subscriber first gets what it missed, from a replay, then what happens.
 *
 * Invariants
 * - E3 A subscription is contiguous: it listens before it replays, and what came both ways is given once.
 * - E4 A subscriber that does not keep up gets one `gap` event in the place of what was dropped, and goes on after it;
 *   it costs the publisher and the others nothing.
 */
import { EXIT, TroupeError } from '../kernel/errors.ts';
import { type Cursor, parseCursor, type TroupeEvent } from '../protocol/event.ts';
import { MATCHING_MAX, QUEUE_MAX } from './limits.ts';
import { Subscription } from './subscription.ts';
import { matchesAny } from './topic.ts';

/** Durable events of a run after a cursor, to the end of the journal as it is when the end is reached. */
export type ReplaySource = (run: string, after: Cursor) => AsyncIterable<TroupeEvent>;

export interface SubscribeOptions {
  /** Only this run; default all. A replay needs one. */
  readonly run?: string;
  /** Globs over types; default all. */
  readonly types?: readonly string[];
  /** Only what these actors do, what is about these tasks; default all. */
  readonly actors?: readonly string[];
  readonly tasks?: readonly string[];
  /** Replay what comes after this cursor first; default: only what happens from now on. */
  readonly from?: string;
  /** Events that may wait; default 1 000. */
  readonly max?: number;
  /** Already there, before anything else: what somebody else could not deliver. */
  readonly first?: readonly TroupeEvent[];
}

/** Who gets events: a queue of the hub, or a function of somebody who delivers to many. */
interface Taker {
  wants(event: TroupeEvent): boolean;
  take(event: TroupeEvent, durable: boolean): void;
}

export interface EventSubscription extends AsyncIterable<TroupeEvent> {
  /** It has given all that there is: no replay, nothing queued, nothing dropped. */
  readonly idle: boolean;
  /** The next event; null once it is closed. Rejects when the replay fails, which also closes it. */
  next(): Promise<TroupeEvent | null>;
  /** Idempotent. */
  close(): void;
}

export class EventHub {
  readonly #replay: ReplaySource | null;
  readonly #subscriptions = new Set<Subscription>();
  readonly #takers = new Set<Taker>();
  /** Who gets events of a run and type; forgotten when somebody comes or goes. */
  readonly #matching = new Map<string, readonly Taker[]>();

  constructor(replay: ReplaySource | null = null) {
    this.#replay = replay;
  }

  /** Costs as much as there are subscribers that match. Durable events of a run come in order of their cursor. */
  publish(event: TroupeEvent, durable = true): void {
    for (const one of this.#matchingOf(event)) one.take(event, durable);
  }

  /** Throws `events/bad-cursor`, and `events/no-replay` for a `from` without a run or a source. */
  subscribe(options: SubscribeOptions = {}): EventSubscription {
    const subscription = new Subscription({
      max: options.max ?? QUEUE_MAX,
      wants: wantsOf(options),
      onClose: () => {
        this.#subscriptions.delete(subscription);
        this.#remove(subscription);
      },
    });
    const replay = options.from === undefined ? null : this.#replayOf(options.run, options.from);
    this.#subscriptions.add(subscription);
    this.#add(subscription);
    for (const event of options.first ?? []) subscription.take(event, !isLive(event));
    if (replay !== null) subscription.catchUp(replay.source, replay.from);
    return subscription;
  }

  /** Each event from now on, at once and without a queue: for one that delivers the same to many. */
  tap(options: Scope, take: (event: TroupeEvent) => void): () => void {
    const taker: Taker = { wants: wantsOf(options), take };
    this.#add(taker);
    return () => this.#remove(taker);
  }

  close(): void {
    for (const subscription of this.#subscriptions) subscription.close();
  }

  #add(taker: Taker): void {
    this.#takers.add(taker);
    this.#matching.clear();
  }

  #remove(taker: Taker): void {
    this.#takers.delete(taker);
    this.#matching.clear();
  }

  #replayOf(
    run: string | undefined,
    cursor: string,
  ): { source: (after: Cursor) => AsyncIterable<TroupeEvent>; from: Cursor } {
    const from = parseCursor(cursor);
    if (from === null) {
      throw new TroupeError({
        code: 'events/bad-cursor',
        message: `"${cursor}" is no cursor: it is written <seq> or <seq>.<i>`,
        exit: EXIT.usage,
      });
    }
    const replay = this.#replay;
    if (replay === null || run === undefined) {
      throw new TroupeError({
        code: 'events/no-replay',
        message: 'a replay needs a run whose journal can be read',
        exit: EXIT.usage,
      });
    }
    return { source: (after) => replay(run, after), from };
  }

  #matchingOf(event: TroupeEvent): readonly Taker[] {
    const key = `${event.run} ${event.type} ${event.actor ?? ''} ${event.task ?? ''}`;
    const known = this.#matching.get(key);
    if (known !== undefined) return known;
    const found = [...this.#takers].filter((one) => one.wants(event));
    // Runs, actors and tasks come and go.
    if (this.#matching.size >= MATCHING_MAX) this.#matching.clear();
    this.#matching.set(key, found);
    return found;
  }
}

/** What somebody wants of all events. */
export type Scope = Pick<SubscribeOptions, 'run' | 'types' | 'actors' | 'tasks'>;

function wantsOf({ run, types = [], actors, tasks }: Scope): (event: TroupeEvent) => boolean {
  return (event) =>
    (run === undefined || run === event.run) &&
    (actors === undefined || isOneOf(actors, event.actor)) &&
    (tasks === undefined || isOneOf(tasks, event.task)) &&
    matchesAny(types, event.type);
}

function isOneOf(names: readonly string[], name: string | undefined): boolean {
  return name !== undefined && names.includes(name);
}

/** Fragments are never replayed, and the first to be given up. */
export function isLive({ type }: TroupeEvent): boolean {
  return type.startsWith('live.');
}
