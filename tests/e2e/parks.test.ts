/** What a run waits for and is warned of, through the built command line: quotas over `kill -9`, stand-ins, walls, turns. */
import { expect, test } from 'vitest';
import type { MailRow, RunRow, TaskRow, TroupeEvent } from '../../src/protocol/index.ts';
import { answersIn, type ModelRun } from '../support/model-run.ts';
import type { ModelAnswer } from '../support/model-server/answer.ts';
import type { Fault, Seen } from '../support/model-server/server.ts';
import { useModelWorlds } from './model-world.ts';

const open = useModelWorlds();

const team = (rest: string): string => `version: 1
name: parks
model: anthropic/claude-sonnet-5-5
members: { teammates: [{ name: ada, agent: implementer }, { name: bo, agent: implementer }] }
permissions: { default: allow }
${rest}
`;

const TASKS = `tasks:
  - { id: a, prompt: Do it., attempts: 1 }
  - { id: b, prompt: Do it., attempts: 1 }`;

/** Runs so many commands, then is done. */
const busy =
  (answers: number) =>
  (seen: Seen): ModelAnswer =>
    answersIn(seen) >= answers
      ? { calls: [{ tool: 'complete_task', input: { summary: 'done' } }] }
      : { calls: [{ tool: 'bash', input: { command: `echo ${answersIn(seen)}` } }] };

function usedUp(untilMs: number): Fault {
  return {
    kind: 'status',
    status: 429,
    body: {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'This would exceed your weekly limit' },
    },
    headers: { 'anthropic-ratelimit-unified-reset': String(Math.ceil(untilMs / 1000)) },
  };
}

const tasksOf = async (line: ModelRun): Promise<TaskRow[]> =>
  JSON.parse((await line.troupe('tasks', '--json')).stdout || '[]') as TaskRow[];

async function eventsOf(line: ModelRun, type: string): Promise<TroupeEvent[]> {
  const { stdout } = await line.troupe('events', '--json', '--type', type);
  const lines = stdout.split('\n').filter((one) => one !== '');
  return lines.map((one) => JSON.parse(one) as TroupeEvent);
}

test('B5: a quota that is used up is waited for by the supervisor that follows a kill -9', async () => {
  const times: number[] = [];
  const { world, line } = await open((seen) => {
    times.push(Date.now());
    return busy(1)(seen);
  });
  world.write('team.yaml', team(TASKS));
  const resetMs = Math.ceil((Date.now() + 12_000) / 1000) * 1000;
  line.server.faults.push(usedUp(resetMs));
  const begun = line.start('run', 'team.yaml', '--run-id', 'r1');
  const parked = async (): Promise<unknown> => (await tasksOf(line)).map(({ reason }) => reason);
  await expect
    .poll(parked, { timeout: 60_000, interval: 200 })
    .toMatchObject([{ kind: 'quota' }, { kind: 'quota' }]);
  begun.child.kill('SIGKILL');
  await begun.done;
  const resumed = await line.troupe('resume', 'r1', '--json');
  expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
  // The sibling that went first was turned down, and nobody has asked since.
  expect(Math.min(...times)).toBeGreaterThanOrEqual(resetMs);
  expect(await tasksOf(line)).toMatchObject([
    { state: 'done', attempt: 1, reason: null },
    { state: 'done', attempt: 1, reason: null },
  ]);
  expect((await eventsOf(line, 'quota.*')).map(({ type }) => type)).toEqual([
    'quota.hit',
    'quota.over',
  ]);
  expect(line.server.rejections).toEqual([]);
});

test('a model of another provider works on while the quota of the first is used up, for all, also over a restart', async () => {
  let stops: (() => void) | null = null;
  const { world, line } = await open((seen) => {
    if (answersIn(seen) === 2) stops?.();
    return busy(4)(seen);
  });
  world.write('team.yaml', team(TASKS));
  world.write('.troupe/config.yaml', 'fallback: [openai/some-model]\n');
  line.server.faults.push(usedUp(Date.now() + 3_600_000));
  const third = new Promise<void>((resolve) => {
    stops = resolve;
  });
  const begun = line.start('run', 'team.yaml', '--run-id', 'r1');
  await third;
  begun.child.kill('SIGKILL');
  await begun.done;
  const resumed = await line.troupe('resume', 'r1', '--json');
  expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
  // One request learnt of it. Threads of the new term know it from the journal.
  expect(line.server.seen.filter(({ dialect }) => dialect === 'anthropic')).toEqual([]);
  expect(line.server.faults).toEqual([]);
  expect(await tasksOf(line)).toMatchObject([
    { state: 'done', attempt: 1 },
    { state: 'done', attempt: 1 },
  ]);
  const usage = JSON.parse((await line.troupe('usage', '--json')).stdout) as {
    readonly models: readonly { readonly name: string; readonly inputTokens: number }[];
  };
  const paid = usage.models.filter(({ inputTokens }) => inputTokens > 0);
  expect(
    paid.map(({ name }) => name),
    JSON.stringify(usage),
  ).toEqual(['openai/some-model']);
});

test('nine tenths of the wall time and of the turns are told, once, before the end', async () => {
  const { world, line } = await open(busy(50));
  world.write(
    'team.yaml',
    team(`budget: { wall: 8s }
limits: { turns: 4 }
tasks:
  - { id: a, prompt: Do it., attempts: 1 }
  - { id: hold, run: sleep 60 }`),
  );
  const ran = await line.troupe('run', 'team.yaml', '--json');
  expect(ran.code, ran.stdout + ran.stderr).toBe(3);
  const row = JSON.parse(ran.stdout) as RunRow;
  expect(row).toMatchObject({ state: 'budget', reason: { kind: 'budget' } });
  expect(row.reason?.text).toContain('the wall time of the run is used up: 8 s of 8 s');
  const warned = (await eventsOf(line, 'run.warned')).map(({ data }) => data);
  expect(warned.map((one) => (one as { readonly scope: string }).scope.split(':')[0])).toEqual([
    'turns',
    'wall',
  ]);
  expect(line.of('ada')).toHaveLength(4);
  expect(JSON.stringify(line.of('ada')[3]?.messages)).toContain('ada has used 3 of 4 turns');
  expect((await tasksOf(line))[0]).toMatchObject({ id: 'a', state: 'failed' });
  const told = JSON.parse(
    `[${(await line.troupe('tail', 'user', '--json')).stdout.trim().split('\n').join(',')}]`,
  ) as MailRow[];
  const walls = told.filter(({ body }) => body.text.startsWith('Nine tenths of the wall time'));
  expect(walls).toHaveLength(1);
});
