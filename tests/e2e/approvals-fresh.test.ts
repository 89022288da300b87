/** What changes while a question waits: links on the disk, files of the policy, what a grant is pinned to; and who was paused. */
import { existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordsOf } from '../support/supervised.ts';
import { ASKS_TEAM } from './asks-team.ts';
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

/** A run of `ada` on one task, with these calls one after the other, until it asks. */
async function asking(calls: readonly string[], first: string): Promise<RunningCommand> {
  const turns = [...calls, '{ complete_task: { summary: done } }'];
  const lines = turns.map((call) => `      - calls: [${call}]\n`).join('');
  world.write('s.yaml', `version: 1\nsections:\n  - actor: ada\n    turns:\n${lines}`);
  world.write('team.yaml', ASKS_TEAM);
  const command = world.start('run', 'team.yaml', '--run-id', 'r1');
  running.push(command);
  await command.saw(first);
  return command;
}

interface Row {
  readonly id: string;
  readonly touches: readonly string[];
}

const approvals = (): Row[] => JSON.parse(world.troupe('approvals', '--json').stdout) as Row[];

async function results(): Promise<string[]> {
  const records = await recordsOf(world, 'r1');
  return records.flatMap((record) =>
    (record.entries ?? []).flatMap((entry) => (entry.type === 'result' ? [entry.text] : [])),
  );
}

function commitFolders(): void {
  world.write('dir/keep.txt', '');
  world.write('other/keep.txt', '');
  world.git('add', '-A');
  world.git('commit', '-q', '-m', 'Folders');
}

function swapLink(): string {
  const tasks = JSON.parse(world.troupe('tasks', '--json').stdout) as { worktree: string }[];
  const tree = tasks[0]?.worktree ?? '';
  expect(existsSync(join(tree, 'dir/keep.txt'))).toBe(true);
  renameSync(join(tree, 'dir'), join(tree, 'was'));
  symlinkSync('other', join(tree, 'dir'));
  return tree;
}

test.each([
  ['bash', '{ bash: { command: touch dir/a.txt } }'],
  ['write_file', '{ write_file: { path: dir/a.txt, content: a } }'],
])(
  'P15: a link that was put in the way of %s after the question: the yes does not count, it is asked anew',
  async (tool, call) => {
    commitFolders();
    const run = await asking([call], `ada asks to use ${tool}`);
    const [before] = approvals();
    expect(before?.touches).toContain('writes ./dir/a.txt');
    const tree = swapLink();

    const stale = world.troupe('approve', before?.id ?? '', '--json');
    expect(stale.code, stale.stdout).toBe(1);
    expect(JSON.parse(stale.stdout)).toMatchObject({ error: { code: 'ask/stale' } });
    const [after] = approvals();
    expect(after?.id).not.toBe(before?.id);
    expect(after?.touches).toContain('writes ./other/a.txt');
    expect(existsSync(join(tree, 'other/a.txt'))).toBe(false);
    // Whoever still looks at the first question is told what became of it.
    expect(world.troupe('approve', before?.id ?? '').stderr).toContain('superseded');

    expect(world.troupe('deny', after?.id ?? '', '--reason', 'no').code).toBe(0);
    expect((await run.done).code).toBe(0);
    expect((await results()).join('\n')).toContain('denied by user: no');
    expect(world.git('ls-tree', '-r', '--name-only', 'troupe/r1/main')).not.toContain(
      'other/a.txt',
    );
  },
);

test('P15: the gates of a task that a model makes are judged again with the yes', async () => {
  commitFolders();
  const create = '{ create_task: { id: more, title: More, run: touch dir/a.txt } }';
  const run = await asking([create], 'ada asks to use create_task');
  const [before] = approvals();
  swapLink();
  expect(world.troupe('approve', before?.id ?? '').code).toBe(1);
  const [after] = approvals();
  expect(after?.touches).toContain('writes ./other/a.txt');
  expect(world.troupe('deny', after?.id ?? '').code).toBe(0);
  expect((await run.done).code).toBe(0);
  expect(world.troupe('tasks', '--json').stdout).not.toContain('"more"');
});

function userPolicy(rules: string): void {
  const folder = join(world.root, 'home/.config/troupe');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'policy.yaml'), `version: 1\nrules: [${rules}]\n`);
}

test('P21: a policy that is tightened while a question waits denies it, one that is loosened allows it', async () => {
  const run = await asking(
    ['{ bash: { command: touch a.txt } }', '{ bash: { command: uname } }'],
    'runs touch a.txt',
  );
  const [first] = approvals();
  userPolicy('{ id: no-a, effect: deny, tool: bash, argv: [touch, a.txt] }');
  await run.saw('runs uname');
  expect((await results())[0]).toContain('no-a');
  expect(world.troupe('approve', first?.id ?? '').stderr).toContain('superseded');

  userPolicy('{ id: yes-u, effect: allow, tool: bash, argv: [uname] }');
  expect((await run.done).code).toBe(0);
  expect((await results())[1]).toContain('Linux');
  expect(world.git('ls-tree', '--name-only', 'troupe/r1/main')).not.toContain('a.txt');
});
