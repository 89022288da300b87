/** What may be spent, held by the built command line against a model server: never passed, told, raised, waited for. */
import { expect, test } from 'vitest';
import type { RunRow, TaskRow } from '../../src/protocol/index.ts';
import { answersIn } from '../support/model-run.ts';
import type { ModelAnswer } from '../support/model-server/answer.ts';
import type { Seen } from '../support/model-server/server.ts';
import type { World } from './cli-world.ts';
import { useModelWorlds } from './model-world.ts';

const open = useModelWorlds();

const team = (rest: string, tasks = 4): string => `version: 1
name: money
model: anthropic/claude-sonnet-5-5
members: { teammates: [${[1, 2, 3, 4].map((n) => `{ name: w${n}, agent: implementer }`).join(', ')}] }
permissions: { default: allow }
tasks:
${Array.from({ length: tasks }, (_, n) => `  - { id: t${n + 1}, prompt: Do it., attempts: 1 }`).join('\n')}
${rest}
`;

/** Works on and on, and is done after so many answers. */
const busy =
  (answers: number) =>
  (seen: Seen): ModelAnswer => {
    const said = answersIn(seen);
    const text = 'word '.repeat(400);
    return said >= answers
      ? { text, calls: [{ tool: 'complete_task', input: { summary: 'done' } }] }
      : { text, calls: [{ tool: 'bash', input: { command: `echo ${said}` } }] };
  };

interface UsageJson {
  readonly costUsd: number;
  readonly inputTokens: number;
  readonly estimated: boolean;
  readonly turns: number;
  readonly actors: readonly { readonly name: string; readonly costUsd: number }[];
  readonly tasks: readonly { readonly name: string; readonly costUsd: number }[];
  readonly models: readonly { readonly name: string; readonly costUsd: number }[];
}
const usage = (world: World): UsageJson =>
  JSON.parse(world.troupe('usage', '--json').stdout) as UsageJson;

test('B3: four actors side by side never pass the budget of the run, and it goes on with more', async () => {
  const { world, line } = await open(busy(5));
  world.write('team.yaml', team('budget: { usd: 0.15 }'));
  const ran = await line.troupe('run', 'team.yaml', '--run-id', 'tight', '--json');
  expect(ran.code, ran.stdout + ran.stderr).toBe(3);
  const row = JSON.parse(ran.stdout) as RunRow;
  expect(row).toMatchObject({ state: 'budget', reason: { kind: 'budget' } });
  expect(line.server.rejections).toEqual([]);
  const spent = usage(world);
  expect(spent.costUsd).toBeGreaterThan(0.08);
  expect(spent.costUsd).toBeLessThanOrEqual(0.15);
  const sum = (rows: readonly { readonly costUsd: number }[]): number =>
    rows.reduce((all, one) => all + one.costUsd, 0);
  expect(sum(spent.actors)).toBeCloseTo(spent.costUsd, 9);
  expect(sum(spent.tasks)).toBeCloseTo(spent.costUsd, 9);
  expect(sum(spent.models)).toBeCloseTo(spent.costUsd, 9);
  expect(spent.models.map((one) => one.name)).toEqual(['anthropic/claude-sonnet-5-5']);
  expect(world.troupe('usage').stdout).toContain('troupe resume tight --budget-usd N');
  // Not without more, nor with less than is spent.
  expect((await line.troupe('resume', 'tight')).code).toBe(3);
  expect((await line.troupe('resume', 'tight', '--budget-usd', '0.01')).code).toBe(2);
  const more = await line.troupe('resume', 'tight', '--budget-usd', '5', '--json');
  expect(more.code, more.stdout + more.stderr).toBe(0);
  expect(line.server.rejections).toEqual([]);
  const end = usage(world);
  expect(end.costUsd).toBeGreaterThan(spent.costUsd);
  expect(JSON.parse(world.troupe('tasks', '--json').stdout)).toMatchObject(
    Array.from({ length: 4 }, () => ({ state: 'done', attempt: 1 })),
  );
});

