/** The wire of a real supervisor: every reading method answers what its schema says, and `troupe trace` shows all layers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { MethodName } from '../../src/protocol/wire.ts';
import { eventSchema, methodResults } from '../../src/protocol/wire-results.ts';
import { connectTo, listening, whenGoing } from '../support/supervised.ts';
import { makeWorld, type World } from './cli-world.ts';

let world: World;
beforeEach(() => {
  world = makeWorld();
});
afterEach(() => world.remove());

const READS: readonly (readonly [MethodName, object])[] = [
  ['status', {}],
  ['runs.list', {}],
  ['tasks.list', {}],
  ['tasks.get', { task: 'first' }],
  ['actors.list', {}],
  ['usage.get', {}],
  ['mail.list', {}],
  ['mail.dead', {}],
  ['events.list', {}],
  ['plans.list', {}],
  ['approvals.list', {}],
  ['rules.list', {}],
  ['trust.list', {}],
  ['policy.rules', {}],
  ['policy.check', { calls: [{ tool: 'bash', input: { command: 'git push' } }] }],
  ['policy.explain', { tool: 'bash', input: { command: 'git push' } }],
  ['audit.list', {}],
  ['audit.verify', {}],
  ['worktrees.list', {}],
  ['diff.get', { of: 'first' }],
  ['skills.list', {}],
  ['skills.check', {}],
  ['memory.list', { query: 'tests' }],
  ['cron.list', {}],
  ['cron.history', {}],
  ['cron.next', { expression: '30 2 * * *', tz: 'Europe/Berlin', count: 2 }],
  ['doctor.examine', {}],
  ['why', {}],
  ['where', {}],
];

test('E: a front end needs nothing but the wire; its layers can be traced, redacted', async () => {
  world.write(
    '../team.yaml',
    `version: 1
name: wired
tasks:
  - { id: first, title: First, run: 'exec sleep 600', attempts: 1 }
  - { id: second, title: Second, run: 'true', needs: [first] }
`,
  );
  const run = world.start('run', '../team.yaml', '--run-id', 'w1');
  await listening(world, run);
  const client = await connectTo(world);
  await whenGoing(() => client.call('tasks.list', { run: 'w1' }));
  expect(client.supervisor.role).toBe('person');
  for (const [method, params] of READS) {
    const answer = await client.call(method, params);
    const checked = methodResults[method].safeParse(answer);
    expect(checked.error?.message ?? '', method).toBe('');
  }
  const { next, events } = await client.call('events.list', { limit: 1 });
  expect(events).toHaveLength(1);
  expect(next).toBe(events[0]?.cursor);
  expect(eventSchema.safeParse(events[0]).success).toBe(true);
  const explained = await client.call('policy.explain', {
    tool: 'bash',
    input: { command: 'git stash' },
  });
  expect(explained.decision.action).toBe('deny');

  const trace = world
    .troupe('trace', '--json')
    .stdout.trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(new Set(trace.map((row) => row.layer))).toEqual(new Set(['wire', 'events']));
  expect(trace.some((row) => row.layer === 'wire' && row.what === 'policy.explain')).toBe(true);
  const token = readFileSync(join(world.repo, '.git/troupe/token'), 'utf8');
  expect(JSON.stringify(trace)).not.toContain(token);

  expect(
    await client.call('run.stop', { now: true, by: 'user' }, { timeoutMs: 30_000 }),
  ).toMatchObject({ id: 'w1' });
  client.close();
  await run.done;
  const later = world.troupe('trace', 'w1', '--layer', 'events,model').stdout;
  expect(later).toContain('run.interrupted');
  expect(world.troupe('trace', '--layer', 'evnts')).toMatchObject({ code: 2 });
});
