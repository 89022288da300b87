/**
 * Notes as people can read and write them: a Markdown list. What Troupe notes carries in a comment when, by whom and in
 * which run, and the id by which it is the same note wherever it stands.
 */
import { NOTE_CHARS_MAX } from './limits.ts';

export interface Note {
  readonly text: string;
  /** Null: a person wrote it. */
  readonly noted: {
    readonly at: string;
    readonly by: string;
    readonly run: string;
    readonly id: string;
  } | null;
}

const MARK = /<!-- (\d{4}-\d\d-\d\dT[\d:.]+Z) ([\w-]+) ([\w-]+) ([\w-]+) -->\s*$/;

export function formatNote({ text, noted }: Note): string {
  // Its text can't pass for the mark of another, nor for another note.
  const plain = text
    .replaceAll('<!--', '<! --')
    .trim()
    .replaceAll(/\s*\n\s*/g, '\n  ');
  const mark = noted === null ? '' : ` <!-- ${noted.at} ${noted.by} ${noted.run} ${noted.id} -->`;
  return `- ${plain}${mark}`;
}

/** List items and paragraphs, in the order of the file; headings and rules are passed over. Never throws. */
export function parseNotes(source: string): Note[] {
  const blocks: string[][] = [];
  let open = false;
  for (const line of source.replaceAll('\r\n', '\n').split('\n')) {
    if (/^\s*$/.test(line) || /^#{1,6}\s/.test(line) || /^(---+|===+)\s*$/.test(line)) {
      open = false;
      continue;
    }
    const [, item] = /^[-*+] +(.*)$/.exec(line) ?? [];
    if (item !== undefined) blocks.push([item]);
    else if (open) blocks.at(-1)?.push(line.trim());
    else blocks.push([line.trim()]);
    open = true;
  }
  return blocks.flatMap((lines): Note[] => {
    const whole = lines.join('\n').trim();
    const [mark, at, by, run, id] = MARK.exec(whole) ?? [];
    const text = (mark === undefined ? whole : whole.slice(0, -mark.length)).trim();
    if (text === '') return [];
    const noted =
      at === undefined || by === undefined || run === undefined || id === undefined
        ? null
        : { at, by, run, id };
    return [{ text: text.slice(0, NOTE_CHARS_MAX * 2), noted }];
  });
}

/** Texts that say the same. */
export function sameText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s\p{P}]+/gu, ' ')
    .trim();
}
