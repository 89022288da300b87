/**
 * May two sets of globs name the same path? Decided without a file system, and conservatively: a wrong yes costs
 * some parallelism, a wrong no costs a merge conflict, so every form that is not understood counts as a wildcard.
 *
 * A pattern is split into segments. `**` stands for any number of segments, `*` for any characters of one, `?` for one
 * character; `[…]`, `{…}`, `(…)` and escapes count as `*`, a group that reaches over a `/` or a leading `!` as `**`. A
 * last segment without `*` and `?` may be a folder, so it covers what lies below it too. Case is ignored (some file systems do).
 */

/** `true` stands for `**`; the inner lists are characters, `true` for `*` and `false` for `?`. */
type Segment = true | readonly (string | boolean)[];

export interface Touches {
  /** Equal for equal sets of globs; empty when nothing is touched. */
  readonly signature: string;
  readonly patterns: readonly (readonly Segment[])[];
}

const NOTHING: Touches = { signature: '', patterns: [] };

export function parseTouches(globs: readonly string[]): Touches {
  if (globs.length === 0) return NOTHING;
  const distinct = [...new Set(globs)].toSorted();
  return { signature: distinct.join('\0'), patterns: distinct.map(parsePattern) };
}

export function touchesOverlap(a: Touches, b: Touches): boolean {
  if (a.patterns.length === 0 || b.patterns.length === 0) return false;
  if (a.signature === b.signature) return true;
  return a.patterns.some((left) => b.patterns.some((right) => meet(left, right, SEGMENTS)));
}

/** Those of the paths that no glob names; as above, a form that is not understood names more rather than less. */
export function outsideOf(globs: readonly string[], paths: readonly string[]): string[] {
  const { patterns } = parseTouches(globs);
  return paths.filter((path) => {
    const names: Segment[] = path
      .toLowerCase()
      .split('/')
      .map((name) => Array.from(name));
    return !patterns.some((pattern) => meet(pattern, names, SEGMENTS));
  });
}

/** Two lists of globs, for those who compare once. */
export function globsOverlap(a: readonly string[], b: readonly string[]): boolean {
  return touchesOverlap(parseTouches(a), parseTouches(b));
}

function parsePattern(glob: string): readonly Segment[] {
  const names = glob
    .toLowerCase()
    .split('/')
    .filter((name) => name !== '' && name !== '.');
  if (glob.startsWith('!') || names.includes('..')) return [true];
  const segments: Segment[] = [];
  for (const name of names) {
    if (!groupsAreClosed(name)) return [...segments, true];
    segments.push(name === '**' ? true : parseSegment(name));
  }
  if (!/[*?]/.test(names.at(-1) ?? '') || glob.endsWith('/')) segments.push(true);
  return segments;
}

/** False when a `{`, `[` or `(` of the segment is closed in a later one. */
function groupsAreClosed(name: string): boolean {
  let open = 0;
  for (const letter of name) {
    if (letter === '{' || letter === '[' || letter === '(') open += 1;
    if ((letter === '}' || letter === ']' || letter === ')') && open > 0) open -= 1;
  }
  return open === 0;
}

function parseSegment(name: string): (string | boolean)[] {
  const parts: (string | boolean)[] = [];
  // A group goes to its outermost closing sign, so that nested ones need no care.
  const simple = name.replace(/[@!+?*]?[{[(].*[}\])]/, '*').replaceAll(/\\./g, '*');
  for (const letter of simple) parts.push(letter === '*' ? true : letter === '?' ? false : letter);
  return parts;
}

interface Rules<T> {
  readonly isStar: (item: T) => boolean;
  readonly fits: (a: T, b: T) => boolean;
}

const SEGMENTS: Rules<Segment> = {
  isStar: (segment) => segment === true,
  fits: (a, b) => a === true || b === true || meet(a, b, CHARACTERS),
};

const CHARACTERS: Rules<string | boolean> = {
  isStar: (part) => part === true,
  fits: (a, b) => a === b || a === false || b === false,
};

/**
 * Is there a text that both patterns match? A row of reachable positions in `b` for each position in `a`; a star stays
 * where it is or is left behind.
 */
function meet<T>(a: readonly T[], b: readonly T[], rules: Rules<T>): boolean {
  let row: boolean[] = Array.from({ length: b.length + 1 }, () => false);
  row[0] = true;
  for (let i = 0; i <= a.length; i += 1) {
    const next: boolean[] = Array.from({ length: b.length + 1 }, () => false);
    const left = a[i];
    for (let j = 0; j <= b.length; j += 1) {
      if (row[j] !== true) continue;
      const right = b[j];
      if (
        right !== undefined &&
        (rules.isStar(right) || (left !== undefined && rules.isStar(left)))
      ) {
        row[j + 1] = true;
      }
      if (left === undefined) continue;
      if (rules.isStar(left) || (right !== undefined && rules.isStar(right))) next[j] = true;
      if (right !== undefined && rules.fits(left, right)) next[j + 1] = true;
    }
    if (i === a.length) return row[b.length] === true;
    row = next;
  }
  return false;
}
