/**
 * The decision as supervisor and actor threads ask for it: the policy that belongs to a run's permissions, made once, and
 * all that a question to a person has to say.
 *
 * Invariants
 * - P18 Without attendance nothing is asked: each ask is a deny, at once.
 */
import type { CallFacts, PathFact, PolicySnapshot } from '../protocol/policy.ts';
import type { Effect, PermissionRule, PolicyFile, TeamPermissions } from '../protocol/team.ts';
import {
  type Call,
  type Decision,
  type DecisionContext,
  digestText,
  type Obligation,
} from './decision.ts';
import { evaluate } from './evaluate.ts';
import { grantOfRule } from './grants.ts';
import type { Resolve } from './paths.ts';
import { makePolicy, type Policy, policyOf, teamLayer } from './policy.ts';

export interface Permissions extends TeamPermissions {
  /** Whether somebody may be asked (`--headless` says no). */
  readonly attended: boolean;
  readonly home?: string | undefined;
  /** All layers as they are now; without it the team file's words stand alone. */
  readonly snapshot?: PolicySnapshot | undefined;
  /** A sandbox holds the commands of this run. */
  readonly sandboxed?: boolean | undefined;
}

export interface CallPlace {
  readonly actor: string;
  /** Root of the tree the actor works in; null when it has none. */
  readonly root: string | null;
  /** Asks the disk. Null facts of it: see `factsResolver`. */
  readonly resolve?: Resolve | undefined;
  /** Pinned files as they are now, by their path in the tree. */
  readonly pins?: CallFacts['pins'] | undefined;
  /** For whom equal asks are one: all actors of this profile. */
  readonly profile?: string | undefined;
}

/** What people have granted to this actor. */
export interface Granted {
  readonly rules: readonly PermissionRule[];
  /** Whether the files that a rule pins are as they were when it was given. */
  readonly pinsHold: (rule: string) => boolean;
}

export interface Judgement {
  readonly action: Effect;
  readonly rule: string;
  readonly reason: string;
  /** What a command that rules allow is run as; null: as it was given. */
  readonly command: string | null;
  /** Of an ask: whether a person may be offered to have it allowed from now on. */
  readonly grantable: boolean;
  /** What the call does, one fact each; made when asked for. */
  readonly obligations: () => readonly Obligation[];
  /** What an approval binds to (P15); made when asked for. */
  readonly bound: () => string;
  /** Globs below the root that a search leaves out. */
  readonly excludes: readonly string[];
  /** Of the policy that decided. */
  readonly revision: string;
  /** Layer of the rule that decided, `floor` or `grant`; null: no rule did. Made when asked for. */
  readonly layer: () => string | null;
  /** Whether it would be allowed with these rules besides; only for what is `grantable`. */
  readonly allowsWith: (rules: readonly PermissionRule[]) => boolean;
}

export function judgeCall(
  call: Call,
  permissions: Permissions,
  place: CallPlace,
  granted?: Granted,
): Judgement {
  const snapshot = permissions.snapshot ?? teamSnapshot(permissions);
  const context = contextOf(permissions, place, snapshot);
  const policy = policyOf(snapshot);
  const decision = evaluate(call, policy, context);
  const asksForWantOfRule = decision.action === 'ask' && decision.grantable;
  const judged = {
    grantable: asksForWantOfRule,
    obligations: decision.obligations,
    excludes: decision.excludes,
    revision: decision.revision,
    layer: () => layerOf(policy, place.actor, decision.rule),
    bound: () => boundText(call, decision, context, place.profile),
    allowsWith: (rules: readonly PermissionRule[]) =>
      asksForWantOfRule && withRules({ call, policy, context, rules }).action === 'allow',
  };
  if (asksForWantOfRule && granted !== undefined && granted.rules.length > 0) {
    const { rules, pinsHold } = granted;
    const again = withRules({
      call,
      policy,
      context: {
        ...context,
        pinsHold: (rule: string, files: readonly string[]) =>
          pinsHold(rule) || context.pinsHold?.(rule, files) === true,
      },
      rules,
    });
    if (again.action === 'allow') {
      const { action, rule, reason } = again;
      const layer = (): string | null => layerOf(policy, place.actor, rule);
      return {
        ...judged,
        action,
        rule,
        reason,
        layer,
        command: again.canonical(),
        grantable: false,
      };
    }
  }
  const { action, rule, reason } = decision;
  return { ...judged, action, rule, reason, command: decision.canonical() };
}

