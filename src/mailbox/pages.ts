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

/** Plain data, since it is a part of a snapshot. */
export interface PositionMap<T extends object> {
  readonly pages: Map<number, Page<T>>;
  size: number;
}

export function makePositions<T extends object>(): PositionMap<T> {
  return { pages: new Map(), size: 0 };
}

export function itemAt<T extends object>(map: PositionMap<T>, n: number): T | undefined {
  return map.pages.get(n >>> PAGE_BITS)?.items[n & (PAGE - 1)];
}

export function setItem<T extends object>(map: PositionMap<T>, n: number, item: T): void {
  const number = n >>> PAGE_BITS;
  let page = map.pages.get(number);
  if (page === undefined) {
    page = { items: Array.from({ length: PAGE }), count: 0 };
    map.pages.set(number, page);
  }
  const at = n & (PAGE - 1);
  if (page.items[at] === undefined) {
    page.count += 1;
    map.size += 1;
  }
  page.items[at] = item;
}

export function dropItem<T extends object>(map: PositionMap<T>, n: number): void {
  const number = n >>> PAGE_BITS;
  const page = map.pages.get(number);
  const at = n & (PAGE - 1);
  if (page?.items[at] === undefined) return;
  page.items[at] = undefined;
  page.count -= 1;
  map.size -= 1;
  if (page.count === 0) map.pages.delete(number);
}

/** In no order of position. */
export function* itemsOf<T extends object>(map: PositionMap<T>): Generator<T> {
  for (const { items } of map.pages.values()) {
    for (const item of items) if (item !== undefined) yield item;
  }
}
