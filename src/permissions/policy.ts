/**
 * A policy: layers of files made into one immutable snapshot, and what it says for one actor.
 *
 * Invariants
 * - P3 Lower layers only tighten: deny and ask rules count from anywhere, allow rules from trusted layers only.
 * - P20 A snapshot is never changed. One that stands for the same layers is the same policy.
 */
import type { PolicyLayer, PolicySnapshot } from '../protocol/policy.ts';
import type {
  Effect,
  PermissionRule,
  PolicyFile,
  PolicyMode,
  TeamPermissions,
} from '../protocol/team.ts';
import { makeRule, type Rule } from './rule.ts';
import { makeRuleSet, type RuleSet } from './rule-set.ts';
import { compilePattern, matchesPath } from './wildcard.ts';

export type Layer = PolicyLayer;

export interface ActorPolicy {
  readonly rules: RuleSet;
  /** What becomes of a call for which there is no rule. */
  readonly fallback: Effect;
  /** In a sandbox, commands without a rule are allowed. */
  readonly auto: boolean;
  readonly mode: PolicyMode | null;
}

export interface Policy {
  readonly revision: string;
  readonly layers: readonly Layer[];
  readonly forActor: (actor: string) => ActorPolicy;
}

const ACTORS_KEPT = 512;

export function makePolicy(layers: readonly Layer[], revision: string): Policy {
  const known = new Map<string, ActorPolicy>();
  const all = [BUILT_IN, ...layers];
  return Object.freeze({
    revision,
    layers,
    forActor(actor: string): ActorPolicy {
      const found = known.get(actor);
      if (found !== undefined) return found;
      const made = compose(all, actor);
      if (known.size >= ACTORS_KEPT) known.clear();
      known.set(actor, made);
      return made;
    },
  });
}

const made = new WeakMap<readonly Layer[], Policy>();

/** P20. */
export function policyOf(snapshot: PolicySnapshot): Policy {
  const known = made.get(snapshot.layers);
  if (known !== undefined) return known;
  const fresh = makePolicy(snapshot.layers, snapshot.revision);
  made.set(snapshot.layers, fresh);
  return fresh;
}

/** The `permissions` of a team file as the layer that they are. */
export function teamLayer(permissions: TeamPermissions, origin: string | null): Layer {
  const { lines, mode, policy, rules, unstated } = permissions;
  const short: PolicyFile = file(rules, {
    ...(mode === undefined ? {} : { mode }),
    defaults: unstated === true ? {} : { interactive: permissions.default },
  });
  const whole = policy ?? short;
  return {
    name: 'team',
    origin: origin ?? 'team file',
    file: lines === undefined ? whole : { ...whole, lines },
    trusted: true,
  };
}

const rule = (
  raw: Omit<PermissionRule, 'reason'> & { readonly reason?: string },
): PermissionRule => ({
  ...raw,
  reason: raw.reason ?? null,
});

const file = (rules: readonly PermissionRule[], rest: Partial<PolicyFile> = {}): PolicyFile => ({
  version: 1,
  defaults: {},
  actors: {},
  profiles: {},
  lift: [],
  ...rest,
  rules,
});

/** Rules that come with Troupe and that a policy can `lift` by id. */
export const BUILT_IN_RULES: readonly PermissionRule[] = [
  rule({
    id: 'env-files',
    effect: 'deny',
    tool: ['read_file', 'grep'],
    path: {
      under: 'worktree',
      glob: '**/.env{,.local,.development,.production,.staging,.test,.*.local}',
    },
    reason: 'files of this name hold secrets',
  }),
];
const BUILT_IN: Layer = {
  name: 'built-in',
  origin: 'built in',
  file: file(BUILT_IN_RULES),
  trusted: true,
};

const READERS =
  'ls cat head tail wc echo printf grep egrep fgrep rg find sort uniq cut tr sed cd pwd true false test [ diff cmp comm basename dirname stat file du df which date realpath readlink base64 md5sum sha256sum nl tac jq'.split(
    ' ',
  );

/** Modes are policies with a name. */
const MODES: Readonly<Record<PolicyMode, readonly PermissionRule[]>> = {
  ask: [],
  'accept-edits': [
    rule({
      id: 'accept-edits',
      effect: 'allow',
      tool: ['write_file', 'edit_file'],
      path: { under: 'worktree' },
    }),
  ],
  'read-only': [
    rule({ id: 'read-only-readers', effect: 'allow', tool: 'bash', argv: [{ in: READERS }] }),
    rule({
      id: 'read-only-git',
      effect: 'allow',
      tool: 'bash',
      argv: [
        'git',
        { in: ['status', 'log', 'diff', 'show', 'blame', 'rev-parse', 'ls-files', 'shortlog'] },
      ],
    }),
    rule({
      id: 'read-only',
      effect: 'deny',
      tool: ['write_file', 'edit_file'],
      reason: 'this actor only reads',
    }),
  ],
  'auto-in-sandbox': [
    rule({
      id: 'auto-edits',
      effect: 'allow',
      tool: ['write_file', 'edit_file'],
      path: { under: 'worktree' },
    }),
  ],
  locked: [],
};

interface Part {
  readonly rules: readonly Rule[];
  /** What a mode brings: how this actor works, not what its children may. */
  readonly modeRules: readonly Rule[];
  readonly fallback: Effect | null;
  readonly mode: PolicyMode | null;
}

