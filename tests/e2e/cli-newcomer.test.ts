/** The first hour with Troupe: no key, no run yet, things that failed, and what is told about them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeWorld, type RunningCommand, type World } from './cli-world.ts';

let world: World;
let running: RunningCommand[];

beforeEach(() => {
  world = makeWorld();
  running = [];
});

afterEach(async () => {
  for (const command of running) {
    command.child.kill('SIGKILL');
    await command.done;
  }
  world.remove();
});

function start(...args: string[]): RunningCommand {
  const command = world.start(...args);
  running.push(command);
  return command;
}

const json = (...args: string[]): any => JSON.parse(world.troupe(...args, '--json').stdout);
const HEAD = 'version: 1\nname: team\n';

test('init, check, run: it works as it is, without a key, and shows what was printed', () => {
  world.write('a.txt', 'blanks  \n');
  world.git('add', '-A');
  world.git('commit', '-q', '-m', 'Blanks');
  expect(world.troupe('init').stdout).toContain('troupe check team.yaml');
  expect(world.troupe('check', 'team.yaml')).toMatchObject({ code: 0, stderr: '' });
  const run = world.troupe('run', 'team.yaml', '--run-id', 'r1');
  expect(run.code, run.stdout + run.stderr).toBe(0);
  expect(run.stderr).toContain('1 uncommitted change of yours is not part of the run');
  expect(run.stdout).not.toContain('tokens');
  const shown = world.troupe('tasks', 'whitespace').stdout;
  expect(shown).toContain('  a.txt:1:blanks');
  const [path = ''] = /\/\S+\/outputs\/\S+\.log/.exec(shown) ?? [];
  expect(readFileSync(path, 'utf8')).toContain('a.txt:1:blanks');
});

test('a missing key is a note of check, and exit 2 of run before anything starts', () => {
  const team = `${HEAD}model: anthropic/claude-sonnet-5-5\ntasks:\n  - { id: a, prompt: x }\n`;
  world.write('team.yaml', team);
  const checked = world.troupe('check', 'team.yaml');
  expect(checked).toMatchObject({ code: 0, stderr: '' });
  expect(checked.stdout).toContain('note: "anthropic/claude-sonnet-5-5" needs a key');
  expect(json('check', 'team.yaml').warnings).toHaveLength(1);
  expect(world.troupe('run', 'team.yaml')).toMatchObject({ code: 2, stdout: '' });
  expect(existsSync(join(world.repo, '.git/troupe/runs'))).toBe(false);
});

test('before the first run lists are empty, and with --follow they wait for it', async () => {
  for (const command of ['tail', 'events', 'tasks', 'ps', 'runs']) {
    expect(world.troupe(command), command).toMatchObject({ code: 0 });
  }
  expect(world.troupe('tail', '--json')).toMatchObject({ stdout: '', stderr: '' });
  expect(world.troupe('events', '--json')).toMatchObject({ stdout: '', stderr: '' });
  const events = start('events', '--follow');
  const tail = start('tail', '--follow');
  world.write('team.yaml', `${HEAD}tasks: [{ id: a, run: "true" }]\n`);
  expect(world.troupe('run', 'team.yaml')).toMatchObject({ code: 0 });
  expect((await events.done).stdout).toContain('run.ended');
  expect(await tail.done).toMatchObject({ code: 0 });
});

test('hints name the workspace when they would not work without', () => {
  world.write('team.yaml', `${HEAD}tasks: [{ id: a, run: echo 1 > a.txt }]\n`);
  const at = (...args: string[]) => world.at(world.root, ...args, '--workspace', 'repo');
  const run = at('run', 'repo/team.yaml', '--run-id', 'r1');
  expect(run.stdout).toContain('  troupe merge r1 --workspace repo\n');
  expect(at('resume', 'r1').stderr).toContain('`troupe tasks --run r1 --workspace repo`');
  const inside = world.troupe('resume', 'r1', '--workspace', '.');
  expect(inside.stderr).toContain('`troupe tasks --run r1`');
});

test('a task tells how it went: tries, gates, where their output lies', () => {
  world.write(
    'team.yaml',
    `${HEAD}tasks:\n  - id: a\n    run: echo made > a.txt; echo said\n    verify: ["echo no; exit 7"]\n    attempts: 2\n    touches: ["*.txt"]\n`,
  );
  const run = world.troupe('run', 'team.yaml', '--run-id', 'r1');
  expect(run.code).toBe(1);
  const [named = ''] = /(?<=its output: ).*/.exec(run.stdout) ?? [];
  expect(readFileSync(named, 'utf8')).toBe('no\n');
  const people = world.troupe('tasks', 'a').stdout;
  expect(people).toMatch(/touches +\*\.txt/);
  expect(people).toContain('try 1 (counts as an attempt): ');
  expect(people).toContain('echo no; exit 7: failed (exit 7)');
  expect(people).toContain('output\n  said\n');
  const rows = json('tasks', 'a');
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ id: 'a', state: 'failed', command: expect.any(String) });
  expect(rows[0].gates.map((gate: any) => readFileSync(gate.output, 'utf8'))).toEqual([
    'no\n',
    'no\n',
  ]);
  expect(rows[0].setbacks.map((one: any) => one.kind)).toEqual(['attempt', 'end']);
});

