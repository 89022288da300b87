/** The story of example 04, its supervisor killed at the points that matter: nothing is asked, approved or told twice. */
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { MailRow, PlanRow } from '../../src/protocol/index.ts';
import { makeWorld, type World } from './cli-world.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/04-plan-first', import.meta.url));

let world: World;

beforeEach(() => {
  world = makeWorld();
  cpSync(`${EXAMPLE}/repo`, world.repo, { recursive: true });
  for (const file of ['team.yaml', 'script.yaml'])
    cpSync(`${EXAMPLE}/${file}`, `${world.root}/${file}`);
  world.git('add', '-A');
  world.git('commit', '-q', '-m', 'say');
});

afterEach(() => world.remove());

test.each([
  'submits plan-1',
  'plan-1 rejected by lead',
  'plan-2 approved by lead',
  'asks finn to shut down',
])('A8, A9, S2: killed at “%s” and resumed, it ends as if nothing was', async (point) => {
  const killed = world.start('run', '../team.yaml', '--run-id', 'k1');
  await killed.saw(point);
  killed.child.kill('SIGKILL');
  await killed.done;
  const ended = world.troupe('resume', 'k1');
  expect(ended.code, `${ended.stdout}\n${ended.stderr}`).toBe(0);
  const plans = JSON.parse(world.troupe('plans', '--json').stdout) as PlanRow[];
  expect(plans.map((plan) => `${plan.id} ${plan.state}`)).toEqual([
    'plan-1 rejected',
    'plan-2 approved',
  ]);
  const mail = world
    .troupe('tail', '--json')
    .stdout.split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as MailRow);
  const told = (type: string): string[] =>
    mail.filter((row) => row.type === type).map((row) => row.to);
  expect(told('plan.proposed')).toEqual(['lead', 'lead']);
  expect(told('plan.decided')).toEqual(['finn', 'finn']);
  expect(told('actor.died')).toEqual(['lead']);
  expect(world.git('show', 'troupe/k1/main:say.sh')).toContain('"--loud"');
});
