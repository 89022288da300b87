/**
 * Carries the events of one subscription to a client, no faster than it reads. What waits is bounded where it waits, in
 * room `events`, which marks a gap when a client is too slow (E3, E4).
 */
import type { EventSubscription } from '../events/index.ts';
import type { Notice } from '../protocol/wire.ts';

export interface Outlet {
  /** False while too much waits to be sent. */
  readonly open: boolean;
  send(notice: Notice): void;
  /** Resolves when `open` may be true again, or when the connection has ended. */
  drained(): Promise<void>;
}

export interface Carriage {
  readonly id: string;
  readonly events: EventSubscription;
  readonly live: boolean;
  readonly outlet: Outlet;
}

/** Resolves when the subscription is closed; rejects when its replay fails. */
export async function carryEvents({ id, events, live, outlet }: Carriage): Promise<void> {
  for await (const event of events) {
    if (!live && event.type.startsWith('live.')) continue;
    while (!outlet.open) await outlet.drained();
    outlet.send({ method: 'event', params: { subscription: id, event } });
  }
}
