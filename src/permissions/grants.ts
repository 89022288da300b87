/**
 * What a person may be offered to have allowed from now on, and what was granted as rules. A grant is only ever tried for a
 * call that nothing but the want of a rule stands against (`judgeCall`), so it never beats the floor, a deny or an ask rule.
 *
 * Invariants
 * - P33 An offer is no wider than the call needs: program and subcommand, this folder's files, this host; never an
 *   interpreter, a wrapper, or what could not be read. Whether it is enough is decided by `evaluate` itself.
 */
import type { Grant, GrantOffer } from '../protocol/ask.ts';
import type { PermissionRule, RuleMatchers } from '../protocol/team.ts';
import type { Obligation } from './decision.ts';
import { GRANT_RULES_MAX, GRANT_UNUSED_MS } from './limits.ts';
import { isInterpreter, programNamed, RUNNERS } from './shell/programs.ts';

/** Files whose content decides what these programs do. */
const PINS: Readonly<Record<string, readonly string[]>> = {
  npm: ['package.json'],
  pnpm: ['package.json'],
  yarn: ['package.json'],
  cargo: ['Cargo.toml'],
};

/** Of the programs that a command may name. */
export function pinFilesOf(command: string): string[] {
  const names = Object.keys(PINS).filter((name) => command.includes(name));
  return [...new Set(names.flatMap((name) => PINS[name] ?? []))];
}

/** Their first plain word names what they do. */
const SUBCOMMANDS: ReadonlySet<string> = new Set(
  'git npm pnpm yarn cargo go gh pip uv mvn gradle dotnet terraform'.split(' '),
);

interface Part {
  readonly shown: string;
  readonly rule: Omit<PermissionRule, 'id' | 'effect' | 'reason'>;
  readonly pins: readonly string[];
}

export interface OfferQuestion {
  readonly obligations: readonly Obligation[];
  /** Root of the actor's tree. */
  readonly root: string;
  /** Hashes of files of the tree, as the call was judged; null: no file that can be read. Left out: not known, so nothing with pins. */
  readonly pins: Readonly<Record<string, string | null>> | undefined;
  /** Whether the call would be allowed with these rules besides. */
  readonly allows: (rules: readonly PermissionRule[]) => boolean;
}

/** Null: it may be allowed this once only. */
export function offerFor(question: OfferQuestion): GrantOffer | null {
  const { allows } = question;
  let parts: Part[] = [];
  for (const one of question.obligations) {
    const part = partFor(one, question.root);
    if (part !== null && !parts.some((other) => other.shown === part.shown)) parts.push(part);
  }
  const rulesOf = (some: readonly Part[]): PermissionRule[] =>
    some.map(({ rule }, index) => ({
      id: `offer-${index}`,
      effect: 'allow',
      reason: null,
      ...rule,
    }));
  if (parts.length === 0 || !allows(rulesOf(parts))) return null;
  // What rules cover already needs no grant.
  const all: readonly Part[] = parts;
  for (const part of all) {
    const rest = parts.filter((one) => one !== part);
    if (allows(rulesOf(rest))) parts = rest;
  }
  if (parts.length === 0 || parts.length > GRANT_RULES_MAX) return null;
  const pins: Record<string, string | null> = {};
  for (const file of parts.flatMap((part) => part.pins)) {
    const hash = question.pins?.[file];
    // What is not there, or can't be read, pins nothing: anything may come in its place.
    if (typeof hash !== 'string') return null;
    pins[file] = hash;
  }
  const rules = rulesOf(parts).map((rule, index) => {
    const files = parts[index]?.pins ?? [];
    return files.length === 0 ? rule : { ...rule, pins: files };
  });
  return { pattern: parts.map((part) => part.shown).join(' + '), rules, pins };
}

function partFor(one: Obligation, root: string): Part | null {
  switch (one.kind) {
    case 'exec':
      return execPart(one.argv);
    case 'write':
    case 'delete':
      return writePart(relative(one.path, root));
    case 'read':
    case 'list':
      return readPart(one.path, root);
    case 'net':
      return { shown: `fetch ${one.host}`, rule: { tool: 'web_fetch', host: one.host }, pins: [] };
    case 'mcp': {
      const { server, name } = one;
      return { shown: `${server}/${name}`, rule: { tool: 'mcp', server, name }, pins: [] };
    }
    case 'link':
    case 'env':
    case 'opaque':
    case 'spawn':
    case 'escalate':
      return null;
  }
}

