/** What kills a supervisor, its parent or both, and what becomes of the runs. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Keeper } from '../../src/main/keep/keeper.ts';
import { isThere, json, noteOf, statusOf, useUpWorld, waitingTeam } from './up-world.ts';

const up = useUpWorld();

const logOf = (log: string, name: string): any[] =>
  readFileSync(join(log, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

test('kill -9 of the supervisor: it is started again, takes its run up, and the client that watched sees the end', async () => {
  const { world } = up;
  const go = waitingTeam(world);
  expect(world.troupe('up').code).toBe(0);
  const first = statusOf(world);
  const stopped = world.troupe('run', 'wait.yaml', '--run-id', 'kept', '--detach');
  expect(stopped.code, stopped.stderr).toBe(0);
  expect(world.troupe('stop', 'kept', '--now').code).toBe(0);
  const client = world.start('run', 'wait.yaml', '--run-id', 'k1');
  await client.saw('task wait started');
  process.kill(first.pid, 'SIGKILL');
  await client.saw('the supervisor is back');
  const second = statusOf(world);
  expect(second.pid).not.toBe(first.pid);
  expect(second.parent).toBe(first.parent);
  // What a person stopped is not taken up.
  expect(second.runs).toMatchObject([{ id: 'k1', state: 'running' }]);
  expect(isThere(first.pid)).toBe(false);
  writeFileSync(go, '');
  const end = await client.done;
  expect(end.code, end.stdout + end.stderr).toBe(0);
  expect(end.stdout).toContain('run resumed (term 2)');
  expect(end.stdout).toContain('2 of 2 tasks done');
  expect(end.stdout.match(/task quick done/g)).toHaveLength(1);
  expect(logOf(second.log, 'parent.log')).toContainEqual(
    expect.objectContaining({ message: 'the supervisor died', reason: 'killed by SIGKILL' }),
  );
});

test('kill -9 of the parent: the supervisor serves on and says so; up takes it over, and restarts it then', async () => {
  const { world } = up;
  const go = waitingTeam(world);
  expect(world.troupe('run', 'wait.yaml', '--run-id', 'p1', '--detach').code).toBe(0);
  const first = statusOf(world);
  process.kill(first.parent, 'SIGKILL');
  expect(statusOf(world)).toMatchObject({ pid: first.pid, parent: null });
  expect(world.troupe('status').stdout).toContain('nobody: it is not started again');
  const again = world.troupe('up');
  expect(again.code, again.stderr).toBe(0);
  const second = statusOf(world);
  expect(second.pid).toBe(first.pid);
  expect(second.parent).not.toBe(first.parent);
  expect(isThere(second.parent)).toBe(true);
  process.kill(second.pid, 'SIGKILL');
  const followed = world.start('events', '--follow', '--run', 'p1');
  writeFileSync(go, '');
  expect((await followed.done).code).toBe(0);
  expect(statusOf(world)).toMatchObject({ parent: second.parent });
  expect(world.troupe('down').code).toBe(0);
  expect(isThere(second.parent)).toBe(false);
});

test('SIGTERM of the parent takes all down; the run is interrupted and not taken up by the next one', async () => {
  const { world } = up;
  const go = waitingTeam(world);
  expect(world.troupe('run', 'wait.yaml', '--run-id', 't1', '--detach').code).toBe(0);
  const { pid, parent } = statusOf(world);
  process.kill(parent, 'SIGTERM');
  writeFileSync(go, '');
  const down = world.troupe('down');
  expect([0, 4]).toContain(down.code);
  expect([isThere(pid), isThere(parent)]).toEqual([false, false]);
  expect(noteOf(world)).toBeNull();
  const state = json(world, 'runs')[0].state;
  expect(world.troupe('up').code).toBe(0);
  expect(statusOf(world).runs).toEqual([]);
  expect(json(world, 'runs')[0].state).toBe(state);
});

test('a run that can not be taken up is left alone by name, and the others go on', async () => {
  const { world } = up;
  const go = waitingTeam(world);
  for (const run of ['bad', 'good']) {
    expect(world.troupe('run', 'wait.yaml', '--run-id', run, '--detach').code).toBe(0);
  }
  const first = statusOf(world);
  const file = join(world.repo, '.git/troupe/runs/bad/run.json');
  const whole = readFileSync(file, 'utf8');
  writeFileSync(file, '{');
  process.kill(first.pid, 'SIGKILL');
  writeFileSync(go, '');
  await up.ended('good');
  expect(json(world, 'runs')).toMatchObject([{ id: 'good', state: 'done' }]);
  const left = await leftSoon();
  expect(left).toMatchObject([
    { run: 'bad', reason: expect.stringContaining('can not be taken up') },
  ]);
  writeFileSync(file, whole);
  expect(world.troupe('resume', 'bad').code).toBe(0);
  expect(statusOf(world).left).toEqual([]);

  async function leftSoon(): Promise<readonly unknown[]> {
    // Its tries take a few seconds.
    const { log } = statusOf(world);
    const watched = spawn('tail', ['-n', '+1', '-F', join(log, 'supervisor.log')]);
    for await (const chunk of watched.stdout) {
      if (String(chunk).includes('a run is left alone')) break;
    }
    watched.kill();
    return statusOf(world).left;
  }
});

test('a supervisor that never gets ready is a failure of up, with its reason, and nothing stays', () => {
  const { world } = up;
  world.write('.troupe/config.yaml', 'limitz: 3\n');
  const failed = world.troupe('up', '--json');
  expect(failed.code).toBe(2);
  expect(JSON.parse(failed.stdout).error.code).toBe('control/settings');
  expect(noteOf(world)).toBeNull();
  expect(world.troupe('status').code).toBe(4);
});

test('SIGSTOP as long as a nap: nothing is taken for dead, and the run ends', async () => {
  const { world } = up;
  const go = waitingTeam(world);
  expect(world.troupe('run', 'wait.yaml', '--run-id', 'n1', '--detach').code).toBe(0);
  const { pid, parent } = statusOf(world);
  for (const one of [pid, parent]) process.kill(one, 'SIGSTOP');
  const during = world.troupe('ps', '--json');
  for (const one of [parent, pid]) process.kill(one, 'SIGCONT');
  expect(during.code).toBe(0);
  writeFileSync(go, '');
  await up.ended('n1');
  expect(statusOf(world)).toMatchObject({ pid, parent });
});

test('what dies again and again is given up, and why is said', async () => {
  const state = mkdtempSync(join(tmpdir(), 'troupe-keep-'));
  const entry = join(state, 'dies.mjs');
  writeFileSync(entry, `process.send({ type: 'ready' }, () => process.exit(7));`);
  const told: string[] = [];
  const keeper = new Keeper({
    entry,
    args: [],
    env: { PATH: process.env['PATH'] ?? '' },
    state,
    logger: { log: (_level: string, message: string) => told.push(message) },
    onReady: () => undefined,
    backoffMs: 1,
  });
  const kept = await keeper.keep();
  expect(kept).toMatchObject({
    kind: 'gave-up',
    text: expect.stringMatching(/died 8 times within 10 minutes; the last times: exit status 7/),
  });
  const note = JSON.parse(readFileSync(join(state, 'parent.json'), 'utf8'));
  expect(note).toMatchObject({
    state: 'gave-up',
    restarts: 8,
    reason: expect.stringContaining('died 8 times'),
  });
  rmSync(state, { recursive: true });
});