test('a task that has spent its own budget fails alone, with the reason', async () => {
  const { world, line } = await open(busy(6));
  const file = team('', 2).replace(
    '{ id: t1, prompt: Do it., attempts: 1 }',
    '{ id: t1, prompt: Do it., attempts: 3, budget: { turns: 3 } }',
  );
  world.write('team.yaml', file);
  const ran = await line.troupe('run', 'team.yaml', '--json');
  expect(ran.code, ran.stdout + ran.stderr).toBe(1);
  const rows = JSON.parse(world.troupe('tasks', '--json').stdout) as TaskRow[];
  expect(rows).toMatchObject([
    { id: 't1', state: 'failed', reason: { kind: 'budget', ref: 't1' } },
    { id: 't2', state: 'done' },
  ]);
  expect(rows[0]?.reason?.text).toContain('3 of 3 turns');
});

test('B5: a used-up quota parks the tasks of its provider until the reset, and burns no attempt', async () => {
  const { world, line } = await open(busy(1));
  world.write('team.yaml', team('', 2));
  const body = {
    type: 'error',
    error: { type: 'rate_limit_error', message: 'This would exceed your weekly limit' },
  };
  const reset = String(Math.ceil(Date.now() / 1000) + 4);
  const headers = { 'anthropic-ratelimit-unified-reset': reset };
  line.server.faults.push({ kind: 'status', status: 429, body, headers });
  const ran = await line.troupe('run', 'team.yaml', '--json');
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  const rows = JSON.parse(world.troupe('tasks', '--json').stdout) as TaskRow[];
  expect(rows).toMatchObject([
    { state: 'done', attempt: 1 },
    { state: 'done', attempt: 1 },
  ]);
  const events = world.troupe('events', '--json', '--type', 'quota.*').stdout.trim().split('\n');
  expect(events.map((one) => (JSON.parse(one) as { type: string }).type)).toEqual([
    'quota.hit',
    'quota.over',
  ]);
  expect(world.troupe('mail', 'dead', '--json').stdout.trim()).toBe('[]');
});

test("an actor's own budget ends that actor alone, and another member takes the task", async () => {
  const { world, line } = await open((seen) =>
    seen.actor === 'w1' ? busy(50)(seen) : busy(1)(seen),
  );
  const file = team('agents: { thrifty: { description: d, prompt: p, budget: { turns: 3 } } }', 1)
    .replace('{ name: w1, agent: implementer }', '{ name: w1, agent: thrifty }')
    .replace('attempts: 1', 'attempts: 3, agent: thrifty')
    .replace('{ name: w2, agent: implementer }', '{ name: w2, agent: thrifty }');
  world.write('team.yaml', file);
  const ran = await line.troupe('run', 'team.yaml', '--json');
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  expect(line.of('w1')).toHaveLength(3);
  expect(JSON.parse(world.troupe('tasks', '--json').stdout)).toMatchObject([
    { id: 't1', state: 'done', owner: 'w2', attempt: 2 },
  ]);
  expect(line.server.rejections).toEqual([]);
});

test('B5: what one actor hears of a rate limit, all eight keep to', async () => {
  const names = Array.from({ length: 8 }, (_, n) => `w${n + 1}`);
  const times: number[] = [];
  const { world, line } = await open((seen) => {
    times.push(Date.now());
    return busy(0)(seen);
  });
  world.write(
    'team.yaml',
    team('limits: { parallel: 8 }', 8).replace(
      /\{ teammates: .*\}/,
      `{ teammates: [${names.map((name) => `{ name: ${name}, agent: implementer }`).join(', ')}] }`,
    ),
  );
  line.server.faults.push({ kind: 'status', status: 429, headers: { 'retry-after': '3' } });
  const limited = line.server.nextFault();
  const ran = line.troupe('run', 'team.yaml', '--json');
  const at = await limited;
  const done = await ran;
  expect(done.code, done.stdout + done.stderr).toBe(0);
  // One was turned down, and nobody asked before the time that it was told.
  expect(times).toHaveLength(8);
  expect(Math.min(...times) - at).toBeGreaterThanOrEqual(3000);
});
