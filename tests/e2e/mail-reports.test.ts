/** Field reports that need a real repository and the built command. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeWorld, type World } from './cli-world.ts';

const TEAM = `version: 1
name: two
tasks:
  - { id: one, run: echo 1 > one.txt }
  - { id: two, run: echo 2 > two.txt, needs: [one] }
`;

let world: World;

beforeEach(() => {
  world = makeWorld();
  world.write('team.yaml', TEAM);
  world.git('add', '-A');
  world.git('commit', '-q', '-m', 'Team');
});

afterEach(() => world.remove());

test('gastownhall/beads#158, gastownhall/beads#590, gastownhall/beads#915, gastownhall/gastown#764: no branch, commit or checkout holds or takes back state of the runtime', () => {
  const run = world.troupe('run', 'team.yaml', '--run-id', 'g1');
  expect(run.code, run.stderr).toBe(0);
  expect(world.git('status', '--porcelain', '--ignored')).toBe('');
  const everywhere = world.git('log', '--all', '--name-only', '--format=').split('\n');
  expect([...new Set(everywhere)].filter((name) => name !== '').toSorted()).toEqual([
    'README.md',
    'one.txt',
    'team.yaml',
    'two.txt',
  ]);
  const before = world.troupe('runs', '--json').stdout;
  world.git('checkout', '-q', 'HEAD~1');
  expect(world.troupe('runs', '--json').stdout).toBe(before);
  expect(world.troupe('doctor').code).toBe(0);
});

test('gastownhall/gastown#4028: reading costs no writer and no store: it works while nothing runs, and changes nothing', () => {
  expect(world.troupe('run', 'team.yaml', '--run-id', 'g1').code).toBe(0);
  const state = join(world.repo, '.git', 'troupe');
  const snapshot = (): string[] =>
    readdirSync(state, { recursive: true, encoding: 'utf8' })
      .toSorted()
      .map((name) => `${name} ${statSync(join(state, name)).mtimeMs}`);
  const before = snapshot();
  for (const args of [['runs'], ['tasks'], ['tail'], ['events'], ['ps'], ['doctor']]) {
    expect(world.troupe(...args), args[0]).toMatchObject({ code: 0 });
  }
  expect(snapshot()).toEqual(before);
});

test('nikrich/hungry-ghost-hive#634: a lock whose holder was killed is taken over; one that cannot be read is a clear error', async () => {
  world.write('slow.yaml', 'version: 1\nname: slow\ntasks:\n  - { id: one, run: sleep 600 }\n');
  const killed = world.start('run', 'slow.yaml', '--run-id', 'k1');
  await killed.saw('task one started');
  killed.child.kill('SIGKILL');
  await killed.done;
  const again = world.troupe('run', 'team.yaml', '--run-id', 'g2');
  expect(again.code, again.stderr).toBe(0);
  world.write('.git/troupe/lock.999', '{"half":');
  const refused = world.troupe('run', 'team.yaml', '--run-id', 'g3');
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain('lock.999 is damaged');
  expect(refused.stderr).not.toMatch(/^\s+at /m);
});
