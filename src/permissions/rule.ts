/**
 * One rule made ready for matching, and the two ways to match (permissions §2.5): narrow for allow, wide for deny and ask.
 *
 * Invariants
 * - P16 Allow goes by the exact bare name; deny by every spelling of it: paths, quotes, case, options in any form.
 */
import type {
  Effect,
  HostPattern,
  PathPattern,
  PermissionRule,
  TokenPattern,
} from '../protocol/team.ts';
import type { Access } from './path-floor.ts';
import { below, foldName, namesOf } from './paths.ts';
import { gitWords, withoutFree } from './shell/git-options.ts';
import { baseName } from './shell/place.ts';
import type { Exec } from './shell/reading.ts';
import {
  compilePattern,
  expandBraces,
  firstLetters,
  matchesName,
  matchesPath,
  type Pattern,
} from './wildcard.ts';

export type Token =
  | { readonly kind: 'text'; readonly texts: ReadonlySet<string> }
  | { readonly kind: 'glob'; readonly tokens: Pattern[number]['tokens'] };

export interface PathMatcher {
  readonly anchor: 'worktree' | 'home' | readonly string[];
  /** Names below `home` that belong to the anchor. */
  readonly outside: boolean;
  /** Null: all below. */
  readonly patterns: readonly Pattern[] | null;
  readonly folded: readonly Pattern[] | null;
  readonly glob: string | null;
  /** One of them begins some name of each path that fits; null: not known. */
  readonly letters: ReadonlySet<string> | null;
}

export interface Rule {
  readonly id: string;
  readonly effect: Effect;
  readonly reason: string | null;
  /** File it comes from. */
  readonly origin: string;
  /** Line in that file; null: not known. */
  readonly line: number | null;
  /** Null: any. */
  readonly tools: ReadonlySet<string> | null;
  readonly argv: readonly Token[] | null;
  readonly exact: boolean;
  readonly path: PathMatcher | null;
  readonly host: { readonly name: string; readonly below: boolean } | null;
  readonly server: string | null;
  readonly name: Token | null;
  readonly sandbox: boolean;
  readonly pins: readonly string[];
}

export function makeRule(raw: PermissionRule, origin: string, line?: number): Rule {
  const tools = typeof raw.tool === 'string' ? [raw.tool] : raw.tool;
  return {
    id: raw.id,
    effect: raw.effect,
    reason: raw.reason,
    origin,
    line: line ?? null,
    tools: tools.includes('*') ? null : new Set(tools),
    argv: raw.argv?.map(makeToken) ?? null,
    exact: raw.exact ?? false,
    path: raw.path === undefined ? wholePath(raw, tools) : makePath(raw.path),
    host: raw.host === undefined ? null : makeHost(raw.host),
    server: raw.server ?? null,
    name:
      raw.name === undefined
        ? null
        : makeToken(/[*?]/.test(raw.name) ? { glob: raw.name } : raw.name),
    sandbox: raw.requires?.sandbox ?? false,
    pins: raw.pins ?? [],
  };
}

const FILE_TOOLS: ReadonlySet<string> = new Set([
  'read_file',
  'list_dir',
  'glob',
  'grep',
  'write_file',
  'edit_file',
]);

/** A rule about file tools alone is about every file; to allow, about every one of the tree. */
function wholePath(raw: PermissionRule, tools: readonly string[]): PathMatcher | null {
  if (raw.argv !== undefined || raw.host !== undefined || raw.server !== undefined) return null;
  if (!tools.every((tool) => FILE_TOOLS.has(tool))) return null;
  return makePath(raw.effect === 'allow' ? { under: 'worktree' } : { under: '/' });
}

function makeToken(pattern: TokenPattern): Token {
  if (typeof pattern === 'string') return { kind: 'text', texts: new Set([pattern]) };
  if ('in' in pattern) return { kind: 'text', texts: new Set(pattern.in) };
  return {
    kind: 'glob',
    tokens: compilePattern(pattern.glob.replaceAll('/', ''), { shell: false })[0]?.tokens ?? [],
  };
}

