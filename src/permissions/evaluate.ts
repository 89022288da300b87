/**
 * The one decision (permissions §2.5): a call, a policy and the facts of the session to allow, ask or deny. Pure.
 *
 * Invariants
 * - P1 `deny` beats `ask` beats `allow`, whatever the order, detail or origin of the rules.
 * - P2 The floor is below all rules: no rule, mode or default lifts it.
 * - P4 What actors may never run (`shell/commands.ts`).
 * - P18 Without attendance nothing is asked: each ask is a deny, at once, with its reason.
 * - P19 Allow needs every fact of a call to be covered; one that is not makes it an ask.
 */
import { shortened } from '../kernel/shortened.ts';
import type { Effect } from '../protocol/team.ts';
import type { Call, Decision, DecisionContext, Obligation } from './decision.ts';
import { type Facts, factsOf } from './facts.ts';
import {
  fitsUseNarrow,
  fitsUseWide,
  floorOf,
  isInside,
  oddFile,
  type Spot,
  showSpot,
} from './file-uses.ts';
import { REASON_CHARS_MAX, ROUGH_MAX, STEPS_A_RULE } from './limits.ts';
import { mentioned } from './mentioned.ts';
import { namesOf } from './paths.ts';
import type { ActorPolicy, Policy } from './policy.ts';
import {
  type Anchors,
  fitsNarrow,
  fitsWide,
  matchesHost,
  type Rule,
  rulesTool,
  tokenFits,
} from './rule.ts';
import { rulesFor } from './rule-set.ts';
import { canonicalText } from './shell/canonical.ts';
import type { Exec } from './shell/reading.ts';
import { roughFloor } from './shell/rough.ts';
import { allSpots } from './spots.ts';

interface Verdict {
  readonly action: Effect;
  readonly rule: string;
  readonly reason: string;
}

interface Judging {
  readonly facts: Facts;
  readonly policy: ActorPolicy;
  readonly context: DecisionContext;
  readonly anchors: Anchors;
  readonly spots: readonly Spot[];
  /** What deny rules may be about, as found on the way. */
  readonly mays: { readonly rule: Rule; readonly spot: Spot }[];
}

/** Never throws for what a call contains. */
export function evaluate(call: Call, policy: Policy, context: DecisionContext): Decision {
  const facts = factsOf(call.tool, call.input, context);
  const anchors: Anchors = anchorsOf(context);
  const judging: Judging = {
    facts,
    policy: policy.forActor(context.actor),
    context,
    anchors,
    spots: allSpots(facts, context),
    mays: [],
  };
  const outcome = judge(judging);
  const settled = settle(outcome.verdict, judging);
  const { action, rule, reason } = settled;
  return {
    action,
    rule,
    reason: shortened(reason, REASON_CHARS_MAX),
    obligations: () => obligationsOf(judging),
    canonical: () =>
      action === 'allow' && outcome.byRules && facts.shell !== null
        ? canonicalText(facts.shell)
        : null,
    excludes: facts.tool?.kind === 'search' ? deniedGlobs(judging) : NO_GLOBS,
    grantable: outcome.grantable && !facts.odd,
    revision: policy.revision,
    steps: facts.reading.steps,
  };
}

const NO_GLOBS: readonly string[] = [];
let lastAnchors: {
  readonly root: string;
  readonly home: string | null;
  readonly anchors: Anchors;
} | null = null;

/** The same for call after call. */
function anchorsOf({ root, home }: DecisionContext): Anchors {
  if (lastAnchors !== null && lastAnchors.root === root && lastAnchors.home === home)
    return lastAnchors.anchors;
  const anchors = { root: namesOf(root), home: home === null ? null : namesOf(home) };
  lastAnchors = { root, home, anchors };
  return anchors;
}

interface Outcome {
  readonly verdict: Verdict;
  /** Allowed by rules that saw all of it, so that what they saw is what must run. */
  readonly byRules: boolean;
  readonly grantable: boolean;
}

const decided = (action: Effect, rule: string, reason: string): Outcome => ({
  verdict: { action, rule, reason },
  byRules: false,
  grantable: false,
});

