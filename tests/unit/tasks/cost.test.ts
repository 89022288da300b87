import { expect, test } from 'vitest';
import type { TaskSpec } from '../../../src/protocol/team.ts';
import { allTerminal, graphWork, pickNext } from '../../../src/tasks/index.ts';
import { Run, spec } from './support.ts';

/** Steps of the indexes for a whole run of the tasks, four at a time. */
function cost(tasks: readonly TaskSpec[]): number {
  const run = new Run(...tasks);
  const running: string[] = [];
  while (!allTerminal(run.graph)) {
    while (running.length < 4) {
      const node = pickNext(run.graph, () => true);
      if (node === null) break;
      run.claim(node.spec.id);
      running.push(node.spec.id);
    }
    const id = running.shift();
    if (id === undefined) throw new Error('the graph is stuck');
    run.finish(id);
    run.done(id);
  }
  return graphWork(run.graph);
}

const numbers = (n: number): number[] => Array.from({ length: n }, (_, index) => index);

const chain = (n: number): TaskSpec[] =>
  numbers(n).map((i) => spec(`t${i}`, { needs: i === 0 ? [] : [`t${i - 1}`] }));
const fan = (n: number): TaskSpec[] => [
  spec('root'),
  ...numbers(n).map((i) => spec(`t${i}`, { needs: ['root'] })),
  spec('end', { needs: numbers(n).map((i) => `t${i}`) }),
];
const alike = (n: number): TaskSpec[] => numbers(n).map((i) => spec(`t${i}`, { touches: ['src'] }));
const apart = (n: number): TaskSpec[] =>
  numbers(n).map((i) => spec(`t${i}`, { touches: [`src/${i}.ts`] }));

test.each([
  ['a chain', chain],
  ['a chain written backwards', (n: number) => chain(n).toReversed()],
  ['a fan', fan],
  ['tasks that all touch the same', alike],
  ['tasks that all touch something else', apart],
])('T9: %s of 10 000 tasks costs not much more than ten of 1 000', (_, make) => {
  const ratio = cost(make(10_000)) / cost(make(1_000));
  expect(ratio).toBeLessThan(14);
});
