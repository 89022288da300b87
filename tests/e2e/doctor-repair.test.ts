/**
 * What a killed supervisor leaves is named by the doctor, told by a dry run, mended when nothing is lost by it, and refused
 * while a supervisor works. Trees that somebody moved or edited are named, by the doctor and when the run goes on.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Finding, TreeRow } from '../../src/protocol/index.ts';
import { makeWorld, type World } from './cli-world.ts';
import { commandsOf, isThere, waitingTeam } from './up-world.ts';

let world: World;
const started: ChildProcess[] = [];

beforeEach(() => {
  world = makeWorld();
});

afterEach(() => {
  for (const { pid } of started.splice(0))
    if (pid !== undefined && isThere(pid)) process.kill(pid, 'SIGKILL');
  world.remove();
});

const state = (...parts: string[]): string => join(world.repo, '.git/troupe', ...parts);
const trees = (): TreeRow[] => JSON.parse(world.troupe('worktrees', '--json').stdout);

function doctor(...args: string[]): { code: number | null; all: Finding[]; bad: Finding[] } {
  const { code, stdout } = world.troupe('doctor', '--json', ...args);
  const all = JSON.parse(stdout) as Finding[];
  return { code, all, bad: all.filter(({ ok }) => !ok) };
}

/** A run in the foreground, killed while its second task runs. */
async function killedRun(): Promise<string> {
  const go = waitingTeam(world);
  const run = world.start('run', 'wait.yaml', '--run-id', 'k1');
  await run.saw('task wait started');
  await commandsOf(world, 'k1', ['wait']);
  run.child.kill('SIGKILL');
  await run.done;
  return go;
}

/** As a command that escaped: it carries the marker of the run. */
function stray(run: string): number {
  const scope =
    dirname(trees()[0]?.path ?? '')
      .split('/')
      .at(-2) ?? '';
  const env = { TROUPE_SCOPE: scope, TROUPE_PROC: `${run}/c-9`, PATH: process.env['PATH'] ?? '' };
  const child = spawn('sleep', ['300'], { env, detached: true, stdio: 'ignore' });
  started.push(child);
  return child.pid ?? 0;
}

test('S17: what a kill -9 left is named, told by a dry run, mended, and the run goes on', async () => {
  world.write('bad.yaml', 'version: 1\nname: b\ntasks: [{ id: bad, run: exit 3, attempts: 1 }]\n');
  expect(world.troupe('run', 'bad.yaml', '--run-id', 'b1').code).toBe(1);
  const go = await killedRun();
  const ofBad = trees().find(({ run }) => run === 'b1')?.path ?? '';
  const pid = stray('k1');
  rmSync(ofBad, { recursive: true });
  rmSync(state('runs/b1/views'), { recursive: true });
  writeFileSync(state('runs/k1/views/tasks.json'), '[');
  mkdirSync(state('runs/b1/blobs'), { recursive: true });
  const orphan = state('runs/b1/blobs', 'a'.repeat(64));
  writeFileSync(orphan, 'x');
  const gitLock = join(world.repo, '.git/worktrees/wait/index.lock');
  writeFileSync(gitLock, '');

  const told = doctor('--repair', '--dry-run');
  expect(told.code).toBe(1);
  const repairs = told.all
    .filter(({ repair }) => repair.startsWith('Would '))
    .map(({ check }) => check);
  expect([...new Set(repairs)].toSorted()).toEqual([
    'git locks',
    'lock',
    'payloads of b1',
    'processes',
    'socket',
    'views of b1',
    'views of k1',
    'worktrees of b1',
  ]);
  expect(told.bad.find(({ check }) => check === 'processes')?.detail).toContain(`${pid}`);
  // It did nothing.
  expect(isThere(pid) && existsSync(orphan) && existsSync(gitLock)).toBe(true);
  expect(doctor('--dry-run').all).toEqual(told.all);

  const mended = doctor('--repair');
  expect({ code: mended.code, bad: mended.bad }).toEqual({ code: 0, bad: [] });
  expect([isThere(pid), existsSync(orphan), existsSync(gitLock)]).toEqual([false, false, false]);
  expect(readdirSync(state('runs/b1/views')).toSorted()).toEqual([
    'mailboxes',
    'sessions',
    'tasks.json',
  ]);
  expect(readdirSync(state()).filter((name) => name.startsWith('lock.'))).toEqual([]);
  expect(existsSync(join(world.repo, '.git/worktrees/bad'))).toBe(false);
  expect(doctor()).toMatchObject({ code: 0, bad: [] });
  expect(world.git('rev-parse', 'troupe/b1/task/bad')).toMatch(/^[0-9a-f]{40}/);

  writeFileSync(go, '');
  const resumed = world.troupe('resume', 'k1');
  expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
});

