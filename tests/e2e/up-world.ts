/** A repository with a supervisor that may be up, which is taken down after each test, whatever happened in it. */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { StatusResult } from '../../src/protocol/wire.ts';
import { makeWorld, type World } from './cli-world.ts';

export interface UpWorld {
  world: World;
  /** Follows the run until it is over. */
  ended(run: string): Promise<void>;
}

/** `whole`: one repository for all tests of the file, which go on from each other. */
export function useUpWorld(whole = false): UpWorld {
  const up = {} as UpWorld;
  const [before, after] = whole ? [beforeAll, afterAll] : [beforeEach, afterEach];
  before(() => {
    up.world = makeWorld();
    up.ended = async (run) => {
      const followed = await up.world.start('events', '--follow', '--run', run).done;
      if (followed.code !== 0) throw new Error(followed.stderr);
    };
  });
  after(() => {
    const { world } = up;
    const parent = noteOf(world)?.pid;
    if (parent !== undefined && isThere(parent)) world.troupe('down', '--now');
    const pids = [noteOf(world)?.pid, noteOf(world)?.supervisor, supervisorOf(world)];
    for (const pid of pids)
      if (typeof pid === 'number' && isThere(pid)) process.kill(pid, 'SIGKILL');
    world.remove();
  });
  return up;
}

/** Of a task that goes on until the file that is given back is there. */
export function waitingTeam(world: World): string {
  const go = join(world.repo, '.git/go');
  rmSync(go, { force: true });
  world.write(
    'wait.yaml',
    `version: 1
name: wait
tasks:
  - { id: quick, run: echo 1 > quick.txt }
  - { id: wait, run: "until test -e '${go}'; do sleep 0.1; done; echo 2 > wait.txt", needs: [quick] }
`,
  );
  return go;
}

/** Resolves when the commands of these tasks run, in their trees. */
export async function commandsOf(
  world: World,
  run: string,
  tasks: readonly string[],
): Promise<void> {
  const events = world.start(
    'events',
    '--follow',
    '--run',
    run,
    '--type',
    'proc.started',
    '--json',
  );
  for (const task of tasks) await events.saw(`"task":"${task}"`);
  events.child.kill('SIGKILL');
  await events.done;
}

export const json = (world: World, ...args: string[]): any =>
  JSON.parse(world.troupe(...args, '--json').stdout);

export function statusOf(world: World): StatusResult & { parent: number; log: string } {
  return json(world, 'status');
}

export function noteOf(world: World): any {
  const file = join(world.repo, '.git/troupe/parent.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

function supervisorOf(world: World): number | undefined {
  const file = join(world.repo, '.git/troupe/supervisor.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).pid : undefined;
}

/** A zombie that nobody has reaped is gone. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2)[0] !== 'Z';
  } catch {
    return false;
  }
}
