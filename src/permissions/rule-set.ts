/**
 * The rules that count for one actor, sorted for quick looking up. Deny and ask rules of its ancestors count for it too;
 * allow rules only its own.
 *
 * Invariants
 * - P1 `deny` beats `ask` beats `allow`, whatever the order, detail or origin of the rules.
 * - P3 A layer can only tighten what others say: its deny and ask rules always count, its allow rules once it is trusted.
 */
import type { Effect } from '../protocol/team.ts';
import type { Rule } from './rule.ts';
import { baseName } from './shell/place.ts';
import type { Exec } from './shell/reading.ts';

/** Rules about commands, by the name they begin with. */
export interface CommandRules {
  readonly byName: ReadonlyMap<string, readonly Rule[]>;
  readonly others: readonly Rule[];
}

export interface RulesOfEffect {
  readonly commands: CommandRules;
  readonly paths: readonly Rule[];
  readonly hosts: readonly Rule[];
  /** About a tool as a whole. */
  readonly tools: readonly Rule[];
  readonly servers: readonly Rule[];
}

export type RuleSet = Readonly<Record<Effect, RulesOfEffect>> & { readonly all: readonly Rule[] };

export function makeRuleSet(rules: readonly Rule[]): RuleSet {
  const of = (effect: Effect): RulesOfEffect =>
    sort(rules.filter((rule) => rule.effect === effect));
  return { deny: of('deny'), ask: of('ask'), allow: of('allow'), all: rules };
}

function sort(rules: readonly Rule[]): RulesOfEffect {
  const byName = new Map<string, Rule[]>();
  const others: Rule[] = [];
  for (const rule of rules) {
    const head = rule.argv?.[0];
    if (head === undefined) continue;
    if (head.kind === 'glob') others.push(rule);
    else {
      for (const text of head.texts) {
        const list = byName.get(text);
        if (list === undefined) byName.set(text, [rule]);
        else list.push(rule);
      }
    }
  }
  return {
    commands: { byName, others },
    paths: rules.filter((rule) => rule.path !== null),
    hosts: rules.filter((rule) => rule.host !== null),
    servers: rules.filter((rule) => rule.server !== null || rule.tools?.has('mcp') === true),
    tools: rules.filter(
      (rule) =>
        rule.argv === null && rule.path === null && rule.host === null && rule.server === null,
    ),
  };
}

const NONE: readonly Rule[] = [];

/** Rules that may be about this command, for both ways to match. */
export function rulesFor(rules: CommandRules, exec: Exec): Iterable<Rule> {
  const { byName, others } = rules;
  if (byName.size === 0) return others;
  const text = exec.argv[0]?.text ?? '';
  const name = text.includes('/') || text.endsWith('.exe') ? baseName(text) : text;
  const found = byName.get(name) ?? byName.get(name.toLowerCase()) ?? NONE;
  const whole = name === text ? NONE : (byName.get(text) ?? NONE);
  if (others.length === 0 && whole.length === 0) return found;
  return [...found, ...whole, ...others];
}
