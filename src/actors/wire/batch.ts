/** Collects what one tick produces and sends it as one string: a post per message costs more than the message. */
export class Batch<T> {
  #items: T[] = [];
  #scheduled = false;
  readonly #send: (text: string) => void;

  constructor(send: (text: string) => void) {
    this.#send = send;
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

  /** Sends at once what is waiting. */
  flush(): void {
    if (this.#items.length === 0) return;
    const items = this.#items;
    this.#items = [];
    this.#send(JSON.stringify(items));
  }
}