test('S17: nothing is mended while a supervisor works, and what belongs to it is no damage', async () => {
  const go = waitingTeam(world);
  const run = world.start('run', 'wait.yaml', '--run-id', 'w1');
  await run.saw('task wait started');
  mkdirSync(state('runs/w1/blobs'), { recursive: true });
  const orphan = state('runs/w1/blobs', 'a'.repeat(64));
  writeFileSync(orphan, 'x');
  const { code, all, bad } = doctor('--repair');
  expect({ code, bad }).toEqual({ code: 0, bad: [] });
  const refused = all.find(({ check }) => check === 'payloads of w1');
  expect(refused?.repair).toContain(`Process ${run.child.pid} works in this repository`);
  expect(existsSync(orphan)).toBe(true);
  writeFileSync(go, '');
  expect((await run.done).code).toBe(0);
});

test('trees that were moved, edited or taken away are named by the doctor and at resume', async () => {
  const go = join(world.repo, '.git/go');
  const wait = `until test -e '${go}'; do sleep 0.1; done`;
  world.write(
    'three.yaml',
    `version: 1\nname: t\nlimits: { parallel: 3 }\ntasks:\n${['a', 'b', 'c']
      .map((id) => `  - { id: ${id}, run: "${wait}; echo 1 > ${id}.txt" }\n`)
      .join('')}`,
  );
  const run = world.start('run', 'three.yaml', '--run-id', 't1');
  await run.saw('task a started');
  await commandsOf(world, 't1', ['a', 'b', 'c']);
  run.child.kill('SIGKILL');
  await run.done;
  const at = (id: string): string => trees().find(({ task }) => task === id)?.path ?? '';
  const [a, b, c] = [at('a'), at('b'), at('c')];
  renameSync(a, `${a}-elsewhere`);
  writeFileSync(join(b, 'mine.txt'), 'mine\n');
  writeFileSync(join(b, '.git'), 'gitdir: /nowhere\n');
  rmSync(c, { recursive: true });
  const named = doctor().bad.filter(({ check }) => check === 'worktrees of t1');
  expect(named.map(({ detail }) => detail).toSorted()).toEqual([
    `${a}: it is at ${a}-elsewhere now`,
    `${b}: .git points to /nowhere`,
    `${c}: its folder is gone`,
  ]);
  expect(doctor('--repair').bad.filter(({ check }) => check === 'worktrees of t1')).toHaveLength(2);
  writeFileSync(go, '');
  const resumed = world.troupe('resume', 't1');
  expect(resumed.code, resumed.stdout + resumed.stderr).toBe(0);
  const mail = readFileSync(state('runs/t1/views/mailboxes/user.jsonl'), 'utf8');
  expect(mail).toContain('Not all trees of this run are as they were left');
  for (const path of [`${a}-elsewhere`, b, c]) expect(mail).toContain(path);
  // What is in them is nobody's to take: one is left alone, the other was saved before it was made anew.
  expect(existsSync(`${a}-elsewhere`)).toBe(true);
  const saved = world.git('for-each-ref', '--format=%(refname)', 'refs/troupe/saved/t1/b').trim();
  expect(world.git('show', `${saved}:mine.txt`)).toBe('mine\n');
});
