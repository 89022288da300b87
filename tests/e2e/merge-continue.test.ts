/** A task whose conflict the team did not resolve: a person does, and `troupe merge RUN --continue TASK` lands it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeWorld, type World } from './cli-world.ts';

const TEAM = `version: 1
name: two
model: scripted/script.yaml
members: { teammates: [{ name: ada, agent: implementer }, { name: bo, agent: implementer }] }
tasks:
  - { id: one, prompt: Say hello. }
  - { id: two, prompt: Say hello too., attempts: 1, verify: [test -s README.md] }
  - { id: after, run: cat README.md > copy.txt, needs: [one, two] }
permissions: { default: allow }
`;

/** Bo begins before ada's work lands, and says that all is well with the markers still in. */
const SCRIPT = `version: 1
sections:
  - actor: ada
    turns:
      - calls: [{ write_file: { path: README.md, content: "Hello from ada\\n" } }]
      - calls: [{ complete_task: { summary: said hello } }]
    otherwise: { text: Done. }
  - actor: bo
    turns:
      - calls: [{ write_file: { path: README.md, content: "Hello from bo\\n" } }]
      - calls: [{ bash: { command: "until git show troupe/c1/main:README.md | grep -q ada; do sleep 0.1; done" } }]
      - calls: [{ complete_task: { summary: said hello too } }]
      - calls: [{ complete_task: { summary: nothing to resolve } }]
    otherwise: { text: Done. }
`;

let world: World;
beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world.remove());

const json = (...args: string[]): any => JSON.parse(world.troupe(...args, '--json').stdout);
const states = (): Record<string, string> =>
  Object.fromEntries(json('tasks').map((task: any) => [task.id, task.state]));

test('a conflict is left for a person, who resolves it in the tree; the run goes on to its end', () => {
  world.write('team.yaml', TEAM);
  world.write('script.yaml', SCRIPT);
  const run = world.troupe('run', 'team.yaml', '--run-id', 'c1');
  expect(run.code, run.stdout + run.stderr).toBe(1);
  expect(states()).toEqual({ one: 'done', two: 'failed', after: 'cancelled' });

  // What bo was told: both sides, where they began, and what ada says of hers.
  const base = world.git('rev-parse', 'HEAD').trim();
  const letters = world.troupe('tail', 'bo', '--json').stdout;
  const rework = letters.split('\n').find((line) => line.includes('task.rework')) ?? '{}';
  const { text } = JSON.parse(rework).body;
  expect(text).toContain(`begun from commit ${base}`);
  expect(text).toMatch(/<<<<<<< your work\nHello from bo\n[^]*=======\nHello from ada\n>>>>>>>/);
  expect(text).toMatch(/- one \(.*\) by ada, merged as \w+: said hello/);

  const early = world.troupe('merge', 'c1', '--continue', 'one');
  expect(early).toMatchObject({ code: 1 });
  expect(early.stderr).toContain('one is done');
  expect(world.troupe('merge', 'c1', '--continue', 'tow')).toMatchObject({ code: 5 });
  expect(world.troupe('merge', 'c1', '--continue', 'two', '--squash')).toMatchObject({ code: 2 });

  const told = world.troupe('merge', 'c1', '--continue', 'two', '--json');
  expect(told.code).toBe(1);
  const { error, files } = JSON.parse(told.stdout);
  const { path } = json('worktrees').find((tree: any) => tree.task === 'two');
  expect(error.code).toBe('control/conflicts-left');
  expect(files).toEqual(['README.md:1']);
  const marked = readFileSync(join(path, 'README.md'), 'utf8');
  expect(marked).toMatch(/^<<<<<<< /);
  expect(marked).toContain('Hello from ada');

  // Ada's line dropped without a trace: it does not land, and can be tried again.
  writeFileSync(join(path, 'README.md'), '');
  const lossy = world.troupe('merge', 'c1', '--continue', 'two');
  expect(lossy, lossy.stdout).toMatchObject({ code: 1 });
  expect(world.git('show', 'troupe/c1/main:README.md')).toBe('Hello from ada\n');

  writeFileSync(join(path, 'README.md'), 'Hello from ada\nHello from bo\n');
  const ended = world.troupe('merge', 'c1', '--continue', 'two');
  expect(ended.code, ended.stdout + ended.stderr).toBe(0);
  expect(ended.stdout).toContain('task two goes on with the work of user');
  expect(states()).toEqual({ one: 'done', two: 'done', after: 'done' });
  expect(world.git('show', 'troupe/c1/main:copy.txt')).toBe('Hello from ada\nHello from bo\n');
  expect(json('runs')).toMatchObject([{ id: 'c1', state: 'done' }]);
  expect(world.git('log', '--format=%B', 'troupe/c1/main')).not.toContain('user@troupe');
  expect(world.git('status', '--porcelain')).toBe('?? script.yaml\n?? team.yaml\n');
});
