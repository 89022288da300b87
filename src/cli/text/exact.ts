/**
 * Text that a person decides on, character for character: whatever could look like something else, or like nothing,
 * stands there as `\u{…}`. Pure.
 */
import { safeText } from './safe.ts';
import { widthOf } from './width.ts';

/** Blanks that are no space, what has no width, what no font shows, and halves of characters. */
const ODD =
  /[^\S \n\t]|[\u115F\u1160\u2800\u3164\uFFA0]|\p{Default_Ignorable_Code_Point}|[\p{Co}\p{Cs}\p{Cn}]/gu;
/** A word of Latin letters with letters of a script that has the same shapes. */
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const LATIN = /\p{Script=Latin}/u;
const ALIKE =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/gu;

const visible = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;

export function exactText(text: string): string {
  return safeText(text)
    .replaceAll(ODD, visible)
    .replaceAll(WORD, (word) => (LATIN.test(word) ? word.replaceAll(ALIKE, visible) : word));
}

/** Lines as the terminal has room for them: each goes on in the next, marked, and nothing is left out. */
export function wrapLines(text: string, columns: number): string[] {
  const width = Math.max(4, columns);
  return text
    .replaceAll('\t', '    ')
    .split('\n')
    .flatMap((line) => wrapLine(line, width));
}

const GOES_ON = '↪ ';
const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

function wrapLine(line: string, width: number): string[] {
  if (widthOf(line) <= width) return [line];
  const lines: string[] = [];
  let current = '';
  let used = 0;
  for (const { segment } of segmenter.segment(line)) {
    const own = widthOf(segment);
    if (used + own > width) {
      lines.push(current);
      current = GOES_ON;
      used = widthOf(GOES_ON);
    }
    current += segment;
    used += own;
  }
  return [...lines, current];
}

/** The input of a call: a command as it is written; else each parameter, texts of several lines below its name. */
export function inputText(input: unknown): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return exactText(typeof input === 'string' ? input : (JSON.stringify(input) ?? ''));
  }
  const entries = Object.entries(input);
  const [first] = entries;
  if (entries.length === 1 && first?.[0] === 'command' && typeof first[1] === 'string') {
    return exactText(first[1]);
  }
  return entries.map(([key, value]) => parameterText(exactText(key), value)).join('\n');
}

function parameterText(key: string, value: unknown): string {
  if (typeof value !== 'string') {
    const json = exactText(JSON.stringify(value, null, 2) ?? '');
    return json.includes('\n') ? `${key}:\n${barred(json)}` : `${key}: ${json}`;
  }
  const text = exactText(value);
  return text.includes('\n') ? `${key}:\n${barred(text)}` : `${key}: ${text}`;
}

/** So that no line of a text looks like a parameter of its own. */
const barred = (text: string): string =>
  text
    .split('\n')
    .map((line) => `│ ${line}`)
    .join('\n');
