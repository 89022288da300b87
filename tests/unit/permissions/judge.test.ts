import { expect, test } from 'vitest';
import {
  type DecisionContext,
  digestText,
  evaluate,
  judgeCall,
  makePolicy,
  type Permissions,
} from '../../../src/permissions/index.ts';
import type { Effect, PermissionRule } from '../../../src/protocol/team.ts';
import { REFERENCE, referencePolicy } from './world.ts';

const rule = (effect: Effect, tool: string, reason: string | null = null): PermissionRule => ({
  id: `${effect}-${tool}`,
  effect,
  tool,
  reason,
});

function judge(
  tool: string,
  over: Partial<Permissions> & { input?: unknown; command?: string } = {},
): string {
  const { command = 'npm test', input = { command, path: 'src/a.ts', agent: 'x' }, ...rest } = over;
  const permissions = { default: 'ask', rules: [], attended: true, ...rest } as const;
  const place = { actor: 'ada', root: '/trees/t' };
  const { action, rule, reason } = judgeCall({ tool, input }, permissions, place);
  return `${action} ${rule}: ${reason}`;
}

test('P1: deny beats ask beats allow, in whatever order the rules are', () => {
  const all = [rule('allow', 'bash'), rule('ask', 'bash'), rule('deny', '*', 'not here')];
  expect(judge('bash', { rules: all })).toBe('deny deny-*: not here');
  expect(judge('bash', { rules: all.toReversed() })).toBe('deny deny-*: not here');
  expect(judge('bash', { rules: all.slice(0, 2), attended: false })).toMatch(
    /^deny ask-bash: .*headless/,
  );
  expect(judge('bash', { rules: all.slice(0, 1) })).toBe(
    'allow allow-bash: rule allow-bash allows bash',
  );
});

test('P2: the floor holds under an allow rule and under default allow', () => {
  const over = { default: 'allow', rules: [rule('allow', '*')], command: 'git push' } as const;
  expect(judge('bash', over)).toMatch(/^deny floor: git push is denied/);
});

test('P18: unattended, an ask is a deny that says nobody can be asked', () => {
  expect(judge('write_file', { attended: false })).toMatch(
    /^deny default: nobody can be asked \(headless\)/,
  );
});

test('an attended ask is one that says what is missing', () => {
  expect(judge('bash')).toBe('ask default: no rule allows `npm test`');
});

test('reading and the team’s own records are allowed unless a rule says otherwise', () => {
  const quiet = { default: 'deny', attended: false } as const;
  expect(judge('read_file', quiet)).toMatch(/^allow read-only/);
  expect(judge('complete_task', quiet)).toMatch(/^allow team/);
  expect(judge('read_file', { rules: [rule('deny', 'read_file')] })).toMatch(
    /^deny deny-read_file/,
  );
  expect(judge('task', { rules: [rule('deny', 'task')] })).toMatch(/^deny deny-task/);
});

test('a default decides for want of a rule', () => {
  expect(judge('bash', { default: 'allow' })).toMatch(/^allow default/);
  expect(judge('bash', { default: 'deny' })).toBe(
    'deny default: no rule allows `npm test`; the default is deny',
  );
});

test('P14: a command that rules allow runs as it was read, everything else as it was given', () => {
  const place = { actor: 'ada', root: '/trees/t' };
  const call = { tool: 'bash', input: { command: 'npm   test # quick' } };
  const rules: PermissionRule[] = [{ ...rule('allow', 'bash'), argv: ['npm', 'test'] }];
  const judged = judgeCall(call, { default: 'ask', rules, attended: true }, place);
  expect(judged).toMatchObject({ action: 'allow', command: "'npm' 'test'\n" });
  const open = judgeCall(call, { default: 'allow', rules: [], attended: true }, place);
  expect(open).toMatchObject({ action: 'allow', command: null });
});

test('P15: an approval binds to the call, the actor, the place and the policy; to nothing that changes by itself', () => {
  const digest = (
    command: string,
    over: Partial<DecisionContext> = {},
    policy = referencePolicy,
  ): string => {
    const context = { ...REFERENCE, ...over };
    const call = { tool: 'bash', input: { command } };
    return digestText(call, evaluate(call, policy, context), context);
  };
  const base = digest('python3 x.py');
  expect(digest('python3 x.py')).toBe(base);
  const others = [
    digest('python3 y.py'),
    digest('python3 x.py', { actor: 'a2' }),
    digest('python3 x.py', { cwd: '/w/a1/src' }),
    digest('python3 x.py', {}, makePolicy(referencePolicy.layers, 'later')),
  ];
  expect(new Set([base, ...others]).size).toBe(5);
});
