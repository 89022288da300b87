import { expect, test } from 'vitest';
import { asTaskId } from '../../../src/kernel/ids.ts';
import {
  allTerminal,
  pickNext,
  runningCount,
  taskCounts,
  touchesBlocker,
} from '../../../src/tasks/index.ts';
import { Run, spec } from './support.ts';

const anyone = (): boolean => true;

/** Starts all that can start, and says in which order. */
function startAll(run: Run, free: (key: string) => boolean = anyone): string[] {
  const started: string[] = [];
  for (let node = pickNext(run.graph, free); node !== null; node = pickNext(run.graph, free)) {
    started.push(node.spec.id);
    run.claim(node.spec.id);
  }
  return started;
}

test('T2: a task becomes ready when the last of its needs is done, wherever it stands', () => {
  const run = new Run(spec('c', { needs: ['a', 'b'] }), spec('a'), spec('b'));
  expect(run.states()).toBe('c:blocked a:ready b:ready');
  run.complete('a');
  expect(run.states()).toBe('c:blocked a:done b:ready');
  run.complete('b');
  expect(run.states()).toBe('c:ready a:done b:done');
});

test('T2: a need that is named twice counts once', () => {
  const run = new Run(spec('a'), spec('b', { needs: ['a', 'a'] }));
  run.complete('a');
  expect(run.node('b').state).toBe('ready');
});

test('T2: a task added when its needs are done is ready at once', () => {
  const run = new Run(spec('a'));
  run.complete('a');
  run.add(spec('b', { needs: ['a'] }));
  expect(run.node('b').state).toBe('ready');
});

test('T5: the longest chain of dependents starts first, then order in the file', () => {
  const run = new Run(
    spec('short'),
    spec('other'),
    spec('long'),
    spec('long2', { needs: ['long'] }),
    spec('long3', { needs: ['long2', 'other'] }),
  );
  expect(startAll(run)).toEqual(['long', 'other', 'short']);
});

test('T5: a task grows in the order when dependents are added to it later', () => {
  const run = new Run(spec('a'), spec('b'), spec('c'));
  expect(pickNext(run.graph, anyone)?.spec.id).toBe('a');
  run.add(spec('d', { needs: ['c'] }));
  run.add(spec('e', { needs: ['d'] }));
  run.add(spec('f', { needs: ['b'] }));
  expect(startAll(run)).toEqual(['c', 'b', 'a']);
  expect([...run.graph.nodes.values()].map((n) => n.height)).toEqual([1, 2, 3, 2, 1, 1]);
});

test('T5: heights of a later addition reach through a diamond of older tasks', () => {
  const run = new Run(
    spec('top'),
    spec('left', { needs: ['top'] }),
    spec('right', { needs: ['top'] }),
    spec('far', { needs: ['right'] }),
    spec('join', { needs: ['left', 'far'] }),
  );
  pickNext(run.graph, anyone);
  run.add(spec('after', { needs: ['join'] }));
  run.add(spec('later', { needs: ['after'] }));
  pickNext(run.graph, anyone);
  const heights = Object.fromEntries(
    [...run.graph.nodes.values()].map((n) => [n.spec.id, n.height]),
  );
  expect(heights).toEqual({ top: 6, left: 4, right: 5, far: 4, join: 3, after: 2, later: 1 });
});

test('free is asked once per key, best key first, and its no skips the whole key', () => {
  const run = new Run(
    spec('x', { agent: 'writer' }),
    spec('x2', { needs: ['x'] }),
    spec('y', { agent: 'writer' }),
    spec('z'),
    spec('lint', { run: 'npm run lint' }),
  );
  const asked: string[] = [];
  const picked = pickNext(run.graph, (key) => {
    asked.push(key);
    return key === 'run';
  });
  expect(picked?.spec.id).toBe('lint');
  expect(asked).toEqual(['writer', '*', 'run']);
  expect(pickNext(run.graph, () => false)).toBeNull();
});

test('T6: tasks with overlapping touches do not run side by side, others pass them', () => {
  const run = new Run(
    spec('a', { touches: ['src/parser/**'] }),
    spec('b', { touches: ['src/**'] }),
    spec('c', { touches: ['src/parser/**'] }),
    spec('d', { touches: ['docs/**'] }),
    spec('e'),
  );
  expect(startAll(run)).toEqual(['a', 'd', 'e']);
  expect(touchesBlocker(run.graph, run.node('b'))?.spec.id).toBe('a');
  run.finish('a');
  expect(startAll(run)).toEqual([]);
  run.verified('a');
  expect(startAll(run)).toEqual([]);
  run.done('a');
  expect(startAll(run)).toEqual(['b']);
  run.release('b', 'attempt');
  run.claim('c');
  expect(touchesBlocker(run.graph, run.node('b'))?.spec.id).toBe('c');
  expect(startAll(run)).toEqual([]);
  run.fail('c');
  expect(startAll(run)).toEqual(['b']);
});

test('T6: a task that grows while it is parked takes its new place when it comes back', () => {
  const run = new Run(
    spec('a', { touches: ['x'] }),
    spec('b', { touches: ['x'] }),
    spec('c', { touches: ['x'] }),
  );
  expect(startAll(run)).toEqual(['a']);
  run.add(spec('after-c', { needs: ['c'] }));
  expect(startAll(run)).toEqual([]);
  run.finish('a');
  run.done('a');
  expect(startAll(run)).toEqual(['c']);
});

test('T6: a parked task that is cancelled never comes back', () => {
  const run = new Run(spec('a', { touches: ['x'] }), spec('b', { touches: ['x'] }));
  expect(startAll(run)).toEqual(['a']);
  run.apply({ type: 'task.cancelled', id: asTaskId('b'), reason: { kind: 'cancelled', text: '' } });
  run.finish('a');
  run.done('a');
  expect(startAll(run)).toEqual([]);
  expect(allTerminal(run.graph)).toBe(true);
});

test('verifying and merging tasks hold no slot', () => {
  const run = new Run(spec('a'), spec('b'), spec('c'));
  expect(startAll(run)).toEqual(['a', 'b', 'c']);
  expect(runningCount(run.graph)).toBe(3);
  run.finish('a');
  run.finish('b');
  run.verified('b');
  expect(runningCount(run.graph)).toBe(1);
  expect(taskCounts(run.graph)).toMatchObject({ running: 1, verifying: 1, merging: 1 });
  expect(allTerminal(run.graph)).toBe(false);
});
