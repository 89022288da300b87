/**
 * The survival check: after a merge, the lines that either side added are still there. Counted, not aligned: a diff from
 * the merge base gives for each line of text how many more of it there are now, and that net number does not depend on
 * how a diff chose to line things up, nor on renames. Pure.
 *
 * Invariants: W11 a merge that loses an added line is reported, never taken.
 */
import type { ConflictHunk } from './hunks.ts';

/** Net number of occurrences that a diff adds, for each line of text. */
export type LineChanges = ReadonlyMap<string, number>;

export interface FileChanges {
  readonly path: string;
  readonly lines: LineChanges;
}

export interface LostLines {
  readonly path: string;
  /** Whose lines they are: `ours` is the integration branch, `theirs` the task. */
  readonly side: 'ours' | 'theirs';
  readonly lines: readonly string[];
}

/** Reads a patch (`diff-tree -p -U0 --no-renames`). Binary files have no lines. */
export function parseLineChanges(patch: string): FileChanges[] {
  const files: { path: string; lines: Map<string, number> }[] = [];
  let left = { removed: 0, added: 0 };
  for (const line of patch.split('\n')) {
    const file = files.at(-1);
    if (left.removed + left.added > 0 && file !== undefined) {
      left = countLine(file.lines, left, line);
      continue;
    }
    if (line.startsWith('diff --git ')) files.push({ path: '', lines: new Map() });
    else if (file !== undefined && /^(?:---|\+\+\+) ./.test(line))
      file.path = headerPath(line) ?? file.path;
    else left = hunkSize(line) ?? left;
  }
  return files;
}

function countLine(
  lines: Map<string, number>,
  left: { removed: number; added: number },
  line: string,
): { removed: number; added: number } {
  const sign = line[0];
  const text = line.slice(1);
  if (sign === '+') {
    lines.set(text, (lines.get(text) ?? 0) + 1);
    return { ...left, added: left.added - 1 };
  }
  if (sign === '-') {
    lines.set(text, (lines.get(text) ?? 0) - 1);
    return { ...left, removed: left.removed - 1 };
  }
  // `\ No newline at end of file`
  return left;
}

function hunkSize(line: string): { removed: number; added: number } | null {
  const match = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(line);
  if (match === null) return null;
  return { removed: Number(match[1] ?? 1), added: Number(match[2] ?? 1) };
}

function headerPath(line: string): string | null {
  const name = unquote(line.slice(4).replace(/\t$/, ''));
  return name === '/dev/null' ? null : name.replace(/^[ab]\//, '');
}

/** Undoes git's C-style quoting of a name with unusual characters. */
export function unquote(name: string): string {
  if (!name.startsWith('"')) return name;
  const plain: Record<string, string> = {
    n: '\n',
    t: '\t',
    r: '\r',
    a: '\x07',
    b: '\b',
    f: '\f',
    v: '\v',
  };
  return name
    .slice(1, -1)
    .replaceAll(/\\([0-7]{3}|.)/g, (_, escaped: string) =>
      escaped.length === 3
        ? String.fromCodePoint(Number.parseInt(escaped, 8))
        : (plain[escaped] ?? escaped),
    );
}

function sumChanges(files: readonly FileChanges[]): Map<string, number> {
  const total = new Map<string, number>();
  for (const file of files) {
    for (const [line, net] of file.lines) total.set(line, (total.get(line) ?? 0) + net);
  }
  return total;
}

export interface Survival {
  /** Changes from the merge base to each side. */
  readonly ours: readonly FileChanges[];
  readonly theirs: readonly FileChanges[];
  /** Changes from the merge base to what must hold them; a line is there when one of these has it. */
  readonly results: readonly (readonly FileChanges[])[];
  /** Net number of a line that a merge by machine gives; absent: both sides as they are. */
  readonly expected?: LineChanges | undefined;
}

/** Lines that a side added and no result has, by file, with the side that added them. */
export function findLost(survival: Survival): LostLines[] {
  const ours = sumChanges(survival.ours);
  const theirs = sumChanges(survival.theirs);
  const results = survival.results.map(sumChanges);
  const isLost = (line: string): boolean => {
    const inOurs = ours.get(line) ?? 0;
    const inTheirs = theirs.get(line) ?? 0;
    // Both sides may have made the very same addition, which a merge takes once.
    const both = Math.min(inOurs + inTheirs, Math.max(inOurs, inTheirs));
    const need = Math.min(both, survival.expected?.get(line) ?? both);
    return results.every((result) => (result.get(line) ?? 0) < need);
  };
  return [...lostOf(survival.ours, 'ours', isLost), ...lostOf(survival.theirs, 'theirs', isLost)];
}

function lostOf(
  files: readonly FileChanges[],
  side: LostLines['side'],
  isLost: (line: string) => boolean,
): LostLines[] {
  return files.flatMap((file) => {
    const added = [...file.lines].filter(([line, net]) => net > 0 && isSignificant(line));
    const lines = added.map(([line]) => line).filter(isLost);
    return lines.length === 0 ? [] : [{ path: file.path, side, lines }];
  });
}

/** Brackets and blank lines say nothing about whose work is there. */
export function isSignificant(line: string): boolean {
  return /[\p{L}\p{N}]/u.test(line);
}

/** What a merge by machine settles for certain: its changes without what stands inside conflict hunks. */
export function outsideHunks(
  merged: readonly FileChanges[],
  hunks: readonly ConflictHunk[],
): Map<string, number> {
  const expected = sumChanges(merged);
  for (const hunk of hunks) {
    for (const line of [...hunk.ours, ...(hunk.base ?? []), ...hunk.theirs]) {
      expected.set(line, (expected.get(line) ?? 0) - 1);
    }
  }
  return expected;
}

/**
 * Sides of hunks where both sides only added (nothing stood there before) and a resolution kept no line of one side:
 * the usual way in which a resolver drops the work of another.
 */
export function droppedSides(
  hunks: readonly ConflictHunk[],
  results: readonly (readonly FileChanges[])[],
): Omit<LostLines, 'path'>[] {
  const sums = results.map(sumChanges);
  const survives = (line: string): boolean => sums.some((sum) => (sum.get(line) ?? 0) > 0);
  const dropped: Omit<LostLines, 'path'>[] = [];
  for (const hunk of hunks) {
    if (hunk.base === null || hunk.base.some(isSignificant)) continue;
    for (const side of ['ours', 'theirs'] as const) {
      const lines = hunk[side].filter(isSignificant);
      if (lines.length > 0 && !lines.some(survives)) dropped.push({ side, lines });
    }
  }
  return dropped;
}

/**
 * Of lines that an earlier resolution dropped, those that somebody can still miss: what the integration branch itself has
 * taken away since (`now`: its changes from the same base) is nobody's loss, and could never be brought back.
 */
export function stillThere(lost: readonly LostLines[], now: readonly FileChanges[]): LostLines[] {
  const sum = sumChanges(now);
  return lost.flatMap((file) => {
    if (file.side === 'theirs') return [file];
    const lines = file.lines.filter((line) => (sum.get(line) ?? 0) > 0);
    return lines.length === 0 ? [] : [{ ...file, lines }];
  });
}