function makePath(raw: PathPattern): PathMatcher {
  const { under, outside, glob } =
    typeof raw === 'string'
      ? { glob: raw }
      : { glob: undefined, under: undefined, outside: undefined, ...raw };
  const where = outside ?? under ?? 'worktree';
  const anchored = where.startsWith('~/')
    ? 'home'
    : where === 'worktree' || where === 'home'
      ? where
      : namesOf(where);
  const prefix = where.startsWith('~/') ? `${where.slice(2)}/` : '';
  const whole = glob === undefined && prefix === '' ? null : `${prefix}${glob ?? '**'}`;
  const spelled = whole === null ? null : (expandBraces(whole) ?? [whole]);
  const compile = (text: string): Pattern => compilePattern(text, { shell: false });
  const patterns = spelled?.map(compile) ?? null;
  return {
    anchor: anchored,
    outside: outside !== undefined,
    patterns,
    letters: patterns === null ? null : firstLetters(patterns),
    folded: isFolded(spelled) ? patterns : (spelled?.map((one) => compile(fold(one))) ?? null),
    glob: whole,
  };
}

const fold = (glob: string): string => glob.normalize('NFC').toLowerCase();

function isFolded(spelled: readonly string[] | null): boolean {
  return spelled === null || spelled.every((one) => fold(one) === one);
}

function makeHost(raw: HostPattern): Rule['host'] {
  return typeof raw === 'string'
    ? { name: raw.toLowerCase(), below: false }
    : { name: raw.domain.toLowerCase(), below: true };
}

/** Compared by labels: `docs.python.org.evil.test` is not below `docs.python.org`. */
export function matchesHost(rule: Rule, host: string): boolean {
  if (rule.host === null) return true;
  const { name } = rule.host;
  return host === name || (rule.host.below && host.endsWith(`.${name}`));
}

export interface Anchors {
  readonly root: readonly string[];
  readonly home: readonly string[] | null;
}

/** `wide`: in every case and form, and what lies below a match as well. */
export function matchesPathRule(
  matcher: PathMatcher,
  names: readonly string[],
  o: { readonly anchors: Anchors; readonly wide: boolean },
): boolean {
  const anchor = anchorNames(matcher, o.anchors);
  if (anchor === null) return false;
  const inner = below(anchor, names);
  if (matcher.outside) return inner === null;
  if (inner === null) return false;
  if (matcher.patterns === null) return true;
  if (matcher.letters !== null && !mayBegin(matcher.letters, inner)) return false;
  if (matcher.patterns.some((pattern) => matchesPath(pattern, inner, { below: o.wide })))
    return true;
  if (!o.wide || matcher.folded === null) return false;
  const folded = inner.map(foldName);
  if (matcher.folded === matcher.patterns && folded.every((name, at) => name === inner[at]))
    return false;
  return matcher.folded.some((pattern) => matchesPath(pattern, folded, { below: true }));
}

/** Characters outside of ASCII may fold to anything. */
function mayBegin(letters: ReadonlySet<string>, names: readonly string[]): boolean {
  for (const name of names) {
    if (letters.has(name[0] ?? '') || name.charCodeAt(0) > 126) return true;
    const code = name.charCodeAt(0);
    if (code > 64 && code < 91 && letters.has(name[0]?.toLowerCase() ?? '')) return true;
  }
  return false;
}

export function anchorNames(matcher: PathMatcher, anchors: Anchors): readonly string[] | null {
  if (matcher.anchor === 'worktree') return anchors.root;
  return matcher.anchor === 'home' ? anchors.home : matcher.anchor;
}

/** Whether a rule is about calls of this tool, when the tool is a file tool itself. */
export function rulesTool(rule: Rule, tool: string): boolean {
  return rule.tools === null || rule.tools.has(tool);
}

/** Which uses of files a rule for these tools is about. */
export function ruleCovers(rule: Rule, access: Access): boolean {
  const { tools } = rule;
  if (tools === null || tools.has('bash')) return true;
  const reads = READING.some((tool) => tools.has(tool));
  const writes = tools.has('write_file') || tools.has('edit_file');
  switch (access) {
    case 'read':
    case 'list':
      return reads;
    case 'write':
    case 'delete':
      return writes;
    case 'link':
      return rule.effect === 'allow' ? writes : reads || writes;
  }
}

const READING = ['read_file', 'list_dir', 'glob', 'grep'];

export function tokenFits(token: Token, text: string): boolean {
  return token.kind === 'text' ? token.texts.has(text) : matchesName(token.tokens, text);
}

