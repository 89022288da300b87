/**
 * What people get wrong, each through the real command line: a message that says what and where, the exit code of the
 * contract, no stack trace, and nothing half started.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeWorld, type Result, type World, type WorldOptions } from './cli-world.ts';

const HEAD = 'version: 1\nname: team\n';
const TASK = 'tasks:\n  - { id: one, run: "true" }\n';

function expectRefused(result: Result, code: number, message: string): void {
  const { stdout, stderr } = result;
  expect(stderr, stdout).toContain(message);
  expect(result.code).toBe(code);
  expect(stderr).toMatch(/^troupe: /);
  expect(stdout + stderr).not.toMatch(/\n\s+at .*:\d+:\d+/);
}

function expectNothingMade(world: World): void {
  expect(existsSync(join(world.repo, '.git/troupe/runs'))).toBe(false);
  expect(world.git('branch', '--list', 'troupe/*')).toBe('');
}

interface Case {
  readonly what: string;
  readonly file: string | Uint8Array;
  /** Part of what is said; `team.yaml` is the file. */
  readonly says: string;
}

const TEAM_FILES: readonly Case[] = [
  { what: 'an empty file', file: '', says: 'team.yaml:1:1: the file is empty' },
  {
    what: 'a binary file',
    file: Uint8Array.from([0, 1, 2, 255, 254, 0]),
    says: 'team.yaml:1:1: this is no text file in UTF-8',
  },
  { what: 'broken YAML', file: 'version: [1\nname', says: 'team.yaml:2:' },
  {
    what: 'a newer version',
    file: `version: 2\nname: team\n${TASK}`,
    says: 'team.yaml:1:10: version: this file is of version 2',
  },
  {
    what: 'an unknown key',
    file: `${HEAD}tsks: []\n${TASK}`,
    says: 'team.yaml:3:1: ',
  },
  {
    what: 'a wrong type',
    file: `${HEAD}limits: { parallel: many }\n${TASK}`,
    says: 'team.yaml:3:21: limits.parallel',
  },
  { what: 'nothing to do', file: HEAD, says: 'there is nothing to do' },
  {
    what: 'a cycle',
    file: `${HEAD}tasks:\n  - { id: a, run: x, needs: [b] }\n  - { id: b, run: x, needs: [a] }\n`,
    says: 'a → b → a',
  },
  {
    what: 'an unknown need',
    file: `${HEAD}tasks:\n  - { id: parser, run: x }\n  - { id: lint, run: x, needs: [parsr] }\n`,
    says: 'team.yaml:5:33: tasks[1].needs[0]',
  },
  {
    what: 'a task id twice',
    file: `${HEAD}tasks:\n  - { id: a, run: x }\n  - { id: a, run: x }\n`,
    says: 'team.yaml:5:11: tasks[1].id',
  },
  {
    what: 'a task id that is no safe branch name',
    file: `${HEAD}tasks:\n  - { id: "../up", run: x }\n`,
    says: 'team.yaml:4:11: tasks[0].id',
  },
  {
    what: 'a task id that git takes for an option',
    file: `${HEAD}tasks:\n  - { id: "-f", run: x }\n`,
    says: 'team.yaml:4:11: tasks[0].id',
  },
  {
    what: 'an unknown profile',
    file: `${HEAD}tasks:\n  - { id: a, prompt: x, agent: implementor }\n`,
    says: 'there is no agent profile "implementor"',
  },
  {
    what: 'a reserved name',
    file: `${HEAD}members: { teammates: [{ name: broker }] }\n${TASK}`,
    says: '"broker" is a reserved name',
  },
  {
    what: 'both prompt and run',
    file: `${HEAD}tasks:\n  - { id: a, prompt: x, run: y }\n`,
    says: 'tasks[0]',
  },
  {
    what: 'a missing script',
    file: `${HEAD}model: scripted/nothing.yaml\ntasks:\n  - { id: a, prompt: x }\n`,
    says: 'team.yaml:3:8: model: the script nothing.yaml was not found',
  },
  {
    what: 'a model without a key',
    file: `${HEAD}model: anthropic/claude-sonnet-5-5\ntasks:\n  - { id: a, prompt: x }\n`,
    says: 'team.yaml:3:8: model: "anthropic/claude-sonnet-5-5" needs a key',
  },
  {
    what: 'agents without a model',
    file: `${HEAD}tasks:\n  - { id: a, prompt: x }\n`,
    says: 'team.yaml:1:1: model: is missing',
  },
  {
    what: 'a base that does not exist',
    file: `${HEAD}base: nowhere\n${TASK}`,
    says: 'base "nowhere" names no commit',
  },
  {
    what: 'a file to copy that is not there',
    file: `${HEAD}worktree: { copy: [.env] }\n${TASK}`,
    says: '".env"',
  },
  {
    what: 'a file to copy from outside',
    file: `${HEAD}worktree: { copy: [../secret] }\n${TASK}`,
    says: '../secret',
  },
];