/** The order is the algorithm: what comes first can't be undone by what follows. */
function judge(judging: Judging): Outcome {
  const { facts } = judging;
  if (facts.malformed !== null) return decided('deny', 'malformed', facts.malformed);
  const floor = floorReason(judging);
  if (floor !== null) return decided('deny', 'floor', floor);
  const denied = ruleAgainst(judging, 'deny');
  if (denied !== null) return decided('deny', denied.rule.id, denied.rule.reason ?? denied.reason);
  const asked = ruleAgainst(judging, 'ask');
  if (asked !== null) return decided('ask', asked.rule.id, asked.rule.reason ?? asked.reason);
  const closed = closedAsk(judging);
  if (closed !== null) return shut(judging, 'floor', closed);
  const [escalation] = facts.escalations;
  if (escalation !== undefined) {
    const reason = `the call asks for a limit of its own (${escalation}); nobody gave it that`;
    return shut(judging, 'escalation', reason);
  }
  const open = openRule(judging);
  if (open !== null)
    return decided('allow', open.id, open.reason ?? `rule ${open.id} allows ${facts.given}`);
  const doubt = doubtOf(judging);
  if (doubt !== null) return without(judging, 'structure', doubt);
  const cover = coverOf(judging);
  if (cover.missing !== null) return without(judging, 'default', cover.missing, true);
  const { rule } = cover;
  if (rule === null) return builtIn(judging);
  return {
    verdict: { action: 'allow', rule: rule.id, reason: rule.reason ?? `rule ${rule.id} allows it` },
    byRules: true,
    grantable: false,
  };
}

/**
 * P13: an ask that nothing turns into allow. Where what has no rule is denied (`locked`) a person is asked only about what
 * rules allow as a whole; where nothing may be written (`read-only`) nobody is asked about what could not be read.
 */
function shut(judging: Judging, rule: string, reason: string): Outcome {
  const { facts, policy } = judging;
  const isUnread = facts.reading.unread;
  if (isUnread && policy.mode === 'read-only') {
    return decided('deny', rule, `${reason}; in mode read-only only what can be read is run`);
  }
  if (policy.fallback === 'deny' && (isUnread || !isCovered(judging))) {
    return decided('deny', 'default', `${reason}; the default is deny`);
  }
  return decided('ask', rule, reason);
}

const isCovered = (judging: Judging): boolean =>
  openRule(judging) !== null || (doubtOf(judging) === null && coverOf(judging).missing === null);

/** What happens for want of a rule: a sandbox or the default may still allow it. */
function without(judging: Judging, rule: string, reason: string, grantable = false): Outcome {
  const { policy, context, facts } = judging;
  if (
    policy.auto &&
    context.sandboxed === true &&
    facts.tool?.kind === 'bash' &&
    !facts.reading.unread
  ) {
    return decided('allow', 'sandbox', 'it runs in the sandbox');
  }
  const { fallback } = policy;
  if (fallback === 'allow')
    return decided('allow', 'default', `no rule is against it, and the default is allow`);
  const verdict: Verdict =
    fallback === 'deny'
      ? { action: 'deny', rule: 'default', reason: `${reason}; the default is deny` }
      : { action: 'ask', rule, reason };
  return { verdict, byRules: false, grantable };
}

function settle(verdict: Verdict, { context }: Judging): Verdict {
  if (verdict.action !== 'ask' || context.attended) return verdict;
  return {
    action: 'deny',
    rule: verdict.rule,
    reason: `nobody can be asked (headless): ${verdict.reason}`,
  };
}

function floorReason(judging: Judging): string | null {
  const { facts, spots, anchors } = judging;
  if (facts.reading.denied !== null) return facts.reading.denied;
  for (const spot of spots) {
    const verdict = floorOf(spot, anchors);
    if (verdict?.effect === 'deny') return `${showSpot(spot)}: ${verdict.reason}`;
    const odd = spot.use.by === 'read_file' || facts.tool?.kind === 'write' ? oddFile(spot) : null;
    if (odd !== null && spot.resolved?.kind === 'special') return `${showSpot(spot)}: ${odd}`;
  }
  for (const target of facts.net) if (target.kind === 'refused') return target.reason;
  const unread = unreadOf(facts);
  if (unread !== null) return roughFloor(unread.slice(0, ROUGH_MAX));
  return null;
}

/** The text of a command that could not be read to its end. */
function unreadOf({ reading, text }: Facts): string | null {
  return reading.unread ? text : null;
}

/** Asks that no default turns into allow. */
function closedAsk({ facts, spots, anchors }: Judging): string | null {
  if (facts.reading.unread) return facts.reading.doubts[0] ?? 'it was not read to its end';
  for (const spot of spots) {
    const verdict = floorOf(spot, anchors);
    if (verdict !== null) return `${showSpot(spot)}: ${verdict.reason}`;
    if (facts.tool?.kind === 'write') {
      const odd = oddFile(spot);
      if (odd !== null) return `${showSpot(spot)}: ${odd}`;
    }
  }
  return null;
}

interface Against {
  readonly rule: Rule;
  readonly reason: string;
}

