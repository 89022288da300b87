/**
 * A map from positions, which are given in order, that does not slow down when it holds a million: positions of one page
 * lie together, so that adding the next one touches nothing else.
 */

const PAGE_BITS = 8;
const PAGE = 1 << PAGE_BITS;

interface Page<T> {
  readonly items: (T | undefined)[];
  count: number;
}

export class PositionMap<T extends object> {
  readonly pages: Map<number, Page<T>> = new Map();
  size = 0;

  get(n: number): T | undefined {
    return this.pages.get(n >>> PAGE_BITS)?.items[n & (PAGE - 1)];
  }

  has(n: number): boolean {
    return this.get(n) !== undefined;
  }

  set(n: number, item: T): void {
    const number = n >>> PAGE_BITS;
    let page = this.pages.get(number);
    if (page === undefined) {
      page = { items: Array.from({ length: PAGE }), count: 0 };
      this.pages.set(number, page);
    }
    const at = n & (PAGE - 1);
    if (page.items[at] === undefined) {
      page.count += 1;
      this.size += 1;
    }
    page.items[at] = item;
  }

  delete(n: number): void {
    const number = n >>> PAGE_BITS;
    const page = this.pages.get(number);
    const at = n & (PAGE - 1);
    if (page?.items[at] === undefined) return;
    page.items[at] = undefined;
    page.count -= 1;
    this.size -= 1;
    if (page.count === 0) this.pages.delete(number);
  }

  /** In no order of position. */
  *values(): Generator<T> {
    for (const { items } of this.pages.values()) {
      for (const item of items) if (item !== undefined) yield item;
    }
  }
}