function layerOf(policy: Policy, actor: string, id: string): string | null {
  if (id === 'floor') return id;
  if (grantOfRule(id) !== null) return 'grant';
  const origin = policy.forActor(actor).rules.all.find((rule) => rule.id === id)?.origin;
  if (origin === undefined) return null;
  return policy.layers.find((layer) => origin.endsWith(layer.origin))?.name ?? 'built-in';
}

/**
 * For a profile the same in every tree: names of actors and of their trees are left out of what the call does, never out of
 * its input.
 */
function boundText(
  call: Call,
  decision: Decision,
  context: DecisionContext,
  profile: string | undefined,
): string {
  if (profile === undefined) return digestText(call, decision, context);
  const { root } = context;
  const obligations = decision.obligations().map((one): Obligation => {
    if (!('path' in one) || !(one.path === root || one.path.startsWith(`${root}/`))) return one;
    return { ...one, path: `.${one.path.slice(root.length)}` };
  });
  const scope = { ...context, actor: `@${profile}`, root: '.', cwd: undefined };
  return digestText(call, { ...decision, obligations: () => obligations }, scope);
}

/** Judged once more with allow rules besides; deny and ask rules and the floor come before them as always. */
function withRules(what: {
  readonly call: Call;
  readonly policy: Policy;
  readonly context: DecisionContext;
  readonly rules: readonly PermissionRule[];
}): Decision {
  const { call, policy, context, rules } = what;
  const file: PolicyFile = {
    version: 1,
    defaults: {},
    actors: {},
    profiles: {},
    lift: [],
    rules,
  };
  const layer = { name: 'user', origin: 'grants', file, trusted: true } as const;
  return evaluate(call, makePolicy([...policy.layers, layer], policy.revision), context);
}

/** The facts of the session for one call. */
function contextOf(
  { attended, home, sandboxed }: Pick<Permissions, 'attended' | 'home' | 'sandboxed'>,
  { actor, root, resolve, pins }: CallPlace,
  snapshot: PolicySnapshot,
): DecisionContext {
  return {
    actor,
    root: root ?? NO_TREE,
    home: home ?? null,
    attended,
    sandboxed: sandboxed === true,
    resolve,
    pinsHold: (_rule, files) => files.every((file) => isPinned(snapshot.pins, pins, file)),
  };
}

/** As in the commit that the run began from: who changes it lapses the permission. */
function isPinned(
  then: PolicySnapshot['pins'],
  now: CallFacts['pins'] | undefined,
  file: string,
): boolean {
  const before = Object.hasOwn(then, file) ? then[file] : undefined;
  const after = now !== undefined && Object.hasOwn(now, file) ? now[file] : undefined;
  return typeof before === 'string' && before === after;
}

/** From facts that came with a call. A path that nobody looked at may lead anywhere: it is no file of anybody's. */
export function factsResolver(facts: CallFacts['paths']): Resolve {
  return (path): PathFact =>
    (Object.hasOwn(facts, path) ? facts[path] : undefined) ?? { path, kind: 'special', links: 1 };
}

/** A path that nothing lies below. */
const NO_TREE = '/nonexistent/tree';

const made = new WeakMap<readonly PermissionRule[], Map<string, PolicySnapshot>>();

/** One snapshot for the same rules and words, however often they are copied around. */
export function teamSnapshot(permissions: TeamPermissions, origin?: string | null): PolicySnapshot {
  const { rules, policy, default: fallback, mode, unstated } = permissions;
  const key = policy?.rules ?? rules;
  const words = `${fallback} ${mode ?? ''} ${String(unstated)}`;
  let byWords = made.get(key);
  if (byWords === undefined) {
    byWords = new Map();
    made.set(key, byWords);
  }
  const found = byWords.get(words);
  if (found !== undefined) return found;
  const layers = [teamLayer(permissions, origin ?? null)];
  const fresh: PolicySnapshot = Object.freeze({ revision: 'team', layers, pins: {} });
  byWords.set(words, fresh);
  return fresh;
}
