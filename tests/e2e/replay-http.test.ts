/**
 * One run with all that can befall an actor: a plan that a person turns down and one that he approves, a subagent, an
 * approval, an interrupt, a retry, a compaction. Then its server is closed, and the run is played from its recording.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openModelRun } from '../support/model-run.ts';
import type { ModelAnswer } from '../support/model-server/answer.ts';
import type { Seen } from '../support/model-server/server.ts';
import { makeWorld } from './cli-world.ts';

const cleanups: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const MODELS = { anthropic: 'anthropic/claude-sonnet-5-5', openai: 'openai/some-model' } as const;
const TEAM = (model: string): string => `version: 1
name: eventful
model: ${model}
agents: { implementer: { window: 16000 } }
members: { teammates: [{ name: ada, agent: implementer }] }
tasks: [{ id: work, prompt: 'Do it; the word is ORCHID.', attempts: 1, plan: required }]
permissions: { default: allow, rules: [{ id: publish, effect: ask, tool: bash, argv: [touch, out.txt] }] }
`;

const bash = (command: string): ModelAnswer => ({
  text: 'I run it.',
  calls: [{ tool: 'bash', input: { command } }],
});
const call = (tool: string, input: unknown): ModelAnswer => ({ calls: [{ tool, input }] });
const STORY: readonly ModelAnswer[] = [
  call('write_file', { path: 'early.txt', content: 'before any plan\n' }),
  call('submit_plan', { plan: 'Everything at once.' }),
  { text: 'I wait for a word on it.' },
  call('submit_plan', { plan: 'First one file, then the rest.' }),
  { text: 'I wait again.' },
  call('task', { prompt: 'Look round.', agent: 'explorer' }),
  bash('touch out.txt'),
  bash('sleep 600'),
  ...Array.from({ length: 7 }, (_, n) => bash(`echo step-${n}; seq 1 1500`)),
  call('write_file', { path: 'done.txt', content: 'ORCHID\n' }),
  call('complete_task', { summary: 'it is done' }),
  { text: 'Good.' },
];

/** Its place is its own memory, since requests forget; who asks the same again hears the same. */
function story(): (seen: Seen) => ModelAnswer {
  let at = 0;
  let asked = '';
  return (seen) => {
    if (seen.system.startsWith('You sum up')) return { text: 'The word is ORCHID; steps are run.' };
    if (seen.actor !== 'ada') {
      const looked = seen.messages.some(({ role }) => role === 'assistant');
      return looked ? { text: 'There is a README.' } : call('list_dir', {});
    }
    const request = JSON.stringify(seen.messages);
    if (request !== asked) at += 1;
    asked = request;
    return STORY[at - 1] ?? { text: 'There is no more to do.' };
  };
}

test.each(['anthropic', 'openai'] as const)(
  'L31: an eventful run over %s is played again without its server',
  async (dialect) => {
    const world = makeWorld();
    const line = await openModelRun(world, story());
    world.write('team.yaml', TEAM(MODELS[dialect]));
    line.server.faults.push({ kind: 'status', status: 529 }, { kind: 'cut', afterBytes: 200 });
    const run = line.start('run', 'team.yaml', '--run-id', 'r1', '--json');
    cleanups.push(
      async () => {
        run.child.kill('SIGKILL');
        await run.done;
      },
      () => world.remove(),
    );
    const shown = async (...args: string[]): Promise<Record<string, unknown>[]> =>
      JSON.parse((await line.troupe(...args, '--json')).stdout || '[]') as Record<
        string,
        unknown
      >[];
    const soon = { timeout: 60_000, interval: 200 };
    const plans = (): Promise<unknown> => shown('plans', '--run', 'r1');

    await expect.poll(plans, soon).toMatchObject([{ id: 'plan-1', state: 'proposed', by: 'ada' }]);
    const no = await line.troupe('plan', 'reject', 'plan-1', '--feedback', 'Smaller steps.');
    expect(no.code, no.stderr).toBe(0);
    await expect.poll(plans, soon).toMatchObject([{ state: 'rejected' }, { state: 'proposed' }]);
    const yes = await line.troupe('plan', 'approve', 'plan-2');
    expect(yes.stdout).toContain('plan-2 of ada is approved');
    await expect
      .poll(() => shown('approvals'), soon)
      .toMatchObject([{ actor: 'ada', tool: 'bash', input: { command: 'touch out.txt' } }]);
    const [ask] = await shown('approvals');
    expect((await line.troupe('approve', String(ask?.['id']))).code).toBe(0);
    // The answer that asks for the command is the eighth that ada gives.
    const sleeps = (): Promise<unknown> => shown('session', 'ada');
    await expect.poll(async () => JSON.stringify(await sleeps()), soon).toContain('sleep 600');
    const sent = await line.troupe('send', 'ada', 'Not that: go on with the rest.', '--interrupt');
    expect(sent.code, sent.stderr).toBe(0);

    const ran = await run.done;
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    expect(line.server.rejections).toEqual([]);
    const session = (await shown('session', 'ada')) as unknown as {
      readonly entries: readonly Record<string, unknown>[];
    };
    const { entries } = session;
    const results = entries.filter(({ type }) => type === 'result');
    expect(results[0]).toMatchObject({ tool: 'write_file', ok: false });
    expect(String(results[0]?.['text'])).toContain('needs an approved plan first');
    expect(results.map(({ text }) => text).join('\n')).toMatch(/interrupted by mail|ended by mail/);
    expect(entries.filter(({ type }) => type === 'compaction')).not.toEqual([]);
    expect(world.git('show', 'troupe/r1/main:done.txt')).toBe('ORCHID\n');

    const asked = line.server.seen.length;
    await line.close();
    const played = await line.troupe('replay', 'r1', '--json');
    expect(played.code, played.stdout + played.stderr).toBe(0);
    expect(JSON.parse(played.stdout)).toMatchObject({ same: true, tree: true, difference: null });
    expect(line.server.seen).toHaveLength(asked);
    expect(readFileSync(join(world.repo, 'README.md'), 'utf8')).toBe('A repository\n');
  },
  180_000,
);
