/**
 * Which letter of a recording one that came now is. Letters of several senders cross each other as they like, so a place in
 * the mailbox says nothing: sender, type, task and text do.
 */
import type { Letter } from './track.ts';

export class LetterBook<T extends Letter> {
  readonly #recorded: readonly Letter[];
  readonly #normal: (letter: Letter, recorded: boolean) => string;
  readonly #came = new Map<number, T>();
  readonly #byText = new Map<string, number[]>();
  #others: T[] = [];

  /** `normal`: the text of a letter without what varies from run to run. */
  constructor(recorded: readonly Letter[], normal: (letter: Letter, recorded: boolean) => string) {
    this.#recorded = recorded;
    this.#normal = normal;
    for (const [index, letter] of recorded.entries()) {
      const key = this.#keyOf(letter, true);
      this.#byText.set(key, [...(this.#byText.get(key) ?? []), index]);
    }
  }

  /** Index of the recorded letter that it is word for word; null: none that has not come yet. */
  take(letter: T): number | null {
    const found = this.#byText.get(this.#keyOf(letter, false))?.find((at) => !this.#came.has(at));
    if (found === undefined) this.#others.push(letter);
    else this.#came.set(found, letter);
    return found ?? null;
  }

  get(index: number): T | null {
    return this.#came.get(index) ?? this.#alike(index);
  }

  get hasOthers(): boolean {
    return this.#others.length > 0;
  }

  /** Came, and are no letter of the recording; each is given once. */
  takeOthers(): T[] {
    const others = this.#others;
    this.#others = [];
    return others;
  }

  /** One of the same sender, type and task that says something else: the difference will show in the request. */
  #alike(index: number): T | null {
    const wanted = this.#recorded[index];
    const at = this.#others.findIndex((one) => wanted !== undefined && alike(one, wanted));
    const found = this.#others[at];
    if (found === undefined) return null;
    this.#others.splice(at, 1);
    this.#came.set(index, found);
    return found;
  }

  #keyOf(letter: Letter, recorded: boolean): string {
    const { from, type, task = '' } = letter;
    return [from, type, task, this.#normal(letter, recorded)].join('\n');
  }
}

function alike(a: Letter, b: Letter): boolean {
  return a.from === b.from && a.type === b.type && a.task === b.task;
}
