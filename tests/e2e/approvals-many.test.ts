/** Asks of several actors and answers of several people: who is asked for whom, who was first, and who asks too often. */
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

async function asking(script: string, first: string): Promise<RunningCommand> {
  world.write('s.yaml', `version: 1\nsections:\n${script}`);
  world.write('team.yaml', ASKS_TEAM);
  const command = world.start('run', 'team.yaml', '--run-id', 'r1');
  running.push(command);
  await command.saw(first);
  return command;
}

interface Row {
  readonly id: string;
  readonly actor: string;
  readonly ancestry: readonly string[];
}

const approvals = (): Row[] => JSON.parse(world.troupe('approvals', '--json').stdout) as Row[];

const turns = (calls: readonly string[]): string =>
  calls.map((call) => `      - calls: [${call}]\n`).join('');

test('P30: a subagent’s ask says for whom it works, and two people who answer at once are told who was first', async () => {
  const run = await asking(
    `  - actor: ada
    turns:
${turns(['{ task: { agent: implementer, prompt: Look } }', '{ complete_task: { summary: done } }'])}  - actor: ada-sub-1
    turns:
${turns(['{ bash: { command: touch a.txt } }'])}      - text: seen
`,
    'asks to use bash',
  );
  const [row] = approvals();
  expect(row).toMatchObject({ actor: 'ada-sub-1', ancestry: ['ada', 'ada-sub-1'] });
  const id = row?.id ?? '';
  const both = await Promise.all(
    ['approve', 'deny'].map((word) => world.start(word, id, '--json').done),
  );
  expect(new Set(both.map(({ code }) => code))).toEqual(new Set([0, 1]));
  const late = both.find(({ code }) => code === 1);
  expect(JSON.parse(late?.stdout ?? '{}')).toMatchObject({ error: { code: 'ask/answered' } });
  expect((await run.done).code).toBe(0);
  const changes = (await recordsOf(world, 'r1')).flatMap((record) => record.asks ?? []);
  expect(changes.filter(({ type }) => type === 'ask.answered')).toHaveLength(1);
  expect(changes.filter(({ type }) => type === 'ask.used')).toHaveLength(1);
});

test('P30: after three denials in a row an actor is paused until somebody writes to it', async () => {
  const calls = [1, 2, 3].map((n) => `{ bash: { command: touch ${n}.txt } }`);
  const run = await asking(
    `  - actor: ada
    turns:
${turns([...calls, '{ complete_task: { summary: done } }'])}`,
    'touch 1.txt',
  );
  for (const n of [1, 2, 3]) {
    await run.saw(`touch ${n}.txt`);
    expect(world.troupe('deny', approvals()[0]?.id ?? '').code).toBe(0);
  }
  await run.saw('ada is paused');
  expect(JSON.parse(world.troupe('ps', '--json').stdout)).toMatchObject([
    { name: 'ada', state: 'waiting' },
  ]);
  expect(world.troupe('send', 'ada', 'Leave the files alone').code).toBe(0);
  expect((await run.done).code).toBe(0);
  const results = (await recordsOf(world, 'r1')).flatMap((record) =>
    (record.entries ?? []).flatMap((entry) => (entry.type === 'result' ? [entry.text] : [])),
  );
  expect(results.join('\n')).toContain('paused');
});

test('P33: a grant lapses when the file that it is pinned to changes', async () => {
  world.write('package.json', '{"scripts":{"test":"true"}}\n');
  world.git('add', '-A');
  world.git('commit', '-q', '-m', 'Scripts');
  const edit = '{ write_file: { path: package.json, content: "{}" } }';
  const run = await asking(
    `  - actor: ada
    turns:
${turns(['{ bash: { command: npm test } }', '{ bash: { command: npm test } }', edit, '{ bash: { command: npm test -- again } }', '{ complete_task: { summary: done } }'])}`,
    'npm test',
  );
  expect(world.troupe('approve', approvals()[0]?.id ?? '', '--scope', 'workspace').code).toBe(0);
  expect(JSON.parse(world.troupe('rules', '--json').stdout)).toMatchObject([
    { pins: ['package.json'] },
  ]);
  // The second one asks nobody.
  await run.saw('ada asks to use write_file');
  expect(world.troupe('approve', approvals()[0]?.id ?? '').code).toBe(0);
  await run.saw('runs npm test -- again');
  expect(approvals()).toMatchObject([{ input: { command: 'npm test -- again' } }]);
  expect(world.troupe('deny', approvals()[0]?.id ?? '').code).toBe(0);
  expect((await run.done).code).toBe(0);
});
