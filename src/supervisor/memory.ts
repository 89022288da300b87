/** What a run noted, into the memory of the workspace. */
import type { MemoryStore } from '../memory/index.ts';
import type { Effect } from './effect.ts';

type Notes = Extract<Effect, { type: 'memory.keep' }>['notes'];

export function keeperOf(store: MemoryStore, run: string): { keep(notes: Notes): Promise<void> } {
  return {
    keep: (notes) =>
      store.keep(notes.map(({ id, by, at, text }) => ({ text, noted: { id, by, at, run } }))),
  };
}
