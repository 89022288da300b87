/**
 * Faults in the guards of the broker: the source is changed at one place, and the named test must go red. A change that does
 * not fit its place exactly once is an error, so that no mutant passes for want of one. `npm run mutants:permissions`.
 */
import type { Edit } from '../journal/patches.ts';

export interface GuardMutant {
  readonly edits: readonly Edit[];
  /** File of the test that must fail, and the beginning of its name. */
  readonly test: string;
  readonly name: string;
}

const one = (file: string, anchor: string, instead: string): readonly Edit[] => [
  { file: `src/${file}`, anchor, instead },
];

const LAWS = 'tests/unit/permissions/laws.test.ts';
const JUDGE = 'tests/unit/permissions/judge.test.ts';
const POLICY = 'tests/unit/permissions/policy.test.ts';
const ASKS = 'tests/unit/permissions/asks.test.ts';
const BROKER = 'tests/unit/supervisor/broker.test.ts';
const GRANTS = 'tests/unit/permissions/grants.test.ts';
const QUEUE = 'tests/sim/permissions/queue.sim.ts';
const QUEUE_NAME = 'P30 P31 P32 P33 P34';

export const guardMutants: Readonly<Record<string, GuardMutant>> = {
  'an allow rule before deny rules': {
    edits: one(
      'permissions/evaluate.ts',
      'if (denied !== null) return',
      'if (denied !== null && openRule(judging) === null) return',
    ),
    test: JUDGE,
    name: 'P1: deny beats ask beats allow',
  },
  'an allow rule before ask rules': {
    edits: one(
      'permissions/evaluate.ts',
      'if (asked !== null) return',
      'if (asked !== null && openRule(judging) === null) return',
    ),
    test: JUDGE,
    name: 'P1: deny beats ask beats allow',
  },
  'no floor': {
    edits: one(
      'permissions/evaluate.ts',
      "if (floor !== null) return decided('deny', 'floor', floor);",
      '',
    ),
    test: JUDGE,
    name: 'P2: the floor holds',
  },
  'facts that no rule covers': {
    edits: one(
      'permissions/evaluate.ts',
      'if (found === undefined) return missing;',
      'if (found === undefined) return null;',
    ),
    test: GRANTS,
    name: 'P33: a grant counts',
  },
  'headless and asked all the same': {
    edits: one(
      'permissions/evaluate.ts',
      "if (verdict.action !== 'ask' || context.attended) return verdict;",
      'if (verdict.action !== null) return verdict;',
    ),
    test: JUDGE,
    name: 'P18',
  },
  'a rule for a sandbox without one': {
    edits: one(
      'permissions/evaluate.ts',
      'if (rule.sandbox && context.sandboxed !== true) return false;',
      '',
    ),
    test: POLICY,
    name: 'conditions of an allow rule',
  },
  'automatic without a sandbox': {
    edits: one('permissions/evaluate.ts', '    context.sandboxed === true &&\n', ''),
    test: POLICY,
    name: 'modes: edits',
  },
  'pins of rules ignored': {
    edits: one(
      'permissions/evaluate.ts',
      'return rule.pins.length === 0 || context.pinsHold?.(rule.id, rule.pins) === true;',
      'return true;',
    ),
    test: POLICY,
    name: 'conditions of an allow rule',
  },
  'a repository trusted by itself': {
    edits: one(
      'permissions/policy.ts',
      "one.effect !== 'allow' || (own && layer.trusted)",
      "one.effect !== 'allow' || own",
    ),
    test: POLICY,
    name: 'P3: an administrator',
  },
  'deny rules of ancestors forgotten': {
    edits: one(
      'permissions/policy.ts',
      'for (const [index, path] of chain(actor).entries()) {',
      'for (const [index, path] of chain(actor).slice(0, 1).entries()) {',
    ),
    test: POLICY,
    name: 'P3: what a parent may not do',
  },
  'the last good policy goes on allowing': {
    edits: one(
      'control/policy-layers.ts',
      '        trusted: false,\n        problem,',
      '        trusted: true,\n        problem,',
    ),
    test: 'tests/unit/control/policy-layers.test.ts',
    name: 'P20: what breaks',
  },
  'a wrapper is not looked through': {
    edits: one(
      'permissions/shell/wrappers.ts',
      'WRAPPERS.get(name) ??',
      'WRAPPERS.get(`not ${name}`) ??',
    ),
    test: LAWS,
    name: 'P11 P16: ',
  },
  'it runs as it was written': {
    edits: one(
      'supervisor/decide/acts/bash.ts',
      'const run = judged?.command ?? command;',
      'const run = command;',
    ),
    test: BROKER,
    name: 'P14: what runs is what was read',
  },
  'an answer to another question counts': {
    edits: one(
      'permissions/asks.ts',
      'return digest !== null && digest !== ask.digest ?',
      'return digest === undefined ?',
    ),
    test: ASKS,
    name: 'P30, P31, P32: in any history',
  },
  'the second answer counts as well': {
    edits: one(
      'permissions/asks.ts',
      "  if (ended !== undefined) return { kind: 'ended', id, ended };\n",
      '',
    ),
    test: ASKS,
    name: 'P30, P31, P32: in any history',
  },
  'equal questions are asked again': {
    edits: one(
      'permissions/asks.ts',
      'if (ask.answer === null && ask.digest === digest) return ask;',
      '',
    ),
    test: ASKS,
    name: 'P32: fifty actors',
  },
  'an actor asks out of turn': {
    edits: one('permissions/asks.ts', 'turns.set(first.actor, turn + 1);', ''),
    test: ASKS,
    name: 'P32: who asks much',
  },
  'asks of subagents of subagents are not shown': {
    edits: one(
      'permissions/asks.ts',
      'if (ask.answer !== null || first === undefined) continue;',
      'if (ask.answer !== null || first === undefined || first.ancestry.length > 2) continue;',
    ),
    test: BROKER,
    name: 'P30: what a subagent of a subagent asks',
  },
  'a yes to something else that lies there now': {
    edits: one(
      'supervisor/decide/judging.ts',
      'if (approval.digest !== judged.digest()) return judged;',
      '',
    ),
    test: BROKER,
    name: 'P15: a link that comes',
  },
  'a hook loosens': {
    edits: one(
      'supervisor/decide/judging.ts',
      "if (tightened === undefined || judged.action === 'deny') return judged;",
      'if (tightened === undefined) return judged;',
    ),
    test: BROKER,
    name: 'P40: a hook that wants',
  },
  'what a hook wrote is not judged from the start': {
    edits: one(
      'supervisor/decide/hooks.ts',
      '? { asking, again: true }',
      '? { asking: { ...asking, hooked: true }, again: false }',
    ),
    test: BROKER,
    name: 'P41: what a hook wrote',
  },
  'a hook that fails lets by': {
    edits: one(
      'supervisor/decide/hooks.ts',
      "if (one.outcome === 'failed') {",
      "if (one.outcome === 'failed' && one.ms < 0) {",
    ),
    test: BROKER,
    name: 'P40: whatever hooks say',
  },
  'no plan gate': {
    edits: one(
      'supervisor/decide/judging.ts',
      '  if (reason !== null) {\n    return {\n      ...judged,',
      '  if (reason === undefined) {\n    return {\n      ...judged,',
    ),
    test: 'tests/unit/supervisor/team/plans.test.ts',
    name: 'A8: refuses',
  },
  'no deadline': {
    edits: one(
      'supervisor/decide/asks/answer.ts',
      "if (left <= 0) draft.ask({ type: 'ask.timed-out', id: ask.id });",
      "if (left <= -1e12) draft.ask({ type: 'ask.timed-out', id: ask.id });",
    ),
    test: BROKER,
    name: 'P30: nobody answers',
  },
  'who died still asks': {
    edits: one(
      'supervisor/decide/asks/end.ts',
      "if (actor === name) draft.ask({ type: 'ask.withdrawn', id: ask.id, call, reason });",
      '',
    ),
    test: QUEUE,
    name: QUEUE_NAME,
  },
  'a call that rules settle still asks': {
    edits: one(
      'supervisor/decide/requests.ts',
      "const reason = 'the rules have decided about it meanwhile';\n",
      "const reason = 'the rules have decided about it meanwhile';\n  if (reason !== '') return;\n",
    ),
    test: BROKER,
    name: 'P30: a call that comes back',
  },
  'a grant is lost between the journals': {
    edits: one(
      'supervisor/decide/asks/answer.ts',
      "for (const grant of draft.state.asks.unkept.values()) draft.effect({ type: 'grant.keep', grant });",
      '',
    ),
    test: BROKER,
    name: 'P33: a grant for the workspace',
  },
  'acts before the decision is durable': {
    edits: one(
      'supervisor/loop.ts',
      'head.seq > this.durableSeq)',
      'head.seq > this.state.lastSeq)',
    ),
    test: QUEUE,
    name: QUEUE_NAME,
  },
  'a look that fails says that the name is free': {
    edits: one(
      'permissions/disk-facts.ts',
      "return { path, kind: 'special', links: 1 };",
      "return { path, kind: 'missing', links: 1 };",
    ),
    test: BROKER,
    name: 'P7: a look that fails',
  },
  'a grant for all of a program': {
    edits: one(
      'permissions/grants.ts',
      'return bash([name, sub], false);',
      'return bash([name], false);',
    ),
    test: GRANTS,
    name: 'P33: an offer is no wider',
  },
  'a grant for interpreters': {
    edits: one('permissions/grants.ts', ' || isInterpreter(name)) return null;', ') return null;'),
    test: GRANTS,
    name: 'P33: an offer is no wider',
  },
  'a grant of a run for every profile': {
    edits: one(
      'permissions/grants.ts',
      'if (grant.profile !== null && grant.profile !== of.profile) continue;',
      '',
    ),
    test: GRANTS,
    name: 'P33: a grant counts',
  },
  'a grant that is over': {
    edits: one(
      'permissions/grants.ts',
      "if (grantStanding(grant, of.nowMs) !== 'active') continue;",
      '',
    ),
    test: GRANTS,
    name: 'P33: a grant counts',
  },
  'a grant whose pinned file was changed': {
    edits: one(
      'permissions/grants.ts',
      "typeof hash === 'string' && now[file] === hash",
      "typeof hash === 'string'",
    ),
    test: GRANTS,
    name: 'P33: a pinned file',
  },
  'a grant pinned to nothing': {
    edits: one(
      'permissions/grants.ts',
      "typeof hash === 'string' && now[file] === hash",
      'now[file] === hash',
    ),
    test: GRANTS,
    name: 'P33: a pinned file',
  },
  'a wrong token is taken': {
    edits: one(
      'ipc/client-session.ts',
      "if (identity === null) {\n      return this.#deny(id, 'ipc/token'",
      "if (identity === null && token === '') {\n      return this.#deny(id, 'ipc/token'",
    ),
    test: 'tests/contract/ipc.test.ts',
    name: 'I1',
  },
  'an actor may answer asks': {
    edits: one(
      'ipc/identity.ts',
      'if (info?.roles.includes(role) === true) return null;',
      'if (info !== undefined || role === null) return null;',
    ),
    test: 'tests/contract/wire-roles.test.ts',
    name: 'a role is refused',
  },
};
