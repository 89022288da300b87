/** Conflict hunks in a file with markers (`diff3` style), for the owner of the task who has to resolve them; pure. */

export interface ConflictHunk {
  /** From 1, of the opening marker in the file with markers. */
  readonly line: number;
  readonly ours: readonly string[];
  /** What both started from; null when the markers do not tell it. */
  readonly base: readonly string[] | null;
  readonly theirs: readonly string[];
}

type Side = 'ours' | 'base' | 'theirs';

interface Open {
  line: number;
  side: Side;
  ours: string[];
  base: string[] | null;
  theirs: string[];
}

export function parseHunks(text: string): ConflictHunk[] {
  const hunks: ConflictHunk[] = [];
  let open: Open | null = null;
  const lines = text.split('\n');
  for (const [index, line] of lines.entries()) {
    if (/^<{7}(?: |\r?$)/.test(line)) {
      open = { line: index + 1, side: 'ours', ours: [], base: null, theirs: [] };
    } else if (open !== null) {
      if (/^>{7}(?: |\r?$)/.test(line) && open.side === 'theirs') {
        const { ours, base, theirs } = open;
        hunks.push({ line: open.line, ours, base, theirs });
        open = null;
      } else {
        take(open, line);
      }
    }
  }
  return hunks;
}

function take(open: Open, line: string): void {
  if (open.side === 'ours' && /^\|{7}(?: |\r?$)/.test(line)) {
    open.side = 'base';
    open.base = [];
  } else if (open.side !== 'theirs' && /^={7}\r?$/.test(line)) {
    open.side = 'theirs';
  } else if (open.side === 'base') {
    open.base?.push(line);
  } else {
    open[open.side].push(line);
  }
}