describe('team files', () => {
  let world: World;
  beforeAll(() => {
    world = makeWorld();
  });
  afterAll(() => world.remove());

  test.each(TEAM_FILES)('$what is exit 2 with its place, and nothing is made', ({ file, says }) => {
    world.write('team.yaml', file);
    expectRefused(world.troupe('run', 'team.yaml'), 2, says);
    expectNothingMade(world);
  });

  test('all problems of a file are told at once, as JSON with their places', () => {
    world.write('team.yaml', `${HEAD}bad: 1\ntasks:\n  - { id: a, run: x, nope: 1 }\n`);
    const { code, stdout } = world.troupe('check', 'team.yaml', '--json');
    const answer = JSON.parse(stdout);
    expect(code).toBe(2);
    expect(answer.error.code).toBe('control/team-file');
    expect(answer.error.message).toContain('team.yaml:3:1');
    expect(answer.problems).toHaveLength(2);
    expect(answer.problems[0]).toMatchObject({ file: 'team.yaml', line: 3, column: 1 });
  });

  test('a script that is broken names its own line', () => {
    world.write('script.yaml', 'sections:\n  - what: 1\n');
    world.write(
      'team.yaml',
      `${HEAD}model: scripted/script.yaml\ntasks:\n  - { id: a, prompt: x }\n`,
    );
    expectRefused(world.troupe('run', 'team.yaml'), 2, 'script.yaml:');
    expectNothingMade(world);
  });

  test('a folder and a missing file are told apart', () => {
    expectRefused(world.troupe('run', '.git'), 2, '.git: it is a folder');
    expectRefused(world.troupe('run', 'team.yml'), 2, 'team.yml: there is no such file');
  });

  test('settings that are wrong name their file and line', () => {
    world.write('team.yaml', `${HEAD}${TASK}`);
    world.write('.troupe/config.yaml', 'modle: x/y\n');
    expectRefused(world.troupe('run', 'team.yaml'), 2, '.troupe/config.yaml:1:1');
    world.write('.troupe/config.yaml', '');
    expectNothingMade(world);
  });
});

describe('arguments', () => {
  let world: World;
  beforeAll(() => {
    world = makeWorld();
    world.write('team.yaml', `${HEAD}${TASK}`);
  });
  afterAll(() => world.remove());

  test.each([
    ['rnus', 2, "unknown command 'rnus'", 'Did you mean runs?'],
    ['runs --jsno', 2, "unknown option '--jsno'", 'Did you mean --json?'],
    ['run', 2, "missing required argument 'team'", 'See `troupe run --help`.'],
    ['ps more', 2, 'too many arguments', ''],
    ['run team.yaml --run-id Bad.Id', 2, '"Bad.Id" is no run id', ''],
    ['run team.yaml --run-id', 2, 'argument missing', ''],
    ['run team.yaml --budget-usd lots', 2, '--budget-usd "lots"', ''],
    ['run team.yaml --budget-usd 0', 2, '--budget-usd "0"', ''],
    ['run team.yaml --model nothing', 2, '--model "nothing"', ''],
    ['tail --from x', 2, '--from "x" is no sequence number', ''],
    ['events --from 1.x', 2, '--from "1.x" is no cursor', ''],
    ['worktrees cg', 2, 'worktrees knows no "cg"', 'Did you mean gc?'],
    ['tasks --run nope', 5, 'there is no run "nope"', ''],
    ['resume nope', 5, 'there is no run "nope"', ''],
    ['merge nope', 5, 'there is no run "nope"', ''],
    ['stop nope', 5, 'there is no run "nope"', ''],
    ['diff nope', 5, 'there is no run in this repository yet', ''],
    ['send ada hello', 5, 'there is no run in this repository yet', ''],
    ['stop', 4, 'nothing runs in this repository', ''],
    ['runs --workspace /does/not/exist', 2, 'no such folder: /does/not/exist', ''],
  ])('troupe %s is exit %i', (line, code, message, hint) => {
    const result = world.troupe(...line.split(' '));
    expectRefused(result, code, message);
    expect(result.stderr).toContain(hint);
    expectNothingMade(world);
  });

  test('with --json the error is one document on the standard output', () => {
    const { code, stdout, stderr } = world.troupe('tasks', '--run', 'nope', '--json');
    expect({ code, stderr }).toEqual({ code: 5, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'control/unknown-run',
        message: 'there is no run "nope"',
        hint: 'There is no run yet.',
      },
    });
    const unknown = world.troupe('rnus', '--json');
    expect(JSON.parse(unknown.stdout).error).toMatchObject({ code: 'cli/usage' });
    expect(unknown.code).toBe(2);
  });

  test('no command is help and exit 2', () => {
    const { code, stderr } = world.troupe();
    expect(code).toBe(2);
    expect(stderr).toContain('Usage: troupe <command> [options]');
  });
});

