/** `troupe why` on the built command: beside a supervisor, after its kill, and when nothing waits. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { WhyRow } from '../../src/protocol/index.ts';
import { connectTo, listening, whenGoing } from '../support/supervised.ts';
import { makeWorld, type World } from './cli-world.ts';

let world: World;

beforeEach(() => {
  world = makeWorld();
});

afterEach(() => world.remove());

function team(first: string): void {
  world.write(
    '../team.yaml',
    `version: 1
name: waits
tasks:
  - { id: first, title: First, run: '${first}', attempts: 1 }
  - { id: second, title: Second, run: 'true', needs: [first] }
  - { id: third, title: Third, run: 'true', needs: [second] }
`,
  );
}

const why = (...args: string[]): WhyRow[] =>
  JSON.parse(world.troupe('why', ...args, '--json').stdout) as WhyRow[];

test('B: what waits is told with its reason and a command, live, after kill -9, and when all is done', async () => {
  team('exec sleep 600');
  const run = world.start('run', '../team.yaml', '--run-id', 'w1');
  await listening(world, run);
  const client = await connectTo(world);
  const live = await whenGoing(() => client.call('why', { run: 'w1' }));
  client.close();
  const kinds = (rows: readonly WhyRow[]) => rows.map((row) => [row.about, row.reason.kind]);
  expect(kinds(live)).toEqual([
    ['second', 'task'],
    ['third', 'task'],
  ]);
  const unknown = world.troupe('why', 'frist');
  expect(unknown.code).toBe(5);
  expect(unknown.stderr).toContain('first');

  run.child.kill('SIGKILL');
  await run.done;
  const cut = why('third');
  expect(cut).toMatchObject([{ about: 'third', action: 'troupe resume w1' }]);
  expect(cut[0]?.reason.kind).toBe('stopped');

  team('true');
  expect(world.troupe('run', '../team.yaml', '--run-id', 'w2').code).toBe(0);
  expect(why()).toEqual([]);

  team('exit 3');
  expect(world.troupe('run', '../team.yaml', '--run-id', 'w3').code).toBe(1);
  const failed = why();
  expect(kinds(failed)).toEqual([
    ['first', 'attempts'],
    ['second', 'task'],
    ['third', 'task'],
  ]);
  expect(new Set(failed.map((row) => row.action))).toEqual(new Set(['troupe tasks first']));
});
