/** A binary heap of things that are due: adding and taking cost O(log n), and looking at the first nothing. */
export class DueHeap<T> {
  readonly #entries: { readonly at: number; readonly value: T }[] = [];
  /** Comparisons so far: what tests hold against log n. */
  compared = 0;

  get size(): number {
    return this.#entries.length;
  }

  firstAt(): number | null {
    return this.#entries[0]?.at ?? null;
  }

  add(at: number, value: T): void {
    this.#entries.push({ at, value });
    let child = this.#entries.length - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if (!this.#before(child, parent)) break;
      this.#swap(child, parent);
      child = parent;
    }
  }

  take(): T | null {
    const first = this.#entries[0];
    const last = this.#entries.pop();
    if (first === undefined || last === undefined) return null;
    if (this.#entries.length === 0) return first.value;
    this.#entries[0] = last;
    let parent = 0;
    for (;;) {
      const left = 2 * parent + 1;
      if (left >= this.#entries.length) break;
      const right = left + 1;
      const child = right < this.#entries.length && this.#before(right, left) ? right : left;
      if (!this.#before(child, parent)) break;
      this.#swap(child, parent);
      parent = child;
    }
    return first.value;
  }

  #before(a: number, b: number): boolean {
    this.compared += 1;
    return (this.#entries[a]?.at ?? 0) < (this.#entries[b]?.at ?? 0);
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#entries[a], this.#entries[b]];
    if (one === undefined || other === undefined) return;
    this.#entries[a] = other;
    this.#entries[b] = one;
  }
}
