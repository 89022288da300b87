/** From the names of a recorded run to those of the run that plays it: places, the run's id, ids that were minted. */
import { mapTexts } from '../../events/index.ts';
import { mintedIds, type RunPlaces } from '../../sessions/index.ts';

export class Translation {
  readonly #places: readonly (readonly [string, string])[];
  readonly #run: readonly [RegExp, string];
  readonly #ids = new Map<string, string>();

  constructor(from: RunPlaces, to: RunPlaces) {
    this.#places = [
      [from.trees, to.trees],
      [from.workspace, to.workspace],
    ];
    this.#run = [new RegExp(`(?<![a-z0-9_-])${from.run}(?![a-z0-9_-])`, 'g'), to.run];
  }

  /** Two texts that say the same: the ids in them stand for each other. */
  learn(recorded: string, now: string): void {
    const before = mintedIds(recorded);
    const after = mintedIds(now);
    if (before.length !== after.length) return;
    for (const [index, id] of before.entries()) this.#ids.set(id, after[index] ?? id);
  }

  text(recorded: string): string {
    let text = recorded;
    for (const [from, to] of this.#places) if (from.length > 1) text = text.replaceAll(from, to);
    text = text.replaceAll(...this.#run);
    for (const id of new Set(mintedIds(text))) text = text.replaceAll(id, this.#ids.get(id) ?? id);
    return text;
  }

  /** Every text in plain data. */
  data<T>(recorded: T): T {
    return mapTexts(recorded, (text) => this.text(text)) as T;
  }
}
