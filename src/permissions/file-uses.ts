/**
 * The files that a call uses, each at every place where it may lie, against the floor and the rules. Pure: what links lead
 * to comes from `resolve`.
 *
 * Invariants
 * - P2 The floor is below all rules.
 * - P7 Both the name and what it resolves to are judged: allow needs both, deny needs either.
 */
import type { DecisionContext } from './decision.ts';
import { PATH_MAX } from './limits.ts';
import { type Access, type FloorVerdict, pathFloor } from './path-floor.ts';
import { below, namedPath, namesOf, type Resolved, showPath } from './paths.ts';
import {
  type Anchors,
  anchorNames,
  matchesPathRule,
  type PathMatcher,
  type Rule,
  ruleCovers,
} from './rule.ts';
import type { FileUse } from './shell/reading.ts';
import { compilePattern, mayMeet, type Pattern, type Work } from './wildcard.ts';

/** One use at one place. */
export interface Spot {
  readonly use: FileUse;
  readonly names: readonly string[];
  /** Names of what it resolves to; the same when it is no link. */
  readonly real: readonly string[];
  readonly resolved: Resolved | null;
  readonly problem: string | null;
}

/** Adds to `spots`. */
export function spotsOf(use: FileUse, context: DecisionContext, spots: Spot[]): void {
  const { path, folders } = use;
  const { text } = path;
  const absolute = text.startsWith('/') && !text.includes('/proc');
  if (text.length > PATH_MAX) {
    spots.push({ use, names: ['?'], real: [], resolved: null, problem: 'a path is too long' });
    return;
  }
  const all = absolute ? ROOT : folders.all;
  for (const folder of all) {
    const named = namedPath(text, folder);
    if (named.kind === 'alias') {
      const problem = 'the path is an alias that can not be followed';
      spots.push({ use, names: namesOf(text), real: [], resolved: null, problem });
      continue;
    }
    const resolved =
      path.glob === null && context.resolve !== undefined ? context.resolve(named.raw) : null;
    const real = resolved === null ? named.names : namesOf(resolved.path);
    let problem: string | null = null;
    if (!path.known) problem = 'a path is not known before it runs';
    else if (!text.startsWith('/') && folders.unknown)
      problem = 'in which folder it runs is not known';
    spots.push({ use, names: named.names, real, resolved, problem });
  }
}

const ROOT: readonly string[] = ['/'];

const same = (spot: Spot): boolean => spot.names === spot.real;

export function floorOf(spot: Spot, anchors: Anchors): FloorVerdict | null {
  const { access } = spot.use;
  const places = { root: anchors.root, home: anchors.home };
  const named = verdict(spot, spot.names, { access, places });
  if (same(spot) || spot.real.length === 0) return named;
  const real = verdict(spot, spot.real, { access, places });
  return real?.effect === 'deny' || named === null ? real : named;
}

function verdict(
  spot: Spot,
  names: readonly string[],
  o: { readonly access: Access; readonly places: Parameters<typeof pathFloor>[2] },
): FloorVerdict | null {
  const found = pathFloor(names, o.access, o.places);
  // A word that only may be a path is read at most; inside of `.git` nothing good comes of it.
  if (found !== null || spot.use.sure || !names.includes('.git') || LOOKING.has(spot.use.by))
    return found;
  const write = pathFloor(names, 'write', o.places);
  return write?.effect === 'deny' ? write : null;
}

/** Name files inside of `.git` for good reasons. */
const LOOKING: ReadonlySet<string> = new Set(['git', 'mcp', 'less', 'more', 'gh']);

