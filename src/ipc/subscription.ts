/**
 * One subscription: replay from a cursor, then live, for a client that may be slow.
 *
 * Invariants
 * - E3 Listening starts before the replay, so between the two nothing is missed; what came twice is dropped by cursor.
 * - E4 At most `eventsMax` events wait. Past it they are dropped, and before the next one a gap marker says how many and
 *   after which cursor, so that the client can subscribe again from there. A slow client costs others nothing.
 */
import type { EventFeed } from '../control/index.ts';
import type { Cursor, TroupeEvent } from '../protocol/event.ts';
import { parseCursor } from '../protocol/event.ts';
import type { Notice } from '../protocol/wire.ts';

export interface Outlet {
  /** False while too much waits to be sent. */
  readonly open: boolean;
  send(notice: Notice): void;
  /** Resolves when `open` may be true again, or when the connection has ended. */
  drained(): Promise<void>;
}

export interface SubscriptionOptions {
  readonly id: string;
  readonly run: string;
  readonly from: Cursor | null;
  readonly live: boolean;
  readonly feed: EventFeed;
  readonly outlet: Outlet;
  readonly eventsMax: number;
  /** A replay that failed ends the subscription. */
  readonly onError: (error: unknown) => void;
}

/** A replay that cannot catch up with what happens meanwhile is given up after so many rounds; a gap marker tells. */
const CATCH_UP_ROUNDS = 3;

const isAfter = (a: Cursor, b: Cursor): boolean =>
  a.seq > b.seq || (a.seq === b.seq && a.index > b.index);

export class Subscription {
  private readonly options: SubscriptionOptions;
  private readonly unlisten: () => void;
  private queue: TroupeEvent[] = [];
  private dropped = 0;
  private last: Cursor | null;
  private replaying: boolean;
  private closed = false;

  constructor(options: SubscriptionOptions) {
    this.options = options;
    this.last = options.from;
    this.replaying = options.from !== null;
    this.unlisten = options.feed.listen(options.run, (event, durable) => {
      if (durable) this.take(event);
      else this.takeLive(event);
    });
    if (options.from !== null) this.replay(options.from).catch(options.onError);
  }

  /** The connection can take more. */
  pump(): void {
    const { outlet, id: subscription } = this.options;
    while (this.flowing && (this.queue.length > 0 || this.dropped > 0)) {
      if (this.dropped > 0) {
        const after = this.last === null ? '0' : textOf(this.last);
        outlet.send({ method: 'gap', params: { subscription, after, dropped: this.dropped } });
        this.dropped = 0;
      }
      const event = this.queue.shift();
      if (event !== undefined) this.send(event);
    }
  }

  close(): void {
    this.closed = true;
    this.queue = [];
    this.unlisten();
  }

  private get flowing(): boolean {
    return !this.replaying && !this.closed && this.options.outlet.open;
  }

  private send(event: TroupeEvent): void {
    const { outlet, id: subscription } = this.options;
    this.last = parseCursor(event.cursor);
    outlet.send({ method: 'event', params: { subscription, event } });
  }

  private take(event: TroupeEvent): void {
    if (this.queue.length >= this.options.eventsMax) {
      this.dropped += this.queue.length;
      this.queue = [];
    }
    this.queue.push(event);
    this.pump();
  }

  private takeLive(event: TroupeEvent): void {
    const { outlet, id: subscription, live } = this.options;
    if (live && this.flowing && this.queue.length === 0) {
      outlet.send({ method: 'event', params: { subscription, event } });
    }
  }

  private async replay(from: Cursor): Promise<void> {
    for (let round = 0; round < CATCH_UP_ROUNDS; round += 1) {
      this.dropped = 0;
      await this.replayOnce(this.last ?? from);
      if (this.closed || this.dropped === 0) break;
    }
    const reached = this.last ?? from;
    this.queue = this.queue.filter((event) => {
      const cursor = parseCursor(event.cursor);
      return cursor === null || isAfter(cursor, reached);
    });
    this.replaying = false;
    this.pump();
  }

  private async replayOnce(from: Cursor): Promise<void> {
    const { feed, run } = this.options;
    for await (const event of feed.replay(run, from)) {
      while (!this.closed && !this.options.outlet.open) await this.options.outlet.drained();
      if (this.closed) return;
      this.send(event);
    }
  }
}

const textOf = (cursor: Cursor): string =>
  cursor.index < 0 ? String(cursor.seq) : `${cursor.seq}.${cursor.index}`;
