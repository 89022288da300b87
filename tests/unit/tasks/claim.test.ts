import { expect, test } from 'vitest';
import { asTaskId } from '../../../src/kernel/ids.ts';
import {
  afterEnd,
  allTerminal,
  CONFLICTS_MAX,
  canClaim,
  cascade,
  checkFence,
  INTERRUPTIONS_MAX,
  nextAttempt,
} from '../../../src/tasks/index.ts';
import { ADA, BECAUSE, BO, LEAD, Run, spec } from './support.ts';

const ada = { by: ADA, profile: 'implementer', parallel: 4 };

test('T1: of two who want a task one gets it and the other is told who has it', () => {
  const run = new Run(spec('a'));
  expect(canClaim(run.graph, 'a', ada)).toMatchObject({ kind: 'ok' });
  run.claim('a', BO);
  expect(canClaim(run.graph, 'a', ada)).toEqual({ kind: 'lost', owner: BO });
  run.finish('a');
  expect(canClaim(run.graph, 'a', ada)).toEqual({ kind: 'lost', owner: BO });
  expect(() => run.claim('a')).toThrow('T3: task.claimed of a, which is verifying');
});

test('T1: the fence of a claim is the sequence of its record', () => {
  const run = new Run(spec('a'));
  run.claim('a');
  expect(run.node('a')).toMatchObject({ fence: run.seq, owner: ADA, attempt: 1, state: 'running' });
});

test('a claim is refused with the reason when the task is not for the claimer, or not now', () => {
  const run = new Run(
    spec('docs', { agent: 'writer' }),
    spec('lint', { run: 'npm run lint' }),
    spec('late', { needs: ['docs', 'lint'] }),
    spec('x', { touches: ['src'] }),
    spec('y', { touches: ['src'] }),
  );
  const reasonOf = (id: string, parallel = 4): unknown => {
    const outcome = canClaim(run.graph, id, { ...ada, parallel });
    return outcome.kind === 'not-ready' ? outcome.reason : outcome;
  };
  expect(reasonOf('docs')).toMatchObject({ kind: 'member', ref: 'writer' });
  expect(reasonOf('lint')).toMatchObject({ kind: 'member', ref: 'run' });
  expect(reasonOf('late')).toEqual({
    kind: 'task',
    ref: 'docs',
    text: 'waits for docs (ready), lint (ready)',
  });
  expect(reasonOf('x')).toMatchObject({ kind: 'ok' });
  run.claim('x');
  expect(reasonOf('y')).toMatchObject({ kind: 'touches', ref: 'x' });
  run.add(spec('z'));
  expect(reasonOf('z', 1)).toMatchObject({ kind: 'parallel' });
  expect(reasonOf('lat')).toEqual({ kind: 'unknown', near: ['late', 'lint'] });
  expect(canClaim(run.graph, 'lint', { ...ada, by: LEAD, profile: null })).toMatchObject({
    kind: 'ok',
  });
});

test('T3: nothing leaves a terminal state', () => {
  const run = new Run(spec('a'), spec('b'));
  run.complete('a');
  run.fail('b');
  for (const id of ['a', 'b']) {
    expect(canClaim(run.graph, id, ada)).toMatchObject({ kind: 'not-ready' });
    expect(() => run.claim(id)).toThrow('T3');
    expect(() => run.release(id, 'attempt')).toThrow('T3');
    expect(() => run.fail(id)).toThrow('T3');
    expect(() => run.done(id)).toThrow('T3');
  }
});

test('T7: a result of an earlier claim is refused, also after the task was taken again', () => {
  const run = new Run(spec('a'));
  run.claim('a');
  const old = run.node('a').fence;
  expect(checkFence(run.node('a'), old)).toEqual({ kind: 'ok' });
  run.release('a', 'attempt');
  expect(checkFence(run.node('a'), old)).toEqual({
    kind: 'stale',
    text: 'the claim on a is over: it was taken back',
  });
  expect(checkFence(run.node('a'), 0).kind).toBe('stale');
  run.claim('a', BO);
  expect(checkFence(run.node('a'), old)).toMatchObject({
    text: 'the claim on a is over: bo has claimed it since',
  });
  run.finish('a');
  run.done('a');
  expect(checkFence(run.node('a'), old)).toMatchObject({
    text: 'the claim on a is over: it is done',
  });
});

