/**
 * One pure decision for one tool call. First form: rules by tool name; the broker replaces it with policies on the syntax
 * tree of a command, and with asks that people answer.
 *
 * Invariants
 * - P1 `deny` beats `ask` beats `allow`, whatever the order of the rules.
 * - P2 The floor is below all rules: no rule and no default lifts it.
 * - P3 A run without attendance never asks: each ask is a deny with the reason `headless`, at once.
 */
import type { Effect, PermissionRule } from '../protocol/team.ts';
import { bashFloor } from './bash-floor.ts';

export interface Call {
  readonly tool: string;
  readonly input: unknown;
}

export interface Permissions {
  readonly default: Effect;
  readonly rules: readonly PermissionRule[];
  /** Whether somebody may be asked (`--headless` says no). */
  readonly attended: boolean;
}

export interface Judgement {
  readonly action: Effect;
  /** Id of the rule that decided; else `floor`, `read-only`, `team` or `default`. */
  readonly rule: string;
  readonly reason: string;
}

/** Tools that work on the team's own records: mail and tasks have their own checks. */
const TEAM_TOOLS: ReadonlySet<string> = new Set([
  'send_message',
  'check_inbox',
  'team_status',
  'create_task',
  'list_tasks',
  'get_task',
  'claim_task',
  'complete_task',
  'fail_task',
  'task',
  'spawn_teammate',
  'request_plan',
  'submit_plan',
  'review_plan',
  'request_shutdown',
]);

/**
 * Never answers `ask` in this form: nobody could answer it yet, so an attended ask is a deny that says how to allow the
 * call. `mutating`: whether the tool changes anything outside the actor's own records.
 */
export function evaluateCall(
  call: Call,
  permissions: Permissions,
  o: { readonly mutating: boolean },
): Judgement {
  const floor = floorOf(call);
  if (floor !== null) return { action: 'deny', rule: 'floor', reason: floor };
  const rule = strictest(permissions.rules.filter((one) => matches(one, call.tool)));
  if (rule !== null) {
    const reason = rule.reason ?? `rule ${rule.id} ${PAST[rule.effect]} ${call.tool}`;
    return settle(call, { action: rule.effect, rule: rule.id, reason }, permissions);
  }
  if (!o.mutating) return { action: 'allow', rule: 'read-only', reason: 'it changes nothing' };
  if (TEAM_TOOLS.has(call.tool)) {
    return { action: 'allow', rule: 'team', reason: 'it works on the team’s own records' };
  }
  const reason = `no rule matches ${call.tool}; permissions.default is ${permissions.default}`;
  return settle(call, { action: permissions.default, rule: 'default', reason }, permissions);
}

const PAST = { allow: 'allows', ask: 'asks about', deny: 'denies' } as const;

/** P2: also for a tool that is not called `bash` here but carries a command all the same. */
function floorOf(call: Call): string | null {
  if (call.tool !== 'bash' || typeof call.input !== 'object' || call.input === null) return null;
  const command = 'command' in call.input ? call.input.command : null;
  return typeof command === 'string' ? (bashFloor(command)?.denied ?? null) : null;
}

function matches(rule: PermissionRule, tool: string): boolean {
  return rule.tool === '*' || rule.tool === tool;
}

/** P1. Of equal ones the first. */
function strictest(rules: readonly PermissionRule[]): PermissionRule | null {
  for (const effect of ['deny', 'ask', 'allow'] as const) {
    const found = rules.find((rule) => rule.effect === effect);
    if (found !== undefined) return found;
  }
  return null;
}

function settle(call: Call, judgement: Judgement, permissions: Permissions): Judgement {
  if (judgement.action !== 'ask') return judgement;
  if (!permissions.attended) return { action: 'deny', rule: judgement.rule, reason: 'headless' };
  const how = `to allow it, add a rule {id: …, effect: allow, tool: ${call.tool}} or \`permissions: {default: allow}\` to the team file`;
  const reason = `${judgement.reason}, and this version cannot ask; ${how}`;
  return { action: 'deny', rule: judgement.rule, reason };
}
