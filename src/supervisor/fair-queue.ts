/**
 * Deficit round-robin over senders: each in turn may give out a quantum of bytes, so that one with a long queue delays
 * nobody else by more than a round.
 *
 * Invariants
 * - M4 Order is kept per sender.
 */

interface Lane<T> {
  readonly sender: string;
  readonly items: T[];
  /** Index of the first item that still waits; the array is cut now and then. */
  at: number;
  /** What it may still give out in this round. */
  deficit: number;
}

const CUT_AT = 1024;

export class FairQueue<T extends { readonly cost: number }> {
  #quantum: number;
  /** Only senders that wait, in the order of their turns. */
  #round: Lane<T>[] = [];
  #bySender: Map<string, Lane<T>> = new Map();
  #size = 0;
  #cost = 0;

  constructor(quantum: number) {
    this.#quantum = quantum;
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes that wait. */
  get cost(): number {
    return this.#cost;
  }

  push(sender: string, item: T): void {
    const known = this.#bySender.get(sender);
    const lane = known ?? { sender, items: [], at: 0, deficit: this.#quantum };
    if (known === undefined) {
      this.#bySender.set(sender, lane);
      this.#round.push(lane);
    }
    lane.items.push(item);
    this.#size += 1;
    this.#cost += item.cost;
  }

  /** The next in turn; undefined when nobody waits. */
  take(): T | undefined {
    for (let lane = this.#round[0]; lane !== undefined; lane = this.#round[0]) {
      const item = lane.items[lane.at];
      if (item === undefined) {
        this.#round.shift();
        this.#bySender.delete(lane.sender);
      } else if (lane.deficit < item.cost) {
        lane.deficit += this.#quantum;
        this.#round.shift();
        this.#round.push(lane);
      } else {
        return this.#give(lane, item);
      }
    }
    return undefined;
  }

  #give(lane: Lane<T>, item: T): T {
    lane.deficit -= item.cost;
    lane.at += 1;
    this.#size -= 1;
    this.#cost -= item.cost;
    if (lane.at === lane.items.length) {
      // Who has nothing waiting keeps no credit.
      this.#round.shift();
      this.#bySender.delete(lane.sender);
    } else if (lane.at >= CUT_AT) {
      lane.items.splice(0, lane.at);
      lane.at = 0;
    }
    return item;
  }
}