test('T4: ends are counted by what they are charged to, and keep tree, rework and last owner', () => {
  const run = new Run(spec('a', { attempts: 3 }));
  const id = asTaskId('a');
  run.claim('a');
  run.apply({ type: 'task.tree', id, path: '/trees/a', branch: 'troupe/r/task/a', start: 'c0' });
  run.release('a', 'nothing');
  run.claim('a');
  expect(run.node('a').attempt).toBe(1);
  run.release('a', 'attempt');
  expect(nextAttempt(run.node('a'))).toBe(2);
  run.claim('a');
  run.release('a', 'conflict');
  run.claim('a');
  run.release('a', 'interruption');
  expect(run.node('a')).toMatchObject({
    state: 'ready',
    owner: null,
    preferredOwner: ADA,
    attempt: 2,
    attemptsUsed: 1,
    conflicts: 1,
    interruptions: 1,
    path: '/trees/a',
    branch: 'troupe/r/task/a',
    rework: 'try again',
    lastReason: BECAUSE,
  });
});

test('T4: the last attempt that ends fails the task, with its cause', () => {
  const run = new Run(spec('a', { attempts: 2 }));
  expect(afterEnd(run.node('a'), 'attempt', BECAUSE)).toEqual({ kind: 'again' });
  run.claim('a');
  run.release('a', 'attempt');
  expect(afterEnd(run.node('a'), 'attempt', BECAUSE)).toEqual({
    kind: 'failed',
    reason: {
      kind: 'attempts',
      ref: 'npm test',
      text: 'all 2 attempts are used; the last: npm test exited 1',
    },
  });
  expect(afterEnd(run.node('a'), 'nothing', BECAUSE)).toEqual({ kind: 'again' });
});

test.each([
  ['conflict', CONFLICTS_MAX, 'conflict'],
  ['interruption', INTERRUPTIONS_MAX, 'attempts'],
] as const)('T4: %s ends are bounded apart from attempts', (counts, bound, kind) => {
  const run = new Run(spec('a'));
  for (let n = 0; n < bound; n += 1) {
    expect(afterEnd(run.node('a'), counts, BECAUSE)).toEqual({ kind: 'again' });
    run.claim('a');
    run.release('a', counts);
  }
  expect(afterEnd(run.node('a'), counts, BECAUSE)).toMatchObject({ reason: { kind } });
  expect(run.node('a').attemptsUsed).toBe(0);
});

test('T10: all that depends on a failed task is cancelled with it, nearest first, and only that', () => {
  const run = new Run(
    spec('a'),
    spec('b', { needs: ['a'] }),
    spec('c', { needs: ['b', 'x'] }),
    spec('d', { needs: ['a'] }),
    spec('x'),
    spec('y', { needs: ['x'] }),
  );
  run.claim('a');
  const changes = cascade(run.graph, 'a', 'failed');
  expect(changes).toEqual([
    { type: 'task.cancelled', id: 'b', reason: reason('needs a, which failed') },
    { type: 'task.cancelled', id: 'd', reason: reason('needs a, which failed') },
    { type: 'task.cancelled', id: 'c', reason: reason('needs a (through b), which failed') },
  ]);
  run.fail('a');
  for (const change of changes) run.apply(change);
  expect(run.states()).toBe('a:failed b:cancelled c:cancelled d:cancelled x:ready y:blocked');
  expect(cascade(run.graph, 'a', 'failed')).toEqual([]);
  run.complete('x');
  run.complete('y');
  expect(allTerminal(run.graph)).toBe(true);

  function reason(text: string): unknown {
    return { kind: 'task', ref: 'a', text };
  }
});

test('evidence of gates belongs to the current commit', () => {
  const run = new Run(spec('a'));
  const id = asTaskId('a');
  run.claim('a');
  run.finish('a');
  run.apply({ type: 'task.committed', id, commit: 'c1' });
  const gate = { gate: 'npm test', stage: 'task', commit: 'c1', exit: 1, output: null } as const;
  run.apply({ type: 'task.gate', id, ...gate, ok: false, tries: 1 });
  run.apply({ type: 'task.gate', id, ...gate, ok: true, exit: 0, tries: 2 });
  expect(run.node('a').gates).toEqual([{ ...gate, ok: true, exit: 0, tries: 2 }]);
  run.apply({ type: 'task.committed', id, commit: 'c2' });
  expect(run.node('a')).toMatchObject({ commit: 'c2', gates: [] });
});

test('T3: the terminal change ends claim, lease and intent in one', () => {
  const run = new Run(spec('a'));
  const id = asTaskId('a');
  run.claim('a');
  run.finish('a');
  run.verified('a');
  run.apply({ type: 'task.merging', id, from: 'm0', to: 'm1' });
  expect(run.node('a').merging).toEqual({ from: 'm0', to: 'm1' });
  run.apply({ type: 'task.done', id, commit: 'm1' });
  expect(run.node('a')).toMatchObject({
    state: 'done',
    fence: 0,
    leaseUntil: null,
    merging: null,
    mergedCommit: 'm1',
    owner: ADA,
    endedAt: new Date(run.seq).toISOString(),
  });
});
