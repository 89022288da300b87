/**
 * A supervisor that is up: started once, asked for, handed runs, taken down; nothing of it is left. The tests go on from each
 * other, with as few starts as there can be.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isThere, json, statusOf, useUpWorld, waitingTeam } from './up-world.ts';

const up = useUpWorld(true);

test('a foreground run keeps the repository to itself: up and --detach name it', async () => {
  const { world } = up;
  waitingTeam(world);
  const running = world.start('run', 'wait.yaml', '--run-id', 'f1');
  await running.saw('task wait started');
  for (const args of [['up'], ['run', 'wait.yaml', '--detach'], ['run', 'wait.yaml']]) {
    const refused = world.troupe(...args);
    expect(refused.code, args.join(' ')).toBe(4);
    expect(refused.stderr).toContain(`process ${running.child.pid}`);
  }
  expect(world.troupe('down').stderr).toContain('no supervisor is up');
  expect(statusOf(world)).toMatchObject({ mode: 'run', parent: null });
  running.child.kill('SIGKILL');
  await running.done;
});

test('up is ready when it returns, and is one per repository', () => {
  const { world } = up;
  expect(world.troupe('status')).toMatchObject({ code: 4 });
  expect(world.troupe('down')).toMatchObject({ code: 4 });
  const first = world.troupe('up');
  expect(first.code, first.stderr).toBe(0);
  const status = statusOf(world);
  expect(Object.keys(status)).toEqual(
    expect.arrayContaining(['pid', 'startedAt', 'socket', 'protocol', 'sandbox', 'runs', 'actors']),
  );
  expect(status).toMatchObject({ mode: 'up', runs: [], actors: [], left: [] });
  expect(isThere(status.parent)).toBe(true);
  const second = world.troupe('up');
  expect(second).toMatchObject({ code: 0 });
  expect(second.stdout).toContain(`Up already: process ${status.pid}`);
  expect(world.troupe('where').stdout).toContain(status.log);
  expect(readFileSync(join(status.log, 'supervisor.log'), 'utf8')).toContain('"message":"ready"');
});

test('a run is handed over, watched as in the foreground, and ends with the same exit code and summary', async () => {
  const { world } = up;
  world.write(
    'team.yaml',
    `version: 1\nname: t\ntasks:\n  - { id: ok, run: echo 1 > a.txt }\n  - { id: bad, run: exit 3, attempts: 1 }\n`,
  );
  const handed = world.troupe('run', 'team.yaml', '--run-id', 'h1');
  expect(handed.code, handed.stderr).toBe(1);
  expect(handed.stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z task ok done in /m);
  expect(handed.stdout).toContain('1 of 2 tasks done');
  expect(handed.stdout).toContain('Branch troupe/h1/main: 1 file changed');
  expect(handed.stderr).not.toContain('went away');
  expect(readFileSync(join(statusOf(world).log, 'supervisor.log'), 'utf8')).toContain('"run":"h1"');
  // What is wrong with a team is told as in the foreground, and nothing is made.
  world.write('broken.yaml', 'version: 1\nname: t\ntaskz: []\n');
  const broken = world.troupe('run', 'broken.yaml', '--json');
  expect(broken.code).toBe(2);
  expect(JSON.parse(broken.stdout).problems[0]).toMatchObject({ line: 3, column: 1 });
  expect(json(world, 'runs')[0].id).toBe('h1');
  // Over, it is let go of.
  expect(statusOf(world).runs).toEqual([]);
});

test('Ctrl-C in the client stops the run, and a terminal that is closed does not', async () => {
  const { world } = up;
  const go = waitingTeam(world);
  const closed = world.start('run', 'wait.yaml', '--run-id', 'c1');
  await closed.saw('task wait started');
  closed.child.kill('SIGHUP');
  const left = await closed.done;
  expect(left.code).toBe(130);
  expect(left.stderr).toContain('the run c1 goes on in the supervisor');
  expect(statusOf(world).runs).toMatchObject([{ id: 'c1', state: 'running' }]);
  writeFileSync(go, '');
  await up.ended('c1');
  expect(json(world, 'runs')[0]).toMatchObject({ id: 'c1', state: 'done' });

  const second = waitingTeam(world);
  const stopped = world.start('run', 'wait.yaml', '--run-id', 'c2');
  await stopped.saw('task wait started');
  stopped.child.kill('SIGINT');
  await stopped.saw('Stopping after SIGINT');
  writeFileSync(second, '');
  const end = await stopped.done;
  expect([end.code, json(world, 'runs')[0].state]).toEqual([
    json(world, 'runs')[0].state === 'done' ? 0 : 130,
    expect.stringMatching(/^(interrupted|done)$/),
  ]);
  expect(isThere(statusOf(world).pid)).toBe(true);
});

test('down leaves nothing', () => {
  const { world } = up;
  const status = statusOf(world);
  const down = world.troupe('down');
  expect(down.code, down.stderr).toBe(0);
  expect([isThere(status.pid), isThere(status.parent)]).toEqual([false, false]);
  for (const name of ['supervisor.json', 'parent.json', 'token']) {
    expect(existsSync(join(world.repo, '.git/troupe', name))).toBe(false);
  }
  expect(world.troupe('status').code).toBe(4);
});

test('--detach starts one, prints the id and returns; what can not run starts none', async () => {
  const { world } = up;
  const go = waitingTeam(world);
  world.write('broken.yaml', 'version: 1\n');
  expect(world.troupe('run', 'broken.yaml', '--detach').code).toBe(2);
  expect(world.troupe('status').code).toBe(4);
  const detached = world.troupe('run', 'wait.yaml', '--run-id', 'd1', '--detach');
  expect(detached).toMatchObject({ code: 0, stdout: 'd1\n' });
  expect(detached.stderr).toContain('troupe stop d1');
  expect(world.troupe('stop', 'd1', '--now').code).toBe(0);
  writeFileSync(go, '');
  const resumed = world.troupe('resume', 'd1', '--detach', '--json');
  expect(JSON.parse(resumed.stdout)).toMatchObject({ run: 'd1', pid: statusOf(world).pid });
  await up.ended('d1');
  expect(json(world, 'runs')[0]).toMatchObject({ id: 'd1', state: 'done' });
});
