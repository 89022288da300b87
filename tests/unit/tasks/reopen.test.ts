/** T3: a person reopens a failed task, and what its failure had cancelled waits for it again. */
import { expect, test } from 'vitest';
import { asActorName, asTaskId, USER } from '../../../src/kernel/index.ts';
import type { TaskChange } from '../../../src/protocol/index.ts';
import {
  applyTask,
  cascade,
  makeGraph,
  revivedBy,
  type TaskGraph,
} from '../../../src/tasks/index.ts';
import { task } from '../../support/team.ts';

const id = asTaskId;

/** `b` and `x` fail after what they need; `c` needs both, `d` needs `b` and `a`, `e` needs `d`. */
function failed(): { graph: TaskGraph; apply: (change: TaskChange) => void } {
  const graph = makeGraph();
  let seq = 0;
  const apply = (change: TaskChange): void => {
    seq += 1;
    applyTask(graph, change, { seq, at: '2026-11-30T12:00:00.000Z' });
  };
  const needs: Record<string, string[]> = {
    a: [],
    b: [],
    x: [],
    c: ['b', 'x'],
    d: ['a', 'b'],
    e: ['d'],
  };
  for (const [name, need] of Object.entries(needs)) {
    apply({ type: 'task.added', task: task({ id: name, needs: need }), by: USER });
  }
  const reason = { kind: 'conflict', text: 'both changed it' } as const;
  for (const name of ['b', 'x']) {
    apply({ type: 'task.failed', id: id(name), reason });
    for (const change of cascade(graph, name, 'failed')) apply(change);
  }
  return { graph, apply };
}

const stateOf = (graph: TaskGraph, name: string): string | undefined =>
  graph.nodes.get(id(name))?.state;

test('only what needs nothing else that is lost comes back', () => {
  const { graph, apply } = failed();
  expect(revivedBy(graph, 'b')).toEqual(['d', 'e']);
  apply({ type: 'task.reopened', id: id('b'), by: USER, also: revivedBy(graph, 'b') });
  expect(['b', 'c', 'd', 'e'].map((name) => stateOf(graph, name))).toEqual([
    'verifying',
    'cancelled',
    'blocked',
    'blocked',
  ]);
  expect(graph.nodes.get(id('b'))).toMatchObject({
    owner: 'user',
    endedAt: null,
    lastReason: null,
  });
  expect(graph.nodes.get(id('b'))?.fence).toBeGreaterThan(0);
  apply({ type: 'task.done', id: id('b'), commit: null });
  expect(stateOf(graph, 'd')).toBe('blocked');
  const claim = { by: asActorName('ada'), incarnation: 1, attempt: 1, leaseUntil: '' };
  apply({ type: 'task.claimed', id: id('a'), ...claim });
  apply({ type: 'task.finished', id: id('a'), by: claim.by, summary: '' });
  apply({ type: 'task.done', id: id('a'), commit: null });
  expect(stateOf(graph, 'd')).toBe('ready');
});

test.each(['a', 'c'])('%s, which did not fail, is not reopened', (name) => {
  const { apply } = failed();
  expect(() => apply({ type: 'task.reopened', id: id(name), by: USER, also: [] })).toThrow('T3');
});
