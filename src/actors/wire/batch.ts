/** Collects what one tick produces and sends it as one string: a post per message costs more than the message. */
export class Batch<T> {
  #items: T[] = [];
  #scheduled = false;
  #deferred = false;
  readonly #send: (text: string) => void;
  readonly #defer: (flush: () => void) => void;

  /** `defer` calls back after what has arrived by now was handled; default: at the end of the tick. */
  constructor(
    send: (text: string) => void,
    defer: (flush: () => void) => void = (flush) => queueMicrotask(flush),
  ) {
    this.#send = send;
    this.#defer = defer;
  }

  push(item: T): void {
    this.#items.push(item);
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.flush();
    });
  }

  /** For what nobody waits for: it goes with the next item, or after all that has arrived by now. */
  pushLater(item: T, merge: (last: T, item: T) => T | null): void {
    const last = this.#items.at(-1);
    const merged = last === undefined ? null : merge(last, item);
    if (merged === null) this.#items.push(item);
    else this.#items[this.#items.length - 1] = merged;
    if (this.#scheduled || this.#deferred) return;
    this.#deferred = true;
    this.#defer(() => {
      this.#deferred = false;
      this.flush();
    });
  }

  /** Sends at once what is waiting. */
  flush(): void {
    if (this.#items.length === 0) return;
    const items = this.#items;
    this.#items = [];
    this.#send(JSON.stringify(items));
  }
}
