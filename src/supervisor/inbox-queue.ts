/**
 * The order in which a run's events are decided. What effects report and what people command goes ahead, as it came; what
 * actors ask for and clients send waits for room, and they take turns.
 *
 * Invariants
 * - S9 Who sends much delays another one's word by a turn for each sender, not by all of what he sent.
 * - M4 Order is kept per actor, its end included, and among clients.
 */
import { USER } from '../kernel/index.ts';
import { FairQueue } from './fair-queue.ts';
import type { RunEvent } from './inbox.ts';
import { TURN_BYTES } from './limits.ts';

interface Item {
  readonly event: RunEvent;
  readonly cost: number;
}

/** Of an event, besides its texts. */
const FRAME_BYTES = 512;

export class InboxQueue {
  private readonly ahead: RunEvent[] = [];
  private readonly fair = new FairQueue<Item>(TURN_BYTES);
  /** The last word of a run. */
  private last: RunEvent | null = null;

  get size(): number {
    return this.ahead.length + this.fair.size + (this.last === null ? 0 : 1);
  }

  /** About so many bytes wait for room. */
  get bytes(): number {
    return this.fair.cost;
  }

  push(event: RunEvent): void {
    const origin = originOf(event);
    if (origin !== null) this.fair.push(origin, { event, cost: FRAME_BYTES + textIn(event) });
    else if (event.type === 'stopped') this.last = event;
    else this.ahead.push(event);
  }

  /** The next in turn; without room only what goes ahead. */
  take(hasRoom: boolean): RunEvent | undefined {
    const first = this.ahead.shift() ?? (hasRoom ? this.fair.take()?.event : undefined);
    if (first !== undefined || this.last === null || this.fair.size > 0) return first;
    const { last } = this;
    this.last = null;
    return last;
  }
}

/** In whose turn it is decided; null: it goes ahead. */
function originOf(event: RunEvent): string | null {
  if (event.type === 'send' || event.type === 'mail.settle') return USER;
  return event.type === 'request' || event.type === 'actor.exited' ? event.name : null;
}

function textIn(event: RunEvent): number {
  if (event.type === 'send') return event.text.length;
  return event.type === 'request' ? textOf(event.upward.request) : 0;
}

/** Characters of all texts in plain data. */
function textOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce((sum: number, part) => sum + textOf(part), 0);
}
