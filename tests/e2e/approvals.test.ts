/** What waits for a person, answered from other terminals, over a kill, by time, and off by an interrupt. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { recordsOf } from '../support/supervised.ts';
import { makeWorld, type RunningCommand, type World } from './cli-world.ts';

const team = (timeout = '10m'): string => `version: 1
name: asks
model: scripted/script.yaml
members: { teammates: [{ name: ada, agent: implementer }] }
tasks: [{ id: talk, prompt: Do it. }]
permissions: { default: ask, timeout: ${timeout} }
`;

const SCRIPT = `version: 1
sections:
  - actor: ada
    on:
      - when: { mail: { from: user } }
        once: true
        answer: { calls: [{ complete_task: { summary: told otherwise } }] }
    turns:
      - calls: [{ bash: { command: touch a.txt } }]
      - calls: [{ complete_task: { summary: done } }]
`;

let world: World;
let running: RunningCommand[];

beforeEach(() => {
  world = makeWorld();
  running = [];
  world.write('script.yaml', SCRIPT);
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

interface Row {
  readonly id: string;
  readonly digest: string;
}

const approvals = (): Row[] => JSON.parse(world.troupe('approvals', '--json').stdout) as Row[];

/** A run that waits for an answer about `touch a.txt`. */
async function asking(timeout?: string): Promise<RunningCommand> {
  world.write('team.yaml', team(timeout));
  const run = start('run', 'team.yaml', '--run-id', 'r1');
  await run.saw('ada asks to use bash');
  return run;
}

async function results(): Promise<string[]> {
  const records = await recordsOf(world, 'r1');
  return records.flatMap((record) =>
    (record.entries ?? []).flatMap((entry) => (entry.type === 'result' ? [entry.text] : [])),
  );
}

test('P30: an ask is shown with all that it takes to answer, answered once, and the second is told who was first', async () => {
  const run = await asking();
  const [row] = approvals();
  expect(row).toMatchObject({
    actor: 'ada',
    ancestry: ['ada'],
    tool: 'bash',
    input: { command: 'touch a.txt' },
    rule: 'default',
    touches: ['runs touch a.txt', 'writes ./a.txt'],
  });
  const id = row?.id ?? '';
  const shown = world.troupe('approvals').stdout;
  expect(shown).toContain('ada, implementer asks to use bash on task talk');
  expect(shown).toContain(`troupe approve ${id.slice(0, 12)}`);
  expect(JSON.parse(world.troupe('ps', '--json').stdout)).toMatchObject([
    { name: 'ada', state: 'waiting', reason: { kind: 'approval', ref: id } },
  ]);
  expect(JSON.parse(world.troupe('tasks', '--json').stdout)).toMatchObject([
    { id: 'talk', state: 'running', reason: { kind: 'approval', ref: id } },
  ]);
  const stale = world.troupe('approve', id, '--digest', 'f'.repeat(64), '--json');
  expect(stale.code).toBe(1);
  expect(JSON.parse(stale.stdout)).toMatchObject({ error: { code: 'ask/stale' } });
  expect(world.troupe('approve', 'ask_none').code).toBe(5);

  expect(world.troupe('approve', id.slice(0, 12), '--scope', 'workspace').code).toBe(0);
  const second = world.troupe('deny', id, '--json');
  expect(second.code).toBe(1);
  expect(JSON.parse(second.stdout)).toMatchObject({
    error: { code: 'ask/answered', message: expect.stringContaining('allowed by user at ') },
  });
  expect((await run.done).code).toBe(0);
  expect(world.git('show', 'troupe/r1/main:a.txt')).toBe('');

  const rules = JSON.parse(world.troupe('rules', '--json').stdout) as { id: string }[];
  expect(rules).toMatchObject([{ scope: 'workspace', state: 'active', by: 'user' }]);
  // Nothing is asked a second time: not in another run, not in another tree.
  const again = world.troupe('run', 'team.yaml', '--run-id', 'r2');
  expect(again.code).toBe(0);
  expect(again.stdout).not.toContain('asks to use');
  const grant = rules[0]?.id ?? '';
  expect(world.troupe('rules', 'revoke', grant).code).toBe(0);
  expect(world.troupe('rules', 'revoke', grant).code).toBe(5);
  expect(world.troupe('rules', '--json').stdout).toBe('[]\n');
  // Each word on it has its own time and its own speaker, not those of the grant.
  const audit = JSON.parse(world.troupe('audit', '--json').stdout) as Record<string, string>[];
  const words = audit.filter((row) => row['id'] === grant && row['run'] === null);
  expect(words.map((row) => [row['what'], row['by']])).toEqual([
    ['grant.given', 'user'],
    ['grant.used', null],
    ['grant.revoked', 'user'],
  ]);
  expect(new Set(words.map((row) => row['at'])).size).toBe(3);
  // Also when nobody holds the run any more.
  const late = world.troupe('deny', id, '--run', 'r1');
  expect(late.code).toBe(1);
  expect(late.stderr).toContain('allowed by user at ');
});

test('P30: the reason of a denial reaches the model, and the call is not run', async () => {
  const run = await asking();
  const [row] = approvals();
  expect(world.troupe('deny', row?.id ?? '', '--reason', 'use b.txt').code).toBe(0);
  expect((await run.done).code).toBe(0);
  expect(await results()).toContain('not run: denied by user: use b.txt');
  expect(world.git('ls-tree', '--name-only', 'troupe/r1/main')).not.toContain('a.txt');
});

test('P30: an ask keeps its id and digest over kill -9, and its answer runs the call', async () => {
  const run = await asking();
  const [before] = approvals();
  run.child.kill('SIGKILL');
  await run.done;
  expect(approvals()).toMatchObject([{ id: before?.id, digest: before?.digest }]);
  expect(world.troupe('approve', before?.id ?? '').code).toBe(4);
  const resumed = start('resume', 'r1');
  await resumed.saw('run resumed');
  expect(approvals()).toMatchObject([{ id: before?.id, digest: before?.digest }]);
  const { id = '', digest = '' } = before ?? {};
  const answered = world.troupe('approve', id, '--digest', digest);
  expect(answered.code, answered.stderr).toBe(0);
  expect((await resumed.done).code).toBe(0);
  expect(world.git('show', 'troupe/r1/main:a.txt')).toBe('');
  expect(await results()).not.toContain('interrupted; effects unknown');
});

test('P30: when nobody answers in time the call is denied with timed_out', async () => {
  const run = await asking('1s');
  expect((await run.done).code).toBe(0);
  expect((await results()).join('\n')).toContain('timed_out');
});

test('P30: an interrupt takes the question back', async () => {
  const run = await asking();
  expect(world.troupe('send', 'ada', 'Leave it', '--interrupt').code).toBe(0);
  expect((await run.done).code).toBe(0);
  expect((await results())[0]).toContain('interrupted by mail while it waited');
  expect(approvals()).toEqual([]);
});

test('P18: with --headless nothing is asked', () => {
  world.write('team.yaml', team());
  const run = world.troupe('run', 'team.yaml', '--run-id', 'r1', '--headless');
  expect(run.code).toBe(0);
  expect(run.stdout).not.toContain('asks to use');
});