/** The first rule of this effect that is about any part of the call, however it is spelled. */
function ruleAgainst(judging: Judging, effect: 'deny' | 'ask'): Against | null {
  const { facts, policy, spots, anchors } = judging;
  const rules = policy.rules[effect];
  const { tool } = facts;
  if (tool === null) return null;
  for (const rule of rules.tools) {
    if (rulesTool(rule, tool.kind === 'mcp' ? 'mcp' : tool.name))
      return { rule, reason: `rule ${rule.id} is about ${tool.name}` };
  }
  const { commands } = rules;
  if (commands.byName.size + commands.others.length > 0) {
    for (const exec of facts.reading.execs) {
      if (!facts.reading.spend(STEPS_A_RULE)) break;
      for (const rule of rulesFor(commands, exec)) {
        if (!facts.reading.spend(STEPS_A_RULE)) break;
        if (fitsWide(rule, exec))
          return { rule, reason: `rule ${rule.id} is about ${shown(exec)}` };
      }
    }
    const unread = unreadOf(facts);
    if (unread !== null) {
      const name = mentioned(unread, commands.byName);
      if (name !== null) return { rule: name, reason: `rule ${name.id} is about a name in it` };
    }
  }
  const byAccess = tool.kind === 'bash' || tool.kind === 'mcp';
  for (const spot of spots) {
    if (!facts.reading.spend(STEPS_A_RULE)) break;
    for (const rule of rules.paths) {
      if (!byAccess && !rulesTool(rule, tool.name)) continue;
      if (!facts.reading.spend(STEPS_A_RULE + spot.names.length)) break;
      const fits = fitsUseWide(rule, spot, { anchors, work: facts.reading });
      if (fits === 'yes') return { rule, reason: `rule ${rule.id} is about ${showSpot(spot)}` };
      if (fits === 'may' && effect === 'deny') judging.mays.push({ rule, spot });
    }
  }
  return hostAgainst(facts, rules.hosts) ?? serverAgainst(facts, rules.servers);
}

function hostAgainst(facts: Facts, rules: readonly Rule[]): Against | null {
  for (const target of facts.net) {
    if (target.kind !== 'host') continue;
    const rule = rules.find(
      (one) => rulesTool(one, facts.tool?.name ?? '') && matchesHost(one, target.host),
    );
    if (rule !== undefined) return { rule, reason: `rule ${rule.id} is about ${target.host}` };
  }
  return null;
}

function serverAgainst({ mcp }: Facts, rules: readonly Rule[]): Against | null {
  if (mcp === null) return null;
  const rule = rules.find((one) => isServer(one, mcp));
  return rule === undefined
    ? null
    : { rule, reason: `rule ${rule.id} is about ${mcp.server}/${mcp.name}` };
}

const isServer = (
  rule: Rule,
  { server, name }: { readonly server: string; readonly name: string },
): boolean => rule.server === server && (rule.name === null || tokenFits(rule.name, name));

/** A rule that allows a whole tool, whatever it is called with: also what can't be read of it. */
function openRule({ facts, policy, context }: Judging): Rule | null {
  const { tool } = facts;
  if (tool === null || tool.kind === 'mcp') return null;
  const rules = policy.rules.allow.tools;
  return rules.find((rule) => rulesTool(rule, tool.name) && holds(rule, context)) ?? null;
}

/** Whether the conditions of an allow rule are given. */
function holds(rule: Rule, context: DecisionContext): boolean {
  if (rule.sandbox && context.sandboxed !== true) return false;
  return rule.pins.length === 0 || context.pinsHold?.(rule.id, rule.pins) === true;
}

/** Why no rule with a pattern may allow it. */
function doubtOf(judging: Judging): string | null {
  const { facts, spots } = judging;
  if (facts.tool === null) return `there is no tool ${JSON.stringify(facts.given.slice(0, 60))}`;
  const [doubt] = facts.reading.doubts;
  if (doubt !== undefined) return doubt;
  if (facts.odd) return 'it has characters that are not what they look like';
  for (const spot of spots) {
    if (spot.problem !== null) return spot.problem;
    const odd = oddFile(spot);
    if (odd !== null) return odd;
  }
  const [may] = judging.mays;
  if (may === undefined || facts.tool.kind === 'search') return null;
  const { by } = may.spot.use;
  return `${by} may reach what rule ${may.rule.id} denies: leave it out, or name the files`;
}

interface Cover {
  readonly missing: string | null;
  /** The last rule that was needed; null when none was. */
  readonly rule: Rule | null;
}

