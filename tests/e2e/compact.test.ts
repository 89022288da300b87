/** Compaction by a person, through the built command line: cut by `kill -9`, and of an actor that has no thread. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { answersIn, openModelRun } from '../support/model-run.ts';
import type { ModelAnswer } from '../support/model-server/answer.ts';
import type { Seen } from '../support/model-server/server.ts';
import { makeWorld } from './cli-world.ts';

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const isSummary = (seen: Seen): boolean => seen.system.startsWith('You sum up');

/** Works for four turns, then is done; to more mail it says something. */
function work(seen: Seen): ModelAnswer {
  if (isSummary(seen)) return { text: 'It looked four times, and all was well.' };
  const said = answersIn(seen);
  const text = `Turn ${said}. ${'I look at it from all sides. '.repeat(150)}`;
  if (said > 4) return { text: 'You are welcome.' };
  return said < 4
    ? { text, calls: [{ tool: 'bash', input: { command: `echo ${said}` } }] }
    : { text, calls: [{ tool: 'complete_task', input: { summary: 'looked' } }] };
}

test('a compaction that kill -9 cuts leaves nothing, and one of an actor without a thread wakes it', async () => {
  const world = makeWorld();
  const line = await openModelRun(world, work);
  // Where commands in their sandbox see it.
  const go = join(world.repo, '.git', 'go');
  cleanups.push(
    () => writeFileSync(go, ''),
    () => line.close(),
    () => world.remove(),
  );
  world.write(
    'team.yaml',
    `version: 1
name: long
model: anthropic/claude-sonnet-5-5
members: { teammates: [{ name: ada, agent: implementer }] }
permissions: { default: allow }
tasks:
  - { id: look, prompt: Look at it., attempts: 1 }
  - { id: hold, run: "until test -e '${go}'; do sleep 0.1; done" }
`,
  );
  const begun = line.start('run', 'team.yaml', '--run-id', 'long');
  const stateOf = async (): Promise<unknown> => {
    const rows: unknown = JSON.parse((await line.troupe('tasks', '--json')).stdout || '[]');
    return (rows as { readonly state: string }[])[0]?.state;
  };
  await expect.poll(stateOf, { timeout: 60_000, interval: 200 }).toBe('done');
  // Its turn is over when it has answered without a call: then a new term has no reason to start it.
  await line.troupe('send', 'ada', 'Thank you.');
  const mail = async (): Promise<string> => (await line.troupe('tail', 'ada', '--json')).stdout;
  await expect.poll(mail, { timeout: 60_000, interval: 200 }).toMatch(/Thank you.*"seen"/);
  line.server.faults.push({ kind: 'stall', afterBytes: 400 });
  const first = await line.troupe('compact', 'ada', '--json');
  expect(JSON.parse(first.stdout)).toMatchObject({ name: 'ada', state: 'asked', woken: false });
  await line.server.stalled();
  begun.child.kill('SIGKILL');
  await begun.done;

  const resumed = line.start('resume', 'long');
  const again = async (): Promise<unknown> =>
    JSON.parse((await line.troupe('compact', 'ada', '--focus', 'the end', '--json')).stdout);
  await expect
    .poll(again, { timeout: 60_000, interval: 200 })
    .toMatchObject({ name: 'ada', state: 'asked', woken: true });
  const compactions = async (): Promise<number> => {
    const shown = await line.troupe('events', '--json', '--type', 'session.compacted');
    return shown.stdout.split('\n').filter((one) => one !== '').length;
  };
  await expect.poll(compactions, { timeout: 60_000, interval: 200 }).toBe(1);
  writeFileSync(go, '');
  const ended = await resumed.done;
  expect(ended.code, ended.stdout + ended.stderr).toBe(0);
  expect(line.server.rejections).toEqual([]);
  expect(line.server.seen.filter(isSummary).map(({ actor }) => actor)).toHaveLength(2);
  const session = await line.troupe('session', 'ada', '--json');
  const { entries } = JSON.parse(session.stdout) as { entries: Record<string, unknown>[] };
  expect(entries.filter(({ type }) => type === 'compaction')).toMatchObject([
    { cause: 'asked', by: 'model' },
  ]);
  // What was cut may have been paid for.
  const usage = await line.troupe('usage', '--json');
  expect(JSON.parse(usage.stdout)).toMatchObject({ estimated: true });
}, 120_000);
