/**
 * What an actor is given next, and in which order (M5): control first, then interrupt, normal, bulk; within a lane by
 * position. Who waits long moves up, but never before control.
 *
 * Invariants
 * - M4 Order is kept per sender, recipient and lane.
 * - M3 `delivered` is volatile: it is lost with the thread, and the envelope is given again.
 */
import { invariant } from '../kernel/invariant.ts';
import { type Envelope, LANES } from '../protocol/envelope.ts';
import { AGING_MS } from './limits.ts';
import type { Letter, MailState } from './state.ts';

export interface DeliverOptions {
  /** The wall clock, for aging. */
  readonly nowMs: number;
  /** At most so many; default all. */
  readonly max?: number;
  /** Without `bulk`, which is not worth a wake-up or a place in the turn by itself. */
  readonly exceptBulk?: boolean;
}

/** Unread and not yet delivered in this activation, in delivery order. Costs as much as it returns. */
export function deliverable(state: MailState, actor: string, options: DeliverOptions): Envelope[] {
  const box = state.boxes.get(actor);
  if (box === undefined) return [];
  const lanes = options.exceptBulk === true ? LANES.filter((lane) => lane !== 'bulk') : LANES;
  const queues = lanes.map((lane, level) => makeQueue(box.lanes[lane], level, box.delivered));
  const max = options.max ?? Number.POSITIVE_INFINITY;
  const found: Envelope[] = [];
  while (found.length < max) {
    const first = queues
      .filter((queue) => queue.head !== undefined)
      .toSorted((a, b) => compareHeads(a, b, options.nowMs))[0];
    if (first?.head === undefined) break;
    found.push(first.head.envelope);
    first.advance();
  }
  return found;
}

/** These positions are in the request that goes out now. */
export function markDelivered(state: MailState, actor: string, ns: readonly number[]): void {
  const box = state.boxes.get(actor);
  for (const n of ns) {
    invariant(box !== undefined && n <= box.last, `M3: ${actor} has no mail at ${n}`);
    if (box.unread.has(n)) box.delivered.add(n);
  }
}

/**
 * Unread control mail that names an incarnation (`body.incarnation`) which the actor has passed: it is meant for one
 * that is gone and must not reach its successor (M6). The caller records it as dead.
 */
export function staleControl(state: MailState, actor: string, incarnation: number): Envelope[] {
  const letters = state.boxes.get(actor)?.lanes.control.values() ?? [];
  return Array.from(letters, (letter) => letter.envelope).filter((envelope) => {
    const meant = envelope.body['incarnation'];
    return typeof meant === 'number' && meant < incarnation;
  });
}

interface LaneQueue {
  readonly level: number;
  head: Letter | undefined;
  advance(): void;
}

function makeQueue(
  letters: ReadonlyMap<number, Letter>,
  level: number,
  delivered: ReadonlySet<number>,
): LaneQueue {
  const iterator = letters.values();
  const queue: LaneQueue = {
    level,
    head: undefined,
    advance(): void {
      queue.head = undefined;
      for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
        if (delivered.has(next.value.envelope.n)) continue;
        queue.head = next.value;
        return;
      }
    },
  };
  queue.advance();
  return queue;
}

/** Heads are enough: within a lane nobody waits longer than its head. */
function compareHeads(a: LaneQueue, b: LaneQueue, nowMs: number): number {
  const byLevel = levelOf(a, nowMs) - levelOf(b, nowMs);
  return byLevel === 0 ? (a.head?.envelope.n ?? 0) - (b.head?.envelope.n ?? 0) : byLevel;
}

function levelOf(queue: LaneQueue, nowMs: number): number {
  if (queue.level === 0 || queue.head === undefined) return queue.level;
  const steps = Math.floor(Math.max(0, nowMs - queue.head.atMs) / AGING_MS);
  return Math.max(1, queue.level - steps);
}