test('a run that failed may be merged, and nobody takes it for finished', () => {
  world.write(
    'team.yaml',
    `${HEAD}tasks: [{ id: a, run: echo 1 > a.txt }]\nfinish: { verify: ["false"] }\n`,
  );
  const run = world.troupe('run', 'team.yaml', '--run-id', 'r1');
  expect(run.code, run.stderr).toBe(1);
  expect(run.stdout).toContain('troupe merge r1   # its final gate failed: false\n');
  const nowhere = world.troupe('merge', 'r1', '--into', 'mian');
  expect(nowhere).toMatchObject({ code: 5 });
  expect(nowhere.stderr).toContain('Did you mean main?');
  const merged = world.troupe('merge', 'r1', '--squash');
  expect(merged.stderr).toContain('warning: the run r1 did not end well, it is failed');
  expect(merged.stderr).toContain('its final gate `false` failed');
  expect(merged).toMatchObject({ code: 0 });
  expect(merged.stdout).toContain('1 file.');
  expect(world.git('log', '-1', '--format=%s').trim()).toBe('Team');
  const again = world.troupe('merge', 'r1', '--squash');
  expect(again).toMatchObject({ code: 0, stdout: 'main has all that r1 has done already.\n' });
  expect(again.stderr).toContain('warning: ');
});

test('gc takes the tree of a failed task of an ended run, and says where its work is', () => {
  world.write('team.yaml', `${HEAD}tasks: [{ id: a, run: echo 1 > a.txt; exit 1, attempts: 1 }]\n`);
  expect(world.troupe('run', 'team.yaml', '--run-id', 'r1').code).toBe(1);
  expect(json('worktrees')).toMatchObject([{ task: 'a', kept: null }]);
  expect(json('diff', 'a')).toMatchObject({ uncommitted: true, files: [{ path: 'a.txt' }] });
  expect(world.troupe('resume', 'r1').code).toBe(1);
  const [tree] = json('worktrees');
  const gone = world.troupe('worktrees', 'gc').stdout;
  const [ref = ''] = /refs\/troupe\/saved\/r1\/a\/\d+/.exec(gone) ?? [];
  expect(gone).toBe(`removed ${tree.path}, its work is saved as ${ref}\n`);
  expect(world.git('show', `${ref}:a.txt`)).toBe('1\n');
  expect(json('worktrees')).toEqual([]);
  expect(json('tasks', 'a')).toMatchObject([{ worktree: null, saved: [ref] }]);
});

/** Both start from the same README; `two` ends when `one` is merged, meets a conflict and keeps both lines. */
const CONFLICT = (style: string): string => `${HEAD}model: scripted/script.yaml
merge: { style: ${style} }
members: { teammates: [{ name: ada, agent: implementer }, { name: bo, agent: implementer }] }
permissions: { default: allow }
tasks:
  - { id: one, prompt: One. }
  - { id: two, prompt: Two. }
`;

const CONFLICT_SCRIPT = `version: 1
sections:
  - task: one
    turns:
      - calls:
          - bash:
              command: >-
                until git rev-parse -q --verify refs/heads/troupe/r1/task/two; do sleep 0.1; done;
                echo one >> README.md; echo 1 > one.txt
      - calls: [{ complete_task: { summary: one } }]
    otherwise: { text: Noted. }
  - task: two
    turns:
      - calls:
          - bash:
              command: >-
                until git cat-file -e troupe/r1/main:one.txt; do sleep 0.1; done;
                echo two >> README.md; echo 2 > two.txt
      - calls: [{ complete_task: { summary: two } }]
      - calls: [{ write_file: { path: README.md, content: "A repository\\none\\ntwo\\n" } }]
      - calls: [{ complete_task: { summary: both lines stay } }]
    otherwise: { text: Noted. }
`;

test.each(['merge', 'squash', 'rebase'])(
  'the diff of a task is its own work, also after a conflict (%s)',
  (style) => {
    world.write('team.yaml', CONFLICT(style));
    world.write('script.yaml', CONFLICT_SCRIPT);
    const run = world.troupe('run', 'team.yaml', '--run-id', 'r1');
    expect(run.code, run.stdout + run.stderr).toBe(0);
    expect(json('tasks', 'two')[0].setbacks).toMatchObject([{ kind: 'conflict' }]);
    const changes = (task: string): string[] =>
      json('diff', task).files.map((one: any) => `${one.path} +${one.added} -${one.removed}`);
    expect(changes('one')).toEqual(['README.md +1 -0', 'one.txt +1 -0']);
    expect(changes('two')).toEqual(['README.md +1 -0', 'two.txt +1 -0']);
  },
);
