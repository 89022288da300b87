/** What is offered to be allowed from now on, and what a grant is worth: never more than the call that it came from. */
import { expect, test } from 'vitest';
import {
  grantOfRule,
  grantRules,
  judgeCall,
  offerFor,
  type Permissions,
  pinsHold,
} from '../../../src/permissions/index.ts';
import type { Grant, GrantOffer, PermissionRule } from '../../../src/protocol/index.ts';

const NOW = Date.parse('2026-12-01T00:00:00.000Z');
const DAY = 24 * 60 * 60_000;
const PLACE = { actor: 'r1/ada', root: '/t/a', profile: 'implementer' };

const permissions = (rules: readonly PermissionRule[] = []): Permissions => ({
  default: 'ask',
  rules,
  attended: true,
});

function offered(
  command: string,
  pins: GrantOffer['pins'] = { 'package.json': 'h1' },
): GrantOffer | null {
  const judged = judgeCall({ tool: 'bash', input: { command } }, permissions(), PLACE);
  expect(judged.action, command).toBe('ask');
  const { grantable, allowsWith: allows } = judged;
  const question = { obligations: judged.obligations(), root: '/t/a', pins, allows };
  return grantable ? offerFor(question) : null;
}

function grantFor(command: string, more: Partial<Grant> = {}): Grant {
  const offer = offered(command);
  if (offer === null) throw new Error(`${command} is not offered`);
  return {
    ...offer,
    id: 'grant_1',
    scope: 'workspace',
    profile: null,
    by: 'user',
    at: new Date(NOW - DAY).toISOString(),
    expiresAt: new Date(NOW + DAY).toISOString(),
    lastUsedAt: null,
    ask: 'ask_1',
    run: 'r1',
    ...more,
  };
}

function judged(
  command: string,
  grant: Grant,
  o: {
    rules?: readonly PermissionRule[];
    profile?: string;
    nowMs?: number;
    now?: GrantOffer['pins'];
  } = {},
): string {
  const { rules = [], profile = 'implementer', nowMs = NOW, now = { 'package.json': 'h1' } } = o;
  const granted = {
    rules: grantRules([grant], { profile, nowMs }),
    pinsHold: (rule: string) => grantOfRule(rule) === grant.id && pinsHold(grant, now),
  };
  return judgeCall({ tool: 'bash', input: { command } }, permissions(rules), PLACE, granted).action;
}

test('P33: an offer is no wider than the call: program and subcommand, or the very words; no interpreter, no wrapper', () => {
  expect(offered('git commit -m x')?.pattern).toBe('git commit');
  expect(offered('go build')?.rules[0]?.argv).toEqual(['go', 'build']);
  expect(offered('npm run lint')?.pattern).toBe('npm run lint');
  expect(offered('deploy now')?.pattern).toBe('deploy now (nothing else)');
  for (const command of [
    'python3 x.py',
    'node x.js',
    'bash -c "deploy now"',
    'env X=1 deploy',
    'make all',
    'deploy $(date)',
  ]) {
    expect(offered(command), command).toBeNull();
  }
  const grant = grantFor('git commit -m x');
  expect(judged('git commit -m y', grant)).toBe('allow');
  for (const command of [
    'git push',
    'git -c core.pager=x commit',
    'git commit -m x && deploy',
    './git commit',
    'sudo git commit',
  ]) {
    expect(judged(command, grant), command).not.toBe('allow');
  }
});

test('P33: a grant counts for its profile, until its date, and while it is used', () => {
  const command = 'deploy now';
  const ofRun = grantFor(command, { scope: 'run', profile: 'implementer', expiresAt: null });
  expect(judged(command, ofRun)).toBe('allow');
  expect(judged(command, ofRun, { profile: 'tester' })).toBe('ask');
  const grant = grantFor(command, { expiresAt: new Date(NOW + 60 * DAY).toISOString() });
  expect(judged(command, grant, { nowMs: NOW + 28 * DAY })).toBe('allow');
  expect(judged(command, grant, { nowMs: NOW + 29 * DAY })).toBe('ask');
  const used = { ...grant, lastUsedAt: new Date(NOW + 28 * DAY).toISOString() };
  expect(judged(command, used, { nowMs: NOW + 57 * DAY })).toBe('allow');
  expect(judged(command, used, { nowMs: NOW + 60 * DAY })).toBe('ask');
});

test('P33: a pinned file is part of the grant, and what can not be read pins nothing', () => {
  const grant = grantFor('npm test');
  expect(grant.pins).toEqual({ 'package.json': 'h1' });
  expect(judged('npm test', grant)).toBe('allow');
  for (const now of [{ 'package.json': 'h2' }, { 'package.json': null }, {}]) {
    expect(judged('npm test', grant, { now }), JSON.stringify(now)).toBe('ask');
  }
  // Of a file that is too large, or no file, the hash is null: as of one that was not there.
  expect(offered('npm test', { 'package.json': null })).toBeNull();
  const old = { ...grant, pins: { 'package.json': null } };
  expect(judged('npm test', old, { now: { 'package.json': null } })).toBe('ask');
});

test('P1: no grant beats a deny or an ask rule, the floor, or what could not be read', () => {
  const grant = grantFor('deploy now');
  const rule = (effect: 'ask' | 'deny'): PermissionRule => ({
    id: effect,
    effect,
    tool: 'bash',
    argv: ['deploy'],
    reason: null,
  });
  expect(judged('deploy now', grant, { rules: [rule('deny')] })).toBe('deny');
  expect(judged('deploy now', grant, { rules: [rule('ask')] })).toBe('ask');
  expect(
    judged('deploy now > ~/.ssh/config', {
      ...grant,
      rules: [
        ...grant.rules,
        { id: 'w', effect: 'allow', tool: 'write_file', path: { under: '/' }, reason: null },
      ],
    }),
  ).not.toBe('allow');
  expect(judged('deploy now; deploy "$X"', grant)).toBe('ask');
});
