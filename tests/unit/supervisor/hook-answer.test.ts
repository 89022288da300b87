import { expect, test } from 'vitest';
import type { ExecResult } from '../../../src/kernel/index.ts';
import { readHookAnswer } from '../../../src/supervisor/hook-answer.ts';
import { HOOK_CONTEXT_MAX, HOOK_REASON_MAX } from '../../../src/supervisor/limits.ts';

const ended = (given: Partial<ExecResult>): ExecResult => ({
  code: 0,
  signal: null,
  stdout: '',
  stderr: '',
  timedOut: false,
  truncated: false,
  ...given,
});
const said = (stdout: unknown) =>
  readHookAnswer(ended({ stdout: typeof stdout === 'string' ? stdout : JSON.stringify(stdout) }));

test('exit 0 without a word is no opinion; exit 2 denies with the standard error as reason', () => {
  expect(readHookAnswer(ended({ stdout: '  \n' }))).toEqual({ outcome: 'none' });
  expect(readHookAnswer(ended({ code: 2, stderr: ' not on Fridays\n' }))).toEqual({
    outcome: 'deny',
    reason: 'not on Fridays',
  });
  expect(readHookAnswer(ended({ code: 2 }))).toEqual({
    outcome: 'deny',
    reason: 'it gave no reason',
  });
});

test('P40: what crashes, hangs, floods or babbles has failed, and its half words count for nothing', () => {
  const deny = JSON.stringify({ decision: 'deny' });
  const failures: readonly [Partial<ExecResult>, string][] = [
    [{ timedOut: true, stdout: deny }, 'it did not end in time'],
    [{ code: 1 }, 'it ended with exit 1'],
    [{ code: 127, stderr: 'no such command' }, 'it ended with exit 127: no such command'],
    [{ code: null, signal: 'SIGSEGV' }, 'it ended with signal SIGSEGV'],
    [{ truncated: true, stdout: deny }, 'it wrote more than a hook may'],
    [{ stdout: 'ok' }, 'it wrote something that is no JSON'],
    [{ stdout: '[]' }, "its answer can't be used"],
    [{ stdout: 'null' }, "its answer can't be used"],
    [{ stdout: '"deny"' }, "its answer can't be used"],
  ];
  for (const [given, reason] of failures) {
    expect(readHookAnswer(ended(given))).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining(reason) as unknown,
    });
  }
});

test('P40: there is no word that allows', () => {
  for (const answer of [
    { decision: 'allow' },
    { decision: 'approve' },
    { allow: true },
    { decision: 'deny', permissionDecision: 'allow' },
  ]) {
    expect(said(answer).outcome).toBe('failed');
  }
});

test('an answer tightens, adds context or makes another input, and nothing of it twice', () => {
  expect(said({ decision: 'deny', reason: 'no' })).toEqual({ outcome: 'deny', reason: 'no' });
  expect(said({ decision: 'ask' })).toEqual({ outcome: 'ask' });
  expect(said({ context: 'mind the gap' })).toEqual({ outcome: 'none', context: 'mind the gap' });
  expect(said({ context: '  ' })).toEqual({ outcome: 'none' });
  expect(said({ input: { path: 'b' } })).toEqual({ outcome: 'rewrite', input: { path: 'b' } });
  expect(said({ decision: 'ask', input: { path: 'b' } })).toMatchObject({
    outcome: 'failed',
    reason: expect.stringContaining('do not go together') as unknown,
  });
});

test('texts are bounded', () => {
  const long = 'x'.repeat(HOOK_CONTEXT_MAX + HOOK_REASON_MAX);
  expect(said({ decision: 'deny', reason: long }).reason).toHaveLength(HOOK_REASON_MAX + 1);
  expect(said({ context: long }).context).toHaveLength(HOOK_CONTEXT_MAX + 1);
  const { reason } = readHookAnswer(ended({ code: 2, stderr: long }));
  expect(reason).toHaveLength(HOOK_REASON_MAX + 1);
});
