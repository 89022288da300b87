/** Which notes are told, newest and most relevant first, within a budget. */
import { type Note, sameText } from './note.ts';

export interface RecallOptions {
  /** Words that are looked for; empty: the newest. */
  readonly query?: string | undefined;
  readonly charsMax: number;
}

/** `notes`: oldest first. One line or more for each; empty when nothing is there, or nothing fits the query. */
export function recall(notes: readonly Note[], options: RecallOptions): string[] {
  const lines: string[] = [];
  let left = options.charsMax;
  for (const note of ranked(unique(notes), wordsOf(options.query ?? ''))) {
    const line = tell(note);
    if (line.length > left) continue;
    left -= line.length;
    lines.push(line);
  }
  return lines;
}

/** The newest of those that say the same, newest first. */
function unique(notes: readonly Note[]): Note[] {
  const said = new Set<string>();
  return notes.toReversed().filter(({ text }) => {
    const key = sameText(text);
    if (said.has(key)) return false;
    said.add(key);
    return true;
  });
}

/** By how rare the words are that it has of the query; of equals the newer first. */
function ranked(notes: readonly Note[], query: readonly string[]): readonly Note[] {
  if (query.length === 0) return notes;
  const words = notes.map(({ text }) => wordsOf(text));
  const holds = (own: readonly string[], word: string): boolean =>
    own.some((one) => one === word || (word.length >= 4 && one.startsWith(word)));
  const weights = query.map((word) => {
    const count = words.filter((own) => holds(own, word)).length;
    return Math.log(1 + (notes.length + 1) / (count + 0.5));
  });
  const scored = notes.map((note, index) => {
    const own = words[index] ?? [];
    const score = query.reduce(
      (sum, word, at) => sum + (holds(own, word) ? (weights[at] ?? 0) : 0),
      0,
    );
    return { note, score, index };
  });
  return scored
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.index - b.index)
    .map(({ note }) => note);
}

/** Small words, each once; a plural is its singular. */
function wordsOf(text: string): string[] {
  const found =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{N}_]{2,}/gu) ?? [];
  return [...new Set(found.map((word) => (word.length > 3 ? word.replace(/s$/, '') : word)))];
}

function tell({ text, noted }: Note): string {
  const from =
    noted === null ? '' : ` (noted ${noted.at.slice(0, 10)} by ${noted.by} in run ${noted.run})`;
  return `- ${text.replaceAll('\n', '\n  ')}${from}`;
}
