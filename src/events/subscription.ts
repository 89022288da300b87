/**
 * One subscriber of the hub: its queue, its replay, its gap.
 *
 * Invariants: E3, E4 of `hub.ts`.
 */
import { type Cursor, parseCursor, type TroupeEvent } from '../protocol/event.ts';
import { CATCH_UP_ROUNDS } from './limits.ts';

export interface SubscriptionOptions {
  readonly max: number;
  readonly wants: (event: TroupeEvent) => boolean;
  readonly onClose: () => void;
}

interface Gap {
  readonly from: string;
  to: TroupeEvent;
  dropped: number;
}

export class Subscription {
  readonly #options: SubscriptionOptions;
  #queue: TroupeEvent[] = [];
  /** What was dropped behind the queue; nothing is queued until the marker is. */
  #gap: Gap | null = null;
  /** While it replays: the events to give, from the journal. */
  #replay: AsyncIterator<TroupeEvent> | null = null;
  /** Last durable event that was given, or where the replay begins. */
  #last: Cursor | null = null;
  #closed = false;
  #wake: () => void = () => {};

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  get idle(): boolean {
    return this.#replay === null && this.#queue.length === 0 && this.#gap === null;
  }

  wants(event: TroupeEvent): boolean {
    return this.#options.wants(event);
  }

  take(event: TroupeEvent, durable: boolean): void {
    if (this.#closed) return;
    const { max } = this.#options;
    if (!durable) {
      // Fragments are given up first, and nobody has to know.
      if (this.#replay !== null || this.#gap !== null || this.#queue.length >= max / 2) return;
      this.#push(event);
    } else if (this.#gap !== null) {
      this.#gap.to = event;
      this.#gap.dropped += 1;
    } else if (this.#queue.length >= max) {
      this.#gap = { from: event.cursor, to: event, dropped: 1 };
    } else {
      this.#push(event);
    }
  }

  /** Gives what the source has after `from` before anything that was taken since. */
  catchUp(source: (after: Cursor) => AsyncIterable<TroupeEvent>, from: Cursor): void {
    this.#last = from;
    this.#replay = this.#rounds(source)[Symbol.asyncIterator]();
  }

  async next(): Promise<TroupeEvent | null> {
    for (;;) {
      if (this.#closed) return null;
      const event = this.#replay === null ? this.#shift() : await this.#nextReplayed(this.#replay);
      if (this.#isClosed()) return null;
      if (event !== null) return event;
      if (this.#replay !== null || this.#queue.length > 0 || this.#gap !== null) continue;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue = [];
    this.#options.onClose();
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TroupeEvent, void, undefined> {
    try {
      for (let event = await this.next(); event !== null; event = await this.next()) yield event;
    } finally {
      this.close();
    }
  }

  /** May have changed while something was awaited. */
  #isClosed(): boolean {
    return this.#closed;
  }

  #push(event: TroupeEvent): void {
    this.#queue.push(event);
    this.#wake();
  }

  #shift(): TroupeEvent | null {
    const event = this.#queue.shift();
    if (event !== undefined) {
      this.#last = parseCursor(event.cursor) ?? this.#last;
      return event;
    }
    const gap = this.#gap;
    if (gap === null) return null;
    this.#gap = null;
    const { to, from, dropped } = gap;
    return {
      cursor: to.cursor,
      id: `${to.run}:gap:${from}`,
      at: to.at,
      run: to.run,
      type: 'gap',
      data: { from, to: to.cursor, dropped },
    };
  }

  async #nextReplayed(replay: AsyncIterator<TroupeEvent>): Promise<TroupeEvent | null> {
    try {
      const next = await replay.next();
      if (next.done !== true) return next.value;
    } catch (error) {
      this.close();
      throw error;
    }
    this.#replay = null;
    return null;
  }

  /** Replays until nothing was dropped meanwhile: what was, is in the journal by then. */
  async *#rounds(
    source: (after: Cursor) => AsyncIterable<TroupeEvent>,
  ): AsyncGenerator<TroupeEvent> {
    for (let round = 0; round < CATCH_UP_ROUNDS; round += 1) {
      if (this.#gap !== null) this.#queue = [];
      this.#gap = null;
      for await (const event of source(this.#last ?? { seq: 0, index: -1 })) {
        if (this.#closed) return;
        const cursor = parseCursor(event.cursor);
        if (cursor === null || !this.#isNew(cursor)) continue;
        this.#last = cursor;
        if (this.wants(event)) yield event;
      }
      if (this.#gap === null) break;
    }
    this.#queue = this.#queue.filter((event) => {
      const cursor = parseCursor(event.cursor);
      return cursor === null || this.#isNew(cursor);
    });
  }

  #isNew(cursor: Cursor): boolean {
    const last = this.#last;
    if (last === null || cursor.seq !== last.seq) return last === null || cursor.seq > last.seq;
    return cursor.index > last.index;
  }
}