function compose(layers: readonly Layer[], actor: string): ActorPolicy {
  const lifted = new Set(layers.flatMap((layer) => (layer.trusted ? layer.file.lift : [])));
  const rules: Rule[] = [];
  const words: Word[] = [];
  for (const layer of layers) {
    for (const [index, path] of chain(actor).entries()) {
      const own = index === 0;
      const part = partOf(layer, path);
      const works = own || !isLead(path) ? part.modeRules : NO_RULES;
      for (const one of [...part.rules, ...works]) {
        if (layer.name === 'built-in' && lifted.has(one.id)) continue;
        if (one.effect !== 'allow' || (own && layer.trusted)) rules.push(one);
      }
      if (own || !isLead(path)) words.push({ layer, own, part });
    }
  }
  const mode = modeOf(words);
  return {
    rules: makeRuleSet([...new Set(rules)]),
    fallback: fallbackOf(words),
    auto: mode === 'auto-in-sandbox',
    mode,
  };
}

const NO_RULES: readonly Rule[] = [];

/**
 * The lead's own profile says how the lead works. Whoever works for it has the profile that a person gave it in the
 * policy: a lead that only reads may have a team that writes. Its deny and ask rules hold for all below it.
 */
const isLead = (path: string): boolean => /^(?:[^/]+\/)?lead$/.test(path);

/** What one layer says for one actor of the chain. */
interface Word {
  readonly layer: Layer;
  readonly own: boolean;
  readonly part: Part;
}

/** Person's layers, the nearest to the run first: the word of one stands in for those behind it. */
const NEAREST: readonly Layer['name'][] = ['team', 'user'];

/**
 * What becomes of a call without a rule: the nearest word of a person (team file, then the user's policy), else that of a
 * trusted repository, else of the administrator, else `ask`. All others can make it stricter (P3).
 */
function fallbackOf(words: readonly Word[]): Effect {
  const stated = words.flatMap(({ layer, own, part }) =>
    part.fallback === null ? [] : [{ layer, own, says: part.fallback }],
  );
  const nearest = NEAREST.find((name) =>
    stated.some(({ layer, own }) => own && layer.trusted && layer.name === name),
  );
  const counted = stated.filter(
    ({ layer, own, says }) =>
      layer.name === nearest ||
      (nearest !== undefined && NEAREST.includes(layer.name)
        ? false
        : says !== 'allow' || (own && layer.trusted)),
  );
  const found = (['deny', 'ask', 'allow'] as const).find((effect) =>
    counted.some(
      ({ layer, own, says }) => says === effect && (effect !== 'allow' || (own && layer.trusted)),
    ),
  );
  return found ?? 'ask';
}

/** The nearest mode; `auto-in-sandbox` holds only where no administrator asks for another one. */
function modeOf(words: readonly Word[]): PolicyMode | null {
  const stated = words.flatMap(({ layer, own, part: { mode } }) =>
    own && layer.trusted && mode !== null ? [{ name: layer.name, mode }] : [],
  );
  const mode = stated.at(-1)?.mode ?? null;
  const held = stated.some((one) => one.name === 'admin' && one.mode !== 'auto-in-sandbox');
  return mode === 'auto-in-sandbox' && held ? 'ask' : mode;
}

/** The actor, then its ancestors. */
function chain(actor: string): string[] {
  const names = actor.split('/').slice(0, 32);
  return names.map((_, index) => names.slice(0, names.length - index).join('/'));
}

const parts = new WeakMap<PolicyFile, Map<string, Part>>();

function partOf(layer: Layer, actor: string): Part {
  let known = parts.get(layer.file);
  if (known === undefined) {
    known = new Map();
    parts.set(layer.file, known);
  }
  const profile = profileFor(layer.file, actor) ?? '';
  const found = known.get(profile);
  if (found !== undefined) return found;
  const made = makePart(layer, profile === '' ? null : profile);
  known.set(profile, made);
  return made;
}

function makePart({ file, origin }: Layer, profile: string | null): Part {
  const raws: PermissionRule[] = [];
  let mode = file.mode ?? null;
  const seen = new Set<string>();
  const collect = (name: string): void => {
    const found = Object.hasOwn(file.profiles, name) ? file.profiles[name] : undefined;
    if (found === undefined || seen.has(name)) return;
    seen.add(name);
    if (found.extends !== undefined) collect(found.extends);
    mode = found.mode ?? mode;
    raws.push(...found.rules);
  };
  if (profile !== null) collect(profile);
  raws.push(...file.rules);
  const stated = file.defaults.interactive ?? null;
  const make = (raw: PermissionRule): Rule => makeRule(raw, origin, file.lines?.[raw.id]);
  return {
    rules: raws.map(make),
    modeRules:
      mode === null ? [] : MODES[mode].map((raw) => makeRule(raw, `mode ${mode}, ${origin}`)),
    fallback: mode === 'locked' ? 'deny' : stated,
    mode,
  };
}

/** The most exact pattern that fits; the run in front of the path need not be named. */
function profileFor(policy: PolicyFile, actor: string): string | null {
  let best: { readonly profile: string; readonly weight: number } | null = null;
  const names = actor.split('/');
  for (const [pattern, { profile }] of Object.entries(policy.actors)) {
    const compiled = compilePattern(pattern === '*' ? '**' : pattern, { shell: false });
    const fits =
      matchesPath(compiled, names, { below: false }) ||
      matchesPath(compiled, names.slice(1), { below: false });
    const weight = pattern.replaceAll(/[*?]/g, '').length * 4 + (/[*?]/.test(pattern) ? 0 : 2);
    if (fits && (best === null || weight > best.weight)) best = { profile, weight };
  }
  return best?.profile ?? null;
}
