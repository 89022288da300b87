/** C12: jobs that an agent makes come back to it, or outlive the run when a person says so, and then with no more rights. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connectTo } from '../support/supervised.ts';
import { json, useUpWorld } from './up-world.ts';

const up = useUpWorld();

const TEAM = `version: 1
name: jobs
model: scripted/script.yaml
budget: { usd: 2 }
members: { teammates: [{ name: ada, agent: implementer }] }
tasks: [{ id: talk, prompt: Do it. }]
permissions: { default: ask }
`;

const SCRIPT = `version: 1
sections:
  - actor: ada
    on:
      - when: { mail: { type: cron.fired } }
        once: true
        answer: { calls: [{ list_crons: {} }, { complete_task: { summary: it came back } }] }
    turns:
      - calls:
          - schedule_cron: { name: soon, schedule: in 1s, prompt: Look again. }
          - schedule_cron: { name: nightly, schedule: "@daily", prompt: Triage., agent: implementer }
      - text: I wait for my job.
  - task: job
    turns:
      - calls: [{ bash: { command: touch x } }, { schedule_cron: { name: more, schedule: "@daily", prompt: More., durable: true } }]
      - calls: [{ complete_task: { summary: as far as I may } }]
`;

test('an agent is woken by its job, and one that outlives the run has the rules and the money of its author', async () => {
  const { world } = up;
  world.write('team.yaml', TEAM);
  world.write('script.yaml', SCRIPT);
  expect(world.troupe('up').code).toBe(0);
  const run = world.start('run', 'team.yaml', '--run-id', 'author');
  await run.saw('ada asks to use schedule_cron');
  const [ask] = json(world, 'approvals');
  expect(ask).toMatchObject({ tool: 'schedule_cron', rule: 'cron' });
  expect(world.troupe('approve', ask.id).code).toBe(0);
  const end = await run.done;
  expect(end.code, end.stdout + end.stderr).toBe(0);
  const mail = world.troupe('tail', 'ada', '--run', 'author', '--json').stdout;
  expect(mail).toContain('Your job soon is due: Look again.');

  const [row] = json(world, 'cron', 'list');
  expect(row).toMatchObject({ name: 'nightly', tz: 'UTC', paused: false });
  const client = await connectTo(world);
  const { run: id } = await client.call('cron.edit', { type: 'trigger', name: 'nightly' });
  const ended = world.start('events', '--follow', '--run', id ?? '');
  expect((await ended.done).code).toBe(0);
  client.close();
  const file = JSON.parse(
    readFileSync(join(world.repo, `.git/troupe/runs/${id}/run.json`), 'utf8'),
  );
  expect(file).toMatchObject({ attended: false, team: { permissions: { default: 'ask' } } });
  expect(file.team.budget.usd).toBe(2);
  // What its author would be asked about is refused: it can not work around the person.
  const { entries } = json(world, 'session', 'worker', '--run', id ?? '');
  const results = entries.filter(({ type }: any) => type === 'result');
  expect(results[0]).toMatchObject({ ok: false, text: expect.stringContaining('headless') });
  expect(results[1]).toMatchObject({ ok: false, text: expect.stringContaining('headless') });
  expect(json(world, 'cron', 'list')).toHaveLength(1);
});