/** P16, for allow: the words as they stand, from the first. */
export function fitsNarrow(rule: Rule, exec: Exec): boolean {
  const { argv } = rule;
  if (argv === null) return false;
  const words = exec.argv[0]?.text === 'git' ? withoutFree(exec.argv) : exec.argv;
  if (words.length < argv.length || (rule.exact && words.length !== argv.length)) return false;
  const [name] = words;
  if (name === undefined || name.derived || name.text.includes('/')) return false;
  for (let index = 0; index < argv.length; index += 1) {
    const word = words[index];
    const token = argv[index];
    if (word === undefined || token === undefined || !word.plain || word.glob !== null)
      return false;
    if (!tokenFits(token, word.text)) return false;
  }
  return exec.opaque === null || rule.exact;
}

/** P16, for deny and ask: whatever the spelling. */
export function fitsWide(rule: Rule, exec: Exec): boolean {
  const { argv } = rule;
  const [first] = exec.argv;
  if (argv === null || first === undefined) return false;
  const [head, ...tokens] = argv;
  if (head === undefined) return false;
  const name = baseName(first.text);
  if (
    !tokenFits(head, name) &&
    !tokenFits(head, name.toLowerCase()) &&
    !tokenFits(head, first.text)
  )
    return false;
  let words = exec.argv.slice(1).map((arg) => arg.text);
  if (name === 'git') {
    const { at } = gitWords(exec.argv.slice(1));
    words = words.slice(at);
  }
  const options = tokens.filter(isOptionToken);
  const plain = tokens.filter((token) => !isOptionToken(token));
  return options.every((token) => hasOption(name, words, token)) && fitsInOrder(plain, words);
}

function isOptionToken(token: Token): boolean {
  return (
    token.kind === 'text' &&
    [...token.texts].every((text) => text.startsWith('-') && text.length > 1)
  );
}

/** Option words in any place; what follows one may be its value or not: both are tried. */
function fitsInOrder(tokens: readonly Token[], words: readonly string[]): boolean {
  if (tokens.length === 0) return true;
  // How many tokens fit before this word, in each way to read the words so far.
  let open = new Set([0]);
  let afterOption = false;
  for (const word of words) {
    const next = new Set<number>();
    const option = word.startsWith('-') && word.length > 1;
    for (const count of open) {
      const token = tokens[count];
      if (token === undefined) return true;
      if (tokenFits(token, word)) next.add(count + 1);
      if (option || afterOption) next.add(count);
    }
    if (next.has(tokens.length)) return true;
    if (next.size === 0) return false;
    afterOption = option && !word.includes('=');
    open = next;
  }
  return false;
}

/** Other names of the same option. */
const ALIASES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  rm: {
    '-r': ['-R', '--recursive'],
    '-R': ['-r', '--recursive'],
    '--recursive': ['-r', '-R'],
    '-f': ['--force'],
    '--force': ['-f'],
  },
  git: {
    '-f': ['--force'],
    '--force': ['-f'],
    '-n': ['--no-verify'],
    '--no-verify': ['-n'],
    '-d': ['--delete'],
    '--delete': ['-d'],
  },
  chmod: { '-R': ['--recursive'], '--recursive': ['-R'] },
  chown: { '-R': ['--recursive'], '--recursive': ['-R'] },
  cp: { '-r': ['-R', '-a', '--recursive', '--archive'], '-f': ['--force'] },
  mv: { '-f': ['--force'] },
};

function hasOption(name: string, words: readonly string[], token: Token): boolean {
  if (token.kind !== 'text') return false;
  const known = Object.hasOwn(ALIASES, name) ? ALIASES[name] : undefined;
  const wanted = [...token.texts].flatMap((text) => [
    text,
    ...(known !== undefined && Object.hasOwn(known, text) ? (known[text] ?? []) : []),
  ]);
  return words.some((word) => wanted.some((option) => sameOption(word, option)));
}

function sameOption(word: string, option: string): boolean {
  if (word === option) return true;
  if (option.startsWith('--')) {
    const name = word.split('=')[0] ?? '';
    // Long options may be shortened.
    return name.length > 2 && name.startsWith('--') && option.startsWith(name);
  }
  if (!word.startsWith('-') || word.startsWith('--')) return false;
  // `-rf` has `-r` in it; `-name` of one dash is itself only.
  return option.length === 2 ? word.includes(option[1] ?? '') : word.startsWith(option);
}
