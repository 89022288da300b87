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

export interface Heap<T extends Slotted> {
  readonly items: T[];
  readonly before: (a: T, b: T) => boolean;
  readonly work: Work;
}

export function makeHeap<T extends Slotted>(before: (a: T, b: T) => boolean, work: Work): Heap<T> {
  return { items: [], before, work };
}

export function pushItem<T extends Slotted>(heap: Heap<T>, item: T): void {
  item.slot = heap.items.length;
  heap.items.push(item);
  moveUp(heap, item);
}

/** No effect when the item is in no heap. */
export function removeItem<T extends Slotted>(heap: Heap<T>, item: T): void {
  const slot = item.slot;
  if (slot < 0) return;
  item.slot = -1;
  const last = heap.items.pop();
  if (last === undefined || last === item) return;
  last.slot = slot;
  heap.items[slot] = last;
  moveItem(heap, last);
}

/** To be called after the key of one item changed. */
export function moveItem<T extends Slotted>(heap: Heap<T>, item: T): void {
  moveUp(heap, item);
  moveDown(heap, item);
}

function moveUp<T extends Slotted>(heap: Heap<T>, item: T): void {
  while (item.slot > 0) {
    heap.work.steps += 1;
    const parent = heap.items[(item.slot - 1) >> 1];
    if (parent === undefined || !heap.before(item, parent)) return;
    swap(heap, item, parent);
  }
}

function moveDown<T extends Slotted>(heap: Heap<T>, item: T): void {
  for (;;) {
    heap.work.steps += 1;
    const left = heap.items[item.slot * 2 + 1];
    if (left === undefined) return;
    const right = heap.items[item.slot * 2 + 2];
    const child = right !== undefined && heap.before(right, left) ? right : left;
    if (!heap.before(child, item)) return;
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
