/**
 * Bytes of a terminal as keys. Pure. What comes in one piece and is no single key was pasted, or is older than what is shown:
 * it is a text, and never the press of a button.
 */

type NamedKey =
  | 'enter'
  | 'escape'
  | 'backspace'
  | 'up'
  | 'down'
  | 'pageup'
  | 'pagedown'
  | 'home'
  | 'end';

/** One character, the name of a key, or a text. */
export type Key = string | { readonly text: string };

const NAMED: Readonly<Record<string, NamedKey>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\u001B': 'escape',
  '\u007F': 'backspace',
  '\b': 'backspace',
  '\u001B[A': 'up',
  '\u001BOA': 'up',
  '\u001B[B': 'down',
  '\u001BOB': 'down',
  '\u001B[5~': 'pageup',
  '\u001B[6~': 'pagedown',
  '\u001B[H': 'home',
  '\u001BOH': 'home',
  '\u001B[1~': 'home',
  '\u001B[F': 'end',
  '\u001BOF': 'end',
  '\u001B[4~': 'end',
};

// oxlint-disable-next-line no-control-regex -- these are what is looked for
const CONTROL = /[\u0000-\u001F\u007F-\u009F]/g;

/** What one piece of input means; nothing for sequences that are no key of ours, like a click or a change of focus. */
export function keysOf(piece: string): Key[] {
  const named = Object.hasOwn(NAMED, piece) ? NAMED[piece] : undefined;
  if (named !== undefined) return [named];
  if (piece.startsWith('\u001B')) return [];
  // A line that was typed ahead ends its text.
  const end = /[\r\n]$/.test(piece);
  const text = piece.replaceAll(CONTROL, '');
  const keys: Key[] = text === '' ? [] : [Array.from(text).length === 1 && !end ? text : { text }];
  return end && text !== '' ? [...keys, 'enter'] : keys;
}
