/** Private keys in armour: everything between the two lines, whatever stands before each line; without an end, what looks like it. */
import { PEM_MAX } from './limits.ts';
import type { Span } from './secret-names.ts';

const BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const END = '-----END ';
const END_LINE = /-----END [A-Z0-9 ]{0,40}-----/y;
/** One piece of a body, each linear and none a prefix of another. */
const PIECE =
  /[\s"']*(?:\\[nr]|[A-Za-z0-9+/=]{16,}|(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]{0,200})/y;
const LAST = /(?:[\s"']|\\[nr]){0,8}[A-Za-z0-9+/]{1,15}={0,2}(?=$|[\n"'\\])/y;

export interface PemBlock {
  readonly span: Span;
  /** No end was found: more of it may come. */
  readonly open: boolean;
}

export function pemBlocks(text: string): PemBlock[] {
  const found: PemBlock[] = [];
  let behind = 0;
  for (const match of text.matchAll(BEGIN)) {
    const start = match.index + match[0].length;
    if (match.index < behind) continue;
    const end = text.indexOf(END, start);
    // Without any end the search would be as long for each that follows.
    const closed = end >= 0 && end - start <= PEM_MAX;
    const to = closed ? endOfLine(text, end) : endOfBody(text, start);
    if (to > start) found.push({ span: [start, to], open: !closed });
    behind = to;
    if (end < 0) break;
  }
  return found;
}

function endOfLine(text: string, at: number): number {
  END_LINE.lastIndex = at;
  return END_LINE.test(text) ? END_LINE.lastIndex : at;
}

function endOfBody(text: string, start: number): number {
  let at = start;
  PIECE.lastIndex = at;
  while (PIECE.test(text)) {
    at = PIECE.lastIndex;
  }
  LAST.lastIndex = at;
  return at > start && LAST.test(text) ? LAST.lastIndex : at;
}