/** Whether a rule of deny or ask is about it. `may`: only some of what a glob or a folder stands for. */
export function fitsUseWide(
  rule: Rule,
  spot: Spot,
  { anchors, work }: { readonly anchors: Anchors; readonly work: Work },
): 'no' | 'may' | 'yes' {
  const { path } = rule;
  const { use } = spot;
  if (path === null || !ruleCovers(rule, use.access)) return 'no';
  if (!use.sure && path.outside) return 'no';
  if (use.path.glob === null) {
    const fits =
      matchesPathRule(path, spot.names, { anchors, wide: true }) ||
      (!same(spot) &&
        spot.real.length > 0 &&
        matchesPathRule(path, spot.real, { anchors, wide: true }));
    if (fits) return 'yes';
  } else {
    const { example, glob } = shapesOf(spot);
    if (matchesPathRule(path, example, { anchors, wide: true })) return 'yes';
    if (meets(path, glob, { anchors, work })) return 'may';
  }
  if (use.deep === 'no' || use.access === 'list') return 'no';
  return meets(path, shapesOf(spot).inside, { anchors, work }) ? 'may' : 'no';
}

const BELOW: Readonly<Record<'all' | 'visible', Pattern>> = {
  all: compilePattern('**', { shell: false }),
  visible: compilePattern('**', { shell: false }).map((one) => ({ ...one, shell: true })),
};

const fixed = (names: readonly string[]): Pattern =>
  names.map((name) => ({ deep: false, shell: false, tokens: name.split('') }));

/** What rules are held against, made once for all of them. */
interface Shapes {
  /** A name that the glob may stand for. */
  readonly example: readonly string[];
  readonly glob: Pattern;
  /** Whatever lies below it. */
  readonly inside: Pattern;
}

const shapes = new WeakMap<Spot, Shapes>();

function shapesOf(spot: Spot): Shapes {
  const known = shapes.get(spot);
  if (known !== undefined) return known;
  const { deep } = spot.use;
  const made: Shapes = {
    example: spot.names.map((name) => name.replaceAll(/[*?]|\[[^\]]*\]/g, 'x')),
    glob: spot.use.path.glob === null ? [] : globOf(spot),
    inside: deep === 'no' ? [] : [...fixed(spot.names), ...BELOW[deep]],
  };
  shapes.set(spot, made);
  return made;
}

function globOf(spot: Spot): Pattern {
  const { glob, text } = spot.use.path;
  const folder = spot.names.slice(0, Math.max(0, spot.names.length - namesOf(`/${text}`).length));
  return [
    ...fixed(text.startsWith('/') ? [] : folder),
    ...compilePattern(glob ?? '', { shell: true }),
  ];
}

function meets(
  path: PathMatcher,
  wanted: Pattern,
  { anchors, work }: { readonly anchors: Anchors; readonly work: Work },
): boolean {
  const anchor = anchorNames(path, anchors);
  if (anchor === null || path.outside) return false;
  if (path.patterns === null) return mayMeet([...fixed(anchor), ...BELOW.all], wanted, work);
  const before = fixed(anchor);
  return path.patterns.some((pattern) => mayMeet([...before, ...pattern], wanted, work));
}

/** P7: both the name and the target have to be allowed. */
export function fitsUseNarrow(rule: Rule, spot: Spot, anchors: Anchors): boolean {
  const { path } = rule;
  if (path === null || !ruleCovers(rule, spot.use.access)) return false;
  return (
    matchesPathRule(path, spot.names, { anchors, wide: false }) &&
    (same(spot) || matchesPathRule(path, spot.real, { anchors, wide: false }))
  );
}

export function isInside(spot: Spot, anchors: Anchors): boolean {
  return (
    below(anchors.root, spot.names) !== null &&
    (same(spot) || below(anchors.root, spot.real) !== null)
  );
}

/** Why a file can't be used although it may be named. */
export function oddFile(spot: Spot): string | null {
  const { resolved, use } = spot;
  if (resolved === null || !use.sure) return null;
  if (resolved.kind === 'special') return 'it is no regular file';
  const writes = use.access === 'write' || use.access === 'link';
  return writes && resolved.kind === 'file' && resolved.links > 1
    ? 'the file has another name elsewhere, which would change too'
    : null;
}

export const showSpot = (spot: Spot): string =>
  showPath(spot.real.length > 0 ? spot.real : spot.names);
