/** The first difference of two texts, as people read it. Pure. */
import { DIFF_CONTEXT, DIFF_LINE_CHARS, DIFF_LINES_MAX } from './limits.ts';

export interface FirstDifference {
  /** From 1. */
  readonly line: number;
  readonly before: string;
  readonly after: string;
  /** A hunk of a unified diff, long lines cut round where they part. */
  readonly hunk: string;
}

/** Null when they are equal. */
export function firstDifference(before: string, after: string): FirstDifference | null {
  if (before === after) return null;
  const a = before.split('\n');
  const b = after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  const [endA, endB] = partsMeet(a, b, start);
  const from = Math.max(0, start - DIFF_CONTEXT);
  const head = a.slice(from, start);
  const tail = a.slice(endA, endA + DIFF_CONTEXT);
  const removed = a.slice(start, endA);
  const added = b.slice(start, endB);
  const at = partsAt(a[start] ?? '', b[start] ?? '');
  const size = (changed: readonly string[]): number => head.length + changed.length + tail.length;
  const lines = [
    `@@ -${from + 1},${size(removed)} +${from + 1},${size(added)} @@`,
    ...head.map((line) => ` ${clip(line, 0)}`),
    ...bounded(removed, '-', at),
    ...bounded(added, '+', at),
    ...tail.map((line) => ` ${clip(line, 0)}`),
  ];
  return {
    line: start + 1,
    before: clip(a[start] ?? '', at),
    after: clip(b[start] ?? '', at),
    hunk: lines.join('\n'),
  };
}

/** Where both sides say the same again: as near as they do so for some lines, else where their common end begins. */
function partsMeet(a: readonly string[], b: readonly string[], start: number): [number, number] {
  for (let apart = 1; apart <= DIFF_LINES_MAX; apart += 1) {
    for (let more = 0; more <= apart; more += 1) {
      const at: [number, number] = [start + more, start + apart - more];
      if (sameFrom(a, b, at)) return at;
    }
  }
  let endA = a.length;
  let endB = b.length;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
  }
  return [endA, endB];
}

function sameFrom(
  a: readonly string[],
  b: readonly string[],
  [inA, inB]: [number, number],
): boolean {
  for (let line = 0; line < DIFF_CONTEXT; line += 1) {
    const one = a[inA + line];
    // Nothing but an end is the same as nothing.
    if (one !== b[inB + line]) return false;
    if (one === undefined) return true;
  }
  return true;
}

function bounded(lines: readonly string[], sign: string, at: number): string[] {
  const shown = lines
    .slice(0, DIFF_LINES_MAX)
    .map((line, index) => `${sign}${clip(line, index === 0 ? at : 0)}`);
  const more = lines.length - shown.length;
  return more > 0 ? [...shown, `${sign}… ${more} more lines`] : shown;
}

function partsAt(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}

/** What stands round `at`. */
function clip(line: string, at: number): string {
  if (line.length <= DIFF_LINE_CHARS) return line;
  const from = Math.max(0, at - DIFF_LINE_CHARS / 2);
  const to = from + DIFF_LINE_CHARS;
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`;
}
