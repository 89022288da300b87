/**
 * The letters of one lane in order of position. A plain `Map` would do, but one that is emptied from the front is slow to
 * enter again: every look at its first entry passes over all that were deleted.
 *
 * Invariants
 * - M4 Order of position; adding at the end, taking anywhere and the look at the first cost the same at every size.
 */
import type { Letter } from './letter.ts';

export interface LetterQueue {
  /** Positions, rising; of letters that are gone, too, until they are cleared away. */
  ns: number[];
  /** Null: gone. */
  letters: (Letter | null)[];
  /** Index of the first that is there. */
  head: number;
  size: number;
  /** Rises when letters move to other indexes. */
  moves: number;
}

/** Letters that are gone are cleared away when there are so many of them, and more than are there. */
const GONE_MAX = 1024;

export function makeQueue(): LetterQueue {
  return { ns: [], letters: [], head: 0, size: 0, moves: 0 };
}

export function addLetter(queue: LetterQueue, letter: Letter): void {
  const { n } = letter.envelope;
  const { ns, letters } = queue;
  queue.size += 1;
  if (n > (ns.at(-1) ?? 0)) {
    ns.push(n);
    letters.push(letter);
    return;
  }
  // A letter that comes back goes to its place.
  const at = indexOf(ns, n);
  if (ns[at] === n) {
    letters[at] = letter;
  } else {
    ns.splice(at, 0, n);
    letters.splice(at, 0, letter);
  }
  queue.head = Math.min(queue.head, at);
  queue.moves += 1;
}

export function dropLetter(queue: LetterQueue, n: number): void {
  const { ns, letters } = queue;
  const at = indexOf(ns, n);
  if (ns[at] !== n || letters[at] === null) return;
  letters[at] = null;
  queue.size -= 1;
  while (queue.head < letters.length && letters[queue.head] === null) queue.head += 1;
  const gone = letters.length - queue.size;
  if (gone < GONE_MAX || gone < queue.size) return;
  queue.ns = ns.filter((_, index) => letters[index] !== null);
  queue.letters = letters.filter((letter) => letter !== null);
  queue.head = 0;
  queue.moves += 1;
}

export function* lettersOf(queue: LetterQueue): Generator<Letter> {
  for (let at = queue.head; at < queue.letters.length; at += 1) {
    const letter = queue.letters[at];
    if (letter !== null && letter !== undefined) yield letter;
  }
}

/** Where `n` is, or would be. */
function indexOf(ns: readonly number[], n: number): number {
  let low = 0;
  let high = ns.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ns[middle] ?? 0) < n) low = middle + 1;
    else high = middle;
  }
  return low;
}