describe('repositories', () => {
  const worlds: World[] = [];
  const make = (options?: WorldOptions): World => {
    const world = makeWorld(options);
    worlds.push(world);
    return world;
  };
  afterAll(() => {
    for (const world of worlds) world.remove();
  });
  const ready = (options?: WorldOptions): World => {
    const world = make(options);
    world.write('team.yaml', `${HEAD}tasks:\n  - { id: one, run: echo 1 > one.txt }\n`);
    return world;
  };

  test('no git repository', () => {
    const world = ready();
    const result = world.at(world.root, 'run', 'repo/team.yaml');
    expectRefused(result, 2, `not a git repository (nor inside one): ${world.root}`);
  });

  test('no commit yet', () => {
    const world = ready({ commit: false });
    expectRefused(world.troupe('run', 'team.yaml'), 2, 'has no commit yet');
    expect(world.troupe('runs', '--json')).toMatchObject({ code: 0, stdout: '[]\n' });
    expectNothingMade(world);
  });

  test('a bare repository', () => {
    const world = ready();
    world.git('clone', '-q', '--bare', '.', '../bare.git');
    const result = world.troupe('run', 'team.yaml', '--workspace', '../bare.git');
    expectRefused(result, 2, 'is a bare repository');
  });

  test('inside the git directory', () => {
    const world = ready();
    expectRefused(world.at(join(world.repo, '.git'), 'runs'), 2, 'is inside the git directory');
  });

  test.each(['troupe', 'troupe/r1', 'troupe/r1/task', 'troupe/r1/main'])(
    'a branch %s of the user is named and stays',
    (branch) => {
      const world = ready();
      world.git('branch', branch);
      const result = world.troupe('run', 'team.yaml', '--run-id', 'r1');
      expectRefused(result, 2, `\`${branch}\``);
      expect(existsSync(join(world.repo, '.git/troupe/runs'))).toBe(false);
      expect(world.git('branch', '--list', branch)).toContain(branch);
    },
  );

  test('a detached HEAD, a dirty tree, spaces and other letters in the path: it works', () => {
    const world = ready({ folder: 'mein Projekt ü 日本' });
    world.git('checkout', '-q', '--detach');
    world.write('README.md', 'edited, not committed\n');
    world.write('notes.txt', 'untracked\n');
    const before = world.git('status', '--porcelain');
    const result = world.troupe('run', 'team.yaml', '--run-id', 'r1');
    expect(result.stderr).toContain('3 uncommitted changes of yours are not part of the run');
    expect(result).toMatchObject({ code: 0 });
    expect(world.git('show', 'troupe/r1/main:one.txt')).toBe('1\n');
    expect(world.git('show', 'troupe/r1/main:README.md')).toBe('A repository\n');
    expect(world.git('status', '--porcelain')).toBe(before);
    expectRefused(world.troupe('merge', 'r1'), 1, 'HEAD is detached');
    expectRefused(
      world.troupe('run', 'team.yaml', '--run-id', 'r1'),
      2,
      'there is a run r1 already',
    );
  });

  test('a submodule is a repository of its own', () => {
    const world = ready();
    const allow = ['-c', 'protocol.file.allow=always'];
    world.git('clone', '-q', '.', '../library');
    world.git(...allow, 'submodule', '--quiet', 'add', '../library', 'lib');
    world.git('commit', '-q', '-m', 'Add lib');
    const outer = world.troupe('run', 'team.yaml', '--run-id', 'outer');
    expect(outer.code, outer.stderr).toBe(0);
    const inner = world.at(join(world.repo, 'lib'), 'run', '../team.yaml', '--run-id', 'inner');
    expect(inner.code, inner.stderr).toBe(0);
    expect(world.git('-C', 'lib', 'show', 'troupe/inner/main:one.txt')).toBe('1\n');
    const runs = JSON.parse(world.troupe('runs', '--json').stdout);
    expect(runs.map((run: { id: string }) => run.id)).toEqual(['outer']);
  });

  test('from a subfolder and with --workspace from elsewhere it is the same repository', () => {
    const world = ready();
    world.write('deep/down/x', '');
    expect(world.at(join(world.repo, 'deep/down'), 'run', '../../team.yaml').code).toBe(0);
    const elsewhere = world.at(world.root, 'runs', '--json', '--workspace', 'repo');
    expect(JSON.parse(elsewhere.stdout)).toHaveLength(1);
  });
});
