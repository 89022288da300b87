/**
 * A binary heap whose items know their place in it (`slot`), so that one of them can be moved or taken out in
 * O(log n). An item is in at most one heap; `slot` is -1 outside. `work.steps` counts moves, for tests of cost (T9).
 */

export interface Slotted {
  slot: number;
}

export interface Work {
  steps: number;
}

/** Plain data, since it is a part of a snapshot: the order is given with each change, and is one and the same. */
export interface Heap<T extends Slotted> {
  readonly items: T[];
  readonly work: Work;
}

/** True when `a` comes out before `b`. */
export type Order<T> = (a: T, b: T) => boolean;

export function makeHeap<T extends Slotted>(work: Work): Heap<T> {
  return { items: [], work };
}

export function pushItem<T extends Slotted>(heap: Heap<T>, item: T, before: Order<T>): void {
  item.slot = heap.items.length;
  heap.items.push(item);
  moveUp(heap, item, before);
}

/** No effect when the item is in no heap. */
export function removeItem<T extends Slotted>(heap: Heap<T>, item: T, before: Order<T>): void {
  const slot = item.slot;
  if (slot < 0) return;
  item.slot = -1;
  const last = heap.items.pop();
  if (last === undefined || last === item) return;
  last.slot = slot;
  heap.items[slot] = last;
  moveItem(heap, last, before);
}

/** To be called after the key of one item changed. */
export function moveItem<T extends Slotted>(heap: Heap<T>, item: T, before: Order<T>): void {
  moveUp(heap, item, before);
  moveDown(heap, item, before);
}

function moveUp<T extends Slotted>(heap: Heap<T>, item: T, before: Order<T>): void {
  while (item.slot > 0) {
    heap.work.steps += 1;
    const parent = heap.items[(item.slot - 1) >> 1];
    if (parent === undefined || !before(item, parent)) return;
    swap(heap, item, parent);
  }
}

function moveDown<T extends Slotted>(heap: Heap<T>, item: T, before: Order<T>): void {
  for (;;) {
    heap.work.steps += 1;
    const left = heap.items[item.slot * 2 + 1];
    if (left === undefined) return;
    const right = heap.items[item.slot * 2 + 2];
    const child = right !== undefined && before(right, left) ? right : left;
    if (!before(child, item)) return;
    swap(heap, child, item);
  }
}

function swap<T extends Slotted>(heap: Heap<T>, a: T, b: T): void {
  const slot = a.slot;
  a.slot = b.slot;
  b.slot = slot;
  heap.items[a.slot] = a;
  heap.items[b.slot] = b;
}
