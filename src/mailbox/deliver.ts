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
import type { Letter } from './letter.ts';
import { AGING_MS } from './limits.ts';
import { itemAt } from './pages.ts';
import type { LetterQueue } from './queue.ts';
import { lettersOf } from './queue.ts';
import type { Mailbox, MailState } from './state.ts';

export interface DeliverOptions {
  /** The wall clock, for aging. */
  readonly nowMs: number;
  /** At most so many; default all. */
  readonly max?: number;
  /** Without `bulk`, which is not worth a wake-up or a place in the turn by itself. */
  readonly exceptBulk?: boolean;
  /** Without these, which the actor was given already. */
  readonly except?: HandedOut;
}

/**
 * Positions that an activation of an actor was given. It remembers up to where a lane holds nothing else, so that the next
 * look does not pass over all of them again.
 */
export class HandedOut extends Set<number> {
  readonly passed: Map<LetterQueue, { moves: number; upTo: number }> = new Map();

  override delete(n: number): boolean {
    this.passed.clear();
    return super.delete(n);
  }
}

/** Unread and not yet delivered in this activation, in delivery order. Costs as much as it returns. */
export function deliverable(state: MailState, actor: string, options: DeliverOptions): Envelope[] {
  const box = state.boxes.get(actor);
  if (box === undefined) return [];
  const lanes = options.exceptBulk === true ? LANES.filter((lane) => lane !== 'bulk') : LANES;
  const cursors = lanes
    .map((lane, level) => new LaneCursor(box.lanes[lane], { level, box, except: options.except }))
    .filter((cursor) => cursor.head !== null);
  const max = options.max ?? Number.POSITIVE_INFINITY;
  const found: Envelope[] = [];
  while (found.length < max) {
    let first: LaneCursor | null = null;
    for (const cursor of cursors) {
      if (cursor.head === null) continue;
      if (first === null || compareHeads(cursor, first, options.nowMs) < 0) first = cursor;
    }
    if (first === null || first.head === null) break;
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
    if (itemAt(box.unread, n) !== undefined) box.delivered.add(n);
  }
}

/**
 * Unread control mail that names an incarnation (`body.incarnation`) which the actor has passed: it is meant for one
 * that is gone and must not reach its successor (M6). The caller records it as dead.
 */
export function staleControl(state: MailState, actor: string, incarnation: number): Envelope[] {
  const queue = state.boxes.get(actor)?.lanes.control;
  const letters = queue === undefined ? [] : lettersOf(queue);
  return Array.from(letters, (letter) => letter.envelope).filter((envelope) => {
    const meant = envelope.body['incarnation'];
    return typeof meant === 'number' && meant < incarnation;
  });
}

/** Goes through one lane, past what was delivered. */
class LaneCursor {
  readonly level: number;
  head: Letter | null = null;
  readonly #queue: LetterQueue;
  readonly #delivered: ReadonlySet<number>;
  readonly #except: HandedOut | undefined;
  #at: number;

  constructor(
    queue: LetterQueue,
    parts: { level: number; box: Mailbox; except: HandedOut | undefined },
  ) {
    this.level = parts.level;
    this.#queue = queue;
    this.#delivered = parts.box.delivered;
    this.#except = parts.except;
    const passed = parts.except?.passed.get(queue);
    this.#at = passed?.moves === queue.moves ? Math.max(queue.head, passed.upTo) : queue.head;
    this.advance();
    // Up to the first one that is left, all is handed out or gone, and stays so.
    const upTo = this.head === null ? this.#at : this.#at - 1;
    if (this.#delivered.size === 0) parts.except?.passed.set(queue, { moves: queue.moves, upTo });
  }

  advance(): void {
    const { letters } = this.#queue;
    this.head = null;
    while (this.head === null && this.#at < letters.length) {
      const letter = letters[this.#at] ?? null;
      this.#at += 1;
      if (letter === null || this.#delivered.has(letter.envelope.n)) continue;
      if (this.#except?.has(letter.envelope.n) !== true) this.head = letter;
    }
  }
}

/** Heads are enough: within a lane nobody waits longer than its head. */
function compareHeads(a: LaneCursor, b: LaneCursor, nowMs: number): number {
  const byLevel = levelOf(a, nowMs) - levelOf(b, nowMs);
  return byLevel === 0 ? (a.head?.envelope.n ?? 0) - (b.head?.envelope.n ?? 0) : byLevel;
}

function levelOf(queue: LaneCursor, nowMs: number): number {
  if (queue.level === 0 || queue.head === null) return queue.level;
  const steps = Math.floor(Math.max(0, nowMs - queue.head.atMs) / AGING_MS);
  return Math.max(1, queue.level - steps);
}