const PLAIN = /^[\w@%+=:,./-]+$/;

function execPart(argv: readonly string[]): Part | null {
  const [name = ''] = argv;
  if (!/^[\w.+-]+$/.test(name) || isInterpreter(name)) return null;
  const bash = (words: readonly string[], exact: boolean): Part | null => {
    if (!words.every((word) => PLAIN.test(word))) return null;
    const matchers: RuleMatchers = exact ? { argv: words, exact } : { argv: words };
    return {
      shown: words.join(' ') + (exact ? ' (nothing else)' : ''),
      rule: { tool: 'bash', ...matchers },
      pins: PINS[name] ?? [],
    };
  };
  if (SUBCOMMANDS.has(name)) {
    const [, sub, script] = argv;
    if (sub === undefined) return bash([name], true);
    if (sub.startsWith('-')) return bash(argv, true);
    if (sub === 'run' && PINS[name] !== undefined) {
      return script === undefined || script.startsWith('-')
        ? bash(argv, true)
        : bash([name, sub, script], false);
    }
    return bash([name, sub], false);
  }
  if (RUNNERS.has(name)) return null;
  const program = programNamed(name);
  const reads =
    program !== undefined &&
    ['read', 'list', 'data'].includes(program.operands) &&
    program.last === null;
  return reads ? bash([name], false) : bash(argv, true);
}

const GLOB = /[*?[\]{}\\!]/;

function writePart(path: string | null): Part | null {
  if (path === null || path === '' || GLOB.test(path)) return null;
  const cut = path.lastIndexOf('/');
  const glob = cut > 0 ? `${path.slice(0, cut)}/**` : path;
  return {
    shown: `edit ${glob}`,
    rule: { tool: ['write_file', 'edit_file'], path: glob },
    pins: [],
  };
}

/** Reading inside of the tree needs no rule. */
function readPart(path: string, root: string): Part | null {
  if (relative(path, root) !== null || GLOB.test(path) || !path.startsWith('/')) return null;
  const cut = path.lastIndexOf('/');
  const name = path.slice(cut + 1);
  if (cut < 1 || name === '') return null;
  const pattern = { under: path.slice(0, cut), glob: name };
  return {
    shown: `read ${path}`,
    rule: { tool: ['read_file', 'list_dir', 'grep', 'glob'], path: pattern },
    pins: [],
  };
}

function relative(path: string, root: string): string | null {
  if (path === root) return '';
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : null;
}

export type GrantStanding = 'active' | 'expired' | 'unused';

export function grantStanding(grant: Grant, nowMs: number): GrantStanding {
  if (grant.expiresAt !== null && nowMs >= Date.parse(grant.expiresAt)) return 'expired';
  const used = Date.parse(grant.lastUsedAt ?? grant.at);
  return nowMs - used >= GRANT_UNUSED_MS ? 'unused' : 'active';
}

const PREFIX = 'grant:';

/** What counts for an actor of this profile now, as rules whose ids name their grants. */
export function grantRules(
  grants: Iterable<Grant>,
  of: { readonly profile: string; readonly nowMs: number },
): PermissionRule[] {
  const rules: PermissionRule[] = [];
  for (const grant of grants) {
    if (grant.profile !== null && grant.profile !== of.profile) continue;
    if (grantStanding(grant, of.nowMs) !== 'active') continue;
    for (const [index, rule] of grant.rules.entries()) {
      const reason = `granted by ${grant.by}: ${grant.pattern}`;
      rules.push({ ...rule, id: `${PREFIX}${grant.id}#${index}`, effect: 'allow', reason });
    }
  }
  return rules;
}

/** The grant that a rule of `grantRules` belongs to; null: it is another rule. */
export function grantOfRule(rule: string): string | null {
  if (!rule.startsWith(PREFIX)) return null;
  const cut = rule.lastIndexOf('#');
  return rule.slice(PREFIX.length, cut < 0 ? undefined : cut);
}

/** Whether the pinned files are as they were when it was granted; `now` undefined: not known, so no. */
export function pinsHold(grant: Grant, now: GrantOffer['pins'] | undefined): boolean {
  if (now === undefined) return Object.keys(grant.pins).length === 0;
  return Object.entries(grant.pins).every(
    ([file, hash]) => typeof hash === 'string' && now[file] === hash,
  );
}
