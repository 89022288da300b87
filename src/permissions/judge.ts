/**
 * The decision as supervisor and actor threads ask for it: the policy that belongs to a run's permissions, made once, and
 * all that a question to a person has to say.
 *
 * Invariants
 * - P18 Without attendance nothing is asked: each ask is a deny, at once.
 */
import type { Effect, PermissionRule, PolicyFile, TeamPermissions } from '../protocol/team.ts';
import { type Call, type DecisionContext, digestText, type Obligation } from './decision.ts';
import { evaluate } from './evaluate.ts';
import { makePolicy, type Policy } from './policy.ts';

export interface Permissions extends TeamPermissions {
  /** Whether somebody may be asked (`--headless` says no). */
  readonly attended: boolean;
  readonly home?: string | undefined;
}

export interface CallPlace {
  readonly actor: string;
  /** Root of the tree the actor works in; null when it has none. */
  readonly root: string | null;
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
}

export function judgeCall(call: Call, permissions: Permissions, place: CallPlace): Judgement {
  const context: DecisionContext = {
    actor: place.actor,
    root: place.root ?? NO_TREE,
    home: permissions.home ?? null,
    attended: permissions.attended,
  };
  const decision = evaluate(call, policyOf(permissions), context);
  const { action, rule, reason, grantable, obligations } = decision;
  return {
    action,
    rule,
    reason,
    command: decision.canonical(),
    grantable: action === 'ask' && grantable,
    obligations,
    bound: () => digestText(call, decision, context),
  };
}

/** A path that nothing lies below. */
const NO_TREE = '/nonexistent/tree';

const made = new WeakMap<readonly PermissionRule[], Map<Effect, Policy>>();

/** One policy for the same rules and default, however often they are copied around. */
function policyOf(permissions: TeamPermissions): Policy {
  const { rules, policy, default: fallback } = permissions;
  const key = policy?.rules ?? rules;
  let byDefault = made.get(key);
  if (byDefault === undefined) {
    byDefault = new Map();
    made.set(key, byDefault);
  }
  const found = byDefault.get(fallback);
  if (found !== undefined) return found;
  const file = policy ?? shortForm(permissions);
  const fresh = makePolicy([{ name: 'team', origin: 'team file', file, trusted: true }], 'team');
  byDefault.set(fallback, fresh);
  return fresh;
}

/** `permissions: {default, rules}` of a team file as the policy that it stands for. */
function shortForm(permissions: TeamPermissions): PolicyFile {
  return {
    version: 1,
    defaults: { interactive: permissions.default },
    actors: {},
    profiles: {},
    rules: permissions.rules,
    lift: [],
  };
}