/** P19: each fact has to be covered by a rule of its own. */
function coverOf(judging: Judging): Cover {
  const { facts, policy, context, spots, anchors } = judging;
  const { allow } = policy.rules;
  let last: Rule | null = null;
  const take = (found: Rule | undefined, missing: string): string | null => {
    if (found === undefined) return missing;
    last = found;
    return null;
  };
  for (const exec of facts.reading.execs) {
    if (exec.covered) continue;
    let found: Rule | undefined;
    for (const rule of rulesFor(allow.commands, exec)) {
      if (!facts.reading.spend(STEPS_A_RULE)) break;
      if (fitsNarrow(rule, exec) && holds(rule, context)) found = rule;
      if (found !== undefined) break;
    }
    const missing = take(found, exec.opaque ?? `no rule allows \`${shown(exec)}\``);
    if (missing !== null) return { missing, rule: null };
  }
  for (const name of facts.reading.env) {
    return { missing: `it sets ${name}, which may change what programs do`, rule: null };
  }
  const own =
    facts.tool?.kind === 'bash' || facts.tool?.kind === 'mcp' ? null : (facts.tool?.name ?? null);
  for (const spot of spots) {
    if (isFree(spot, anchors)) continue;
    const found = allow.paths.find(
      (rule) =>
        (own === null || rulesTool(rule, own)) &&
        facts.reading.spend(STEPS_A_RULE + spot.names.length) &&
        fitsUseNarrow(rule, spot, anchors) &&
        holds(rule, context),
    );
    const missing = take(found, `no rule allows to ${VERBS[spot.use.access]} ${showSpot(spot)}`);
    if (missing !== null) return { missing, rule: null };
  }
  const missing = coverOfOthers(judging, take);
  return { missing, rule: missing === null ? last : null };
}

const VERBS = {
  read: 'read',
  list: 'look at',
  write: 'write',
  delete: 'remove',
  link: 'link to',
} as const;

/** Reading inside of the tree needs no rule. */
function isFree(spot: Spot, anchors: Anchors): boolean {
  const { access } = spot.use;
  return (access === 'read' || access === 'list') && isInside(spot, anchors);
}

function coverOfOthers(
  { facts, policy, context }: Judging,
  take: (found: Rule | undefined, missing: string) => string | null,
): string | null {
  const { allow } = policy.rules;
  for (const target of facts.net) {
    const host = target.kind === 'host' ? target.host : '';
    const found = allow.hosts.find(
      (rule) =>
        rulesTool(rule, facts.tool?.name ?? '') && matchesHost(rule, host) && holds(rule, context),
    );
    const missing = take(found, `no rule allows ${host}`);
    if (missing !== null) return missing;
  }
  if (facts.tool?.name === 'web_search') return 'no rule allows web_search';
  const { mcp } = facts;
  if (mcp === null) return null;
  const found = allow.servers.find((rule) => isServer(rule, mcp) && holds(rule, context));
  return take(found, `no rule allows ${mcp.server}/${mcp.name}`);
}

/** Calls that need no rule at all. */
function builtIn({ facts }: Judging): Outcome {
  const kind = facts.tool?.kind;
  if (kind === 'team' || kind === 'spawn') {
    return decided('allow', 'team', 'it works on the team’s own records');
  }
  if (kind === 'bash')
    return { ...decided('allow', 'read-only', 'it changes nothing'), byRules: true };
  return decided('allow', 'read-only', 'it changes nothing');
}

function deniedGlobs({ policy, anchors }: Judging): readonly string[] {
  return policy.rules.deny.paths.flatMap(({ path, tools }) => {
    const reads = tools === null || tools.has('read_file') || tools.has('grep');
    const here =
      path !== null && !path.outside && path.anchor === 'worktree' && anchors.root.length > 0;
    return reads && here && path.glob !== null ? [path.glob] : [];
  });
}

function shown(exec: Exec): string {
  const words = exec.argv.slice(0, 8).map((arg) => (arg.known ? arg.text : `${arg.text}…`));
  return shortened(words.join(' '), 80);
}

function obligationsOf({ facts, spots }: Judging): Obligation[] {
  const { reading, net, mcp, spawn, escalations } = facts;
  return [
    ...reading.execs
      .filter((exec) => !exec.guess)
      .map((exec): Obligation => ({ kind: 'exec', argv: exec.argv.map((arg) => arg.text) })),
    ...spots.map((spot): Obligation => ({ kind: spot.use.access, path: showSpot(spot) })),
    ...reading.env.map((name): Obligation => ({ kind: 'env', name })),
    ...reading.doubts.map((what): Obligation => ({ kind: 'opaque', what })),
    ...net.flatMap((one): Obligation[] =>
      one.kind === 'host' ? [{ kind: 'net', host: one.host }] : [],
    ),
    ...(mcp === null ? [] : [{ kind: 'mcp' as const, ...mcp }]),
    ...(spawn === null ? [] : [{ kind: 'spawn' as const, profile: spawn }]),
    ...escalations.map((what): Obligation => ({ kind: 'escalate', what })),
  ];
}
