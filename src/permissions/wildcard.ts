/**
 * Wildcards of policies and of shells, in a time that is bounded by the product of the two lengths: no regular
 * expression is ever built from a pattern. `*` and `?` stay within one name, `**` stands for any number of names.
 *
 * Invariants
 * - P5 Matching has no backtracking that grows faster than pattern × text.
 */
import { BRACE_CHOICES_MAX } from './limits.ts';

/** One character of a pattern: itself, any one (`?` and a class), or any number (`*`). */
type Token = string | typeof ONE | typeof MANY;
const ONE = 1;
const MANY = 2;

export interface Segment {
  /** `**`: any number of names, also none. */
  readonly deep: boolean;
  /** As a shell expands it: a wildcard at the start does not match a dot. */
  readonly shell: boolean;
  readonly tokens: readonly Token[];
}

export type Pattern = readonly Segment[];

/** `\` makes the next character itself. `shell`: with the rule of the leading dot, and `**` as `*`. */
export function compilePattern(glob: string, o: { readonly shell: boolean }): Pattern {
  return splitNames(glob).map((name) => ({
    deep: name === '**' && !o.shell,
    shell: o.shell,
    tokens: tokensOf(name),
  }));
}

function splitNames(glob: string): string[] {
  return glob.split('/').filter((part) => part !== '' && part !== '.');
}

function tokensOf(name: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < name.length; at += 1) {
    const char = name[at] ?? '';
    if (char === '\\') {
      at += 1;
      tokens.push(name[at] ?? '\\');
    } else if (char === '*') {
      if (tokens.at(-1) !== MANY) tokens.push(MANY);
    } else if (char === '?') tokens.push(ONE);
    else if (char === '[' && name.indexOf(']', at + 2) > 0) {
      // A class is read as any character: too wide for a deny and for what a shell may reach, and refused in allow rules.
      tokens.push(ONE);
      at = name.indexOf(']', at + 2);
    } else tokens.push(char);
  }
  return tokens;
}

/** One name against one segment. */
export function matchesName(tokens: readonly Token[], name: string): boolean {
  let token = 0;
  let at = 0;
  let star = -1;
  let resume = 0;
  while (at < name.length) {
    const one = tokens[token];
    if (one === MANY) {
      star = token;
      resume = at;
      token += 1;
    } else if (one !== undefined && (one === ONE || one === name[at])) {
      token += 1;
      at += 1;
    } else if (star >= 0) {
      token = star + 1;
      resume += 1;
      at = resume;
    } else return false;
  }
  while (tokens[token] === MANY) token += 1;
  return token === tokens.length;
}

/** `below`: what lies in a folder that matches counts as well (for deny rules); `dir/**` also means `dir`. */
export function matchesPath(
  pattern: Pattern,
  names: readonly string[],
  o: { readonly below: boolean },
): boolean {
  const { length } = pattern;
  // Which segments of the pattern may come next, after each name; two rows that take turns.
  let open = new Uint8Array(length + 1);
  let next = new Uint8Array(length + 1);
  open[0] = 1;
  passDeep(pattern, open);
  for (const name of names) {
    if (o.below && open[length] === 1) return true;
    let any = false;
    for (let index = 0; index < length; index += 1) {
      if (open[index] !== 1) continue;
      const segment = pattern[index];
      if (segment === undefined) continue;
      if (segment.deep) next[index] = 1;
      else if (matchesName(segment.tokens, name)) next[index + 1] = 1;
      else continue;
      any = true;
    }
    if (!any) return false;
    passDeep(pattern, next);
    [open, next] = [next, open];
    next.fill(0);
  }
  return open[length] === 1;
}

/** Every `**` may stand for nothing. */
function passDeep(pattern: Pattern, open: Uint8Array): void {
  for (let index = 0; index < pattern.length; index += 1) {
    if (open[index] === 1 && pattern[index]?.deep === true) open[index + 1] = 1;
  }
}

