import { expect, test } from 'vitest';
import { NO_USAGE } from '../../../src/protocol/usage.ts';
import {
  mergeQueue,
  planOf,
  type ReasonContext,
  taskReason,
  taskRows,
} from '../../../src/tasks/index.ts';
import { ADA, BECAUSE, Run, spec } from './support.ts';

const context: ReasonContext = { parallel: 2, free: () => true };

test('each task that does not move says why, and one that moves says nothing', () => {
  const run = new Run(
    spec('a', { touches: ['src'] }),
    spec('b', { touches: ['src/x'] }),
    spec('c', { agent: 'writer' }),
    spec('d', { needs: ['a', 'b', 'c', 'e'] }),
    spec('e', { run: 'true' }),
    spec('f'),
    spec('m1'),
    spec('m2'),
  );
  const reason = (id: string, over: Partial<ReasonContext> = {}): string => {
    const why = taskReason(run.graph, run.node(id), { ...context, ...over });
    return why === null ? 'null' : `${why.kind} ${why.ref ?? '-'}: ${why.text}`;
  };
  for (const id of ['m1', 'm2']) {
    run.claim(id);
    run.finish(id);
    run.verified(id);
  }
  run.claim('a');
  expect(reason('a')).toBe('null');
  expect(reason('b')).toBe('touches a: touches the same paths as a, which is running');
  expect(reason('c')).toBe('null');
  const busy = { free: () => false };
  expect(reason('c', busy)).toBe('member writer: waits for a free writer');
  expect(reason('e', busy)).toBe('member run: waits until commands may run');
  expect(reason('f', busy)).toBe('member -: waits for a free teammate');
  expect(reason('d')).toBe('task a: waits for a (running), b (ready), c (ready) and 1 more');
  expect(reason('c', { parallel: 1 })).toBe(
    'parallel -: 1 of at most 1 task run (limits.parallel)',
  );
  expect(reason('m1')).toBe('null');
  expect(reason('m2')).toBe('merge m1: place 2 in the merge queue');
  expect(mergeQueue(run.graph).map((node) => node.spec.id)).toEqual(['m1', 'm2']);
  const quota = { known: () => ({ kind: 'quota', text: 'resets at noon' }) as const };
  expect(reason('a', quota)).toBe('quota -: resets at noon');
  run.fail('f');
  expect(reason('f', quota)).toBe(`gate npm test: ${BECAUSE.text}`);
});

test('rows are in order of addition and carry what people ask for', () => {
  const run = new Run(spec('a', { title: 'Do A' }), spec('b', { needs: ['a'] }));
  run.claim('a');
  const usageOf = () => NO_USAGE;
  expect(taskRows(run.graph, { ...context, usageOf })).toEqual([
    {
      id: 'a',
      title: 'Do A',
      state: 'running',
      reason: null,
      owner: ADA,
      attempt: 1,
      needs: [],
      branch: null,
      commit: null,
      worktree: null,
      usage: NO_USAGE,
    },
    expect.objectContaining({ id: 'b', state: 'blocked', attempt: 0, needs: ['a'] }),
  ]);
  const rows = taskRows(run.graph, { ...context, usageOf }, [run.node('b').spec.id]);
  expect(rows.map((row) => row.id)).toEqual(['b']);
});

test('T5: a plan tells order, levels and the critical path', () => {
  const plan = planOf([
    spec('docs'),
    spec('parser'),
    spec('types', { needs: ['parser'] }),
    spec('lint', { run: 'x', needs: ['types', 'docs'] }),
  ]);
  expect(plan).toEqual({
    order: ['parser', 'docs', 'types', 'lint'],
    levels: [['parser', 'docs'], ['types'], ['lint']],
    chain: { docs: 2, parser: 3, types: 2, lint: 1 },
    criticalPath: ['parser', 'types', 'lint'],
  });
});
