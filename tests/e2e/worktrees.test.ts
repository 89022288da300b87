/** Cones, the pool and `touches` through the built command line, with the user's tree looked at before and after. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fingerprint, isTroupeOwn } from '../support/repo.ts';
import { makeWorld, type World } from './cli-world.ts';

let world: World;
beforeEach(() => {
  world = makeWorld();
  world.write('src/a/x.txt', 'x\n');
  world.write('docs/y.txt', 'y\n');
  world.git('add', '-A');
  world.git('commit', '-q', '-m', 'more');
});
afterEach(() => world.remove());

const rows = (): { state: string; path: string }[] =>
  JSON.parse(world.troupe('worktrees', '--json').stdout) as { state: string; path: string }[];

test('a pool fills, stays over runs, is given out, and goes with gc; the user’s tree is as it was', () => {
  world.write(
    'team.yaml',
    'version: 1\nname: t\nworktree: { pool: 1 }\ntasks:\n  - { id: a, run: "echo n > src/a/n.txt" }\n',
  );
  const before = fingerprint(world.repo, isTroupeOwn);
  expect(world.troupe('run', 'team.yaml', '--run-id', 'p1').code).toBe(0);
  const [waiting] = rows();
  expect(waiting).toMatchObject({ state: 'ready', kept: null });
  expect(world.troupe('run', 'team.yaml', '--run-id', 'p2').code).toBe(0);
  expect(rows().map(({ path }) => path)).not.toContain(waiting?.path);
  expect(rows()).toHaveLength(1);
  expect(JSON.parse(world.troupe('worktrees', 'gc', '--json').stdout)).toMatchObject({ kept: [] });
  expect(rows()).toEqual([]);
  expect(world.git('worktree', 'list').trim().split('\n')).toHaveLength(1);
  expect(fingerprint(world.repo, isTroupeOwn)).toEqual(before);
});

test('a cone is told of, and what a task changes beside its touches is refused by policy', () => {
  world.write(
    'team.yaml',
    [
      'version: 1',
      'name: t',
      'worktree: { sparse: [src/a, gone] }',
      'merge: { touches: refuse }',
      'tasks:',
      '  - { id: a, run: "test ! -e docs && echo n > src/a/n.txt", touches: [src/a/**] }',
      '  - { id: b, run: "echo n > other.txt", touches: [docs/**], attempts: 1 }',
      '',
    ].join('\n'),
  );
  const check = world.troupe('check', 'team.yaml').stdout;
  expect(check).toContain('extensions.worktreeConfig');
  expect(check).toContain('there is no folder gone in HEAD');
  expect(world.troupe('run', 'team.yaml', '--run-id', 's1').code).toBe(1);
  expect(JSON.parse(world.troupe('tasks', '--json').stdout)).toMatchObject([
    { id: 'a', state: 'done' },
    { id: 'b', state: 'failed', reason: { text: expect.stringContaining('other.txt') } },
  ]);
  expect(world.git('diff', '--name-status', 'main', 'troupe/s1/main')).toBe('A\tsrc/a/n.txt\n');
});