/**
 * Characters of which one begins some name of each path that matches one of these patterns; null when that can't be said.
 * Saves most matching.
 */
export function firstLetters(patterns: readonly Pattern[]): ReadonlySet<string> | null {
  const letters = new Set<string>();
  for (const pattern of patterns) {
    const first = pattern.find((segment) => !segment.deep)?.tokens[0];
    if (typeof first !== 'string') return null;
    letters.add(first.toLowerCase());
  }
  return letters;
}

/** Told of work before it is done; false: there was enough of it. */
export interface Work {
  spend(steps: number): boolean;
}

/** What one pair of places in two patterns costs to look at. */
const STEPS_A_PAIR = 15;

/** Whether some path matches both; true as well when that takes too much work to find out. */
export function mayMeet(a: Pattern, b: Pattern, work: Work): boolean {
  const seen = new Set<number>();
  const open: [number, number][] = [[0, 0]];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (!work.spend(STEPS_A_PAIR)) return true;
    const [i, j] = one;
    const key = i * (b.length + 1) + j;
    if (seen.has(key)) continue;
    seen.add(key);
    const left = a[i];
    const right = b[j];
    if (left === undefined && right === undefined) return true;
    if (left?.deep === true) open.push([i + 1, j]);
    if (right?.deep === true) open.push([i, j + 1]);
    if (left === undefined || right === undefined) continue;
    if (left.deep && !right.deep && !hides(left, right)) open.push([i, j + 1]);
    if (right.deep && !left.deep && !hides(right, left)) open.push([i + 1, j]);
    if (!left.deep && !right.deep && namesMeet(left, right, work)) open.push([i + 1, j + 1]);
  }
  return false;
}

/** A shell's wildcard does not stand for a name with a dot in front. */
function hides(wild: Segment, other: Segment): boolean {
  return wild.shell && other.tokens[0] === '.';
}

function namesMeet(a: Segment, b: Segment, work: Work): boolean {
  const wild = (token: Token | undefined): boolean => token === ONE || token === MANY;
  if (wild(a.tokens[0]) && hides(a, b)) return false;
  if (wild(b.tokens[0]) && hides(b, a)) return false;
  // Up to the first `*` there is one way only, and most names differ there.
  let start = 0;
  for (; ; start += 1) {
    const left = a.tokens[start];
    const right = b.tokens[start];
    if (left === MANY || right === MANY) break;
    if (left === undefined || right === undefined) return left === right;
    if (left !== ONE && right !== ONE && left !== right) return false;
  }
  const width = b.tokens.length + 1;
  const seen = new Set<number>();
  const open: [number, number][] = [[start, start]];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (!work.spend(STEPS_A_PAIR)) return true;
    const [i, j] = one;
    if (seen.has(i * width + j)) continue;
    seen.add(i * width + j);
    const left = a.tokens[i];
    const right = b.tokens[j];
    if (left === undefined && right === undefined) return true;
    if (left === MANY) open.push([i + 1, j]);
    if (right === MANY) open.push([i, j + 1]);
    if (left === undefined || right === undefined) continue;
    if (left === MANY && right !== MANY) open.push([i, j + 1]);
    if (right === MANY && left !== MANY) open.push([i + 1, j]);
    if (left !== MANY && right !== MANY && (left === ONE || right === ONE || left === right)) {
      open.push([i + 1, j + 1]);
    }
  }
  return false;
}

/** Every spelling of `{a,b}` in a glob of a policy; null when there are too many. */
export function expandBraces(glob: string): string[] | null {
  const open = glob.indexOf('{');
  const close = open < 0 ? -1 : glob.indexOf('}', open);
  if (close < 0) return [glob];
  const choices = glob.slice(open + 1, close).split(',');
  const tails = expandBraces(glob.slice(close + 1));
  if (tails === null || choices.length * tails.length > BRACE_CHOICES_MAX) return null;
  return choices.flatMap((choice) => tails.map((tail) => glob.slice(0, open) + choice + tail));
}
