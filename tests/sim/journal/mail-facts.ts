/** What the mail of a simulated run was promised, as those saw it who sent, read and answered it. */
import { INLINE_BYTES_MAX } from '../../../src/journal/index.ts';

export type Fact =
  /** A letter from outside is handed in; its id makes a repetition known. */
  | { readonly type: 'offered'; readonly id: string; readonly to: string; readonly text: string }
  | { readonly type: 'accepted'; readonly id: string; readonly to: string; readonly n: number }
  /** Kept, but nobody will read it; the sender was told. */
  | { readonly type: 'dead'; readonly id: string; readonly to: string; readonly n: number }
  | { readonly type: 'duplicate'; readonly id: string }
  | { readonly type: 'refused'; readonly id: string; readonly code: string }
  /** In the hands of an actor: from here a model may have read it. */
  | {
      readonly type: 'given';
      readonly to: string;
      readonly incarnation: number;
      readonly n: number;
      readonly id: string;
      readonly from: string;
      readonly lane: string;
      /** M8: what its text names as large came with all of it. */
      readonly whole: boolean;
    }
  /** The supervisor said that the step is recorded. */
  | {
      readonly type: 'committed';
      readonly actor: string;
      readonly took: readonly number[];
      readonly seq: number;
    }
  | { readonly type: 'acted'; readonly actor: string; readonly call: string; readonly ok: boolean }
  /** An incarnation that is over tried to commit a step. */
  | { readonly type: 'late'; readonly actor: string }
  /** The life's journal or loop gave up: nothing may be promised after it in that life. */
  | { readonly type: 'failed'; readonly code: string }
  /** A new process begins. */
  | { readonly type: 'life' }
  /** A file was touched again after its sync had failed. */
  | { readonly type: 'retried'; readonly path: string };

export type FactOf<T extends Fact['type']> = Extract<Fact, { type: T }>;

/** Ends the text of a letter whose id ends so: over the bound up to which a record holds it inline. */
export const LARGE_ID = '-large';
const LARGE: string = 'x'.repeat(INLINE_BYTES_MAX + 1);

export function textOf(words: string, id: string): string {
  return id.endsWith(LARGE_ID) ? `${words} ${LARGE}` : words;
}

/** Whether a letter has all of the text that its words promise. */
export function isWhole(text: string): boolean {
  const words = text.slice(0, 200).split(' ');
  return !words.some((word) => word.endsWith(LARGE_ID)) || text.endsWith(LARGE);
}
