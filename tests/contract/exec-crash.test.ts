/** S: no process outlives the supervisor, also after `kill -9`. The supervisor is a small Node process here. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findWrappers, NodeExec } from '../../src/platform/index.ts';
import { bundlePlatform } from './exec-bundle.ts';
import { eventually, marked } from './exec-support.ts';

let folder: string;
let bundle: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-exec-crash-'));
  bundle = await bundlePlatform(folder);
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const folders = (process.env['PATH'] ?? '').split(':').filter((name) => name.startsWith('/'));
const found = await findWrappers({ folders });

/** Starts the commands it is told, says so, and waits for its death. */
const SUPERVISOR = `
const { NodeExec, findWrappers } = await import(process.argv[1]);
const { rung, folders, requests, early } = JSON.parse(process.argv[2]);
const wrappers = (await findWrappers({ folders })).filter((one) => one.isolation === rung);
const exec = new NodeExec({ wrappers: Promise.resolve(wrappers) });
const started = requests.map((request) => exec.spawn(request));
if (early) setTimeout(() => process.kill(process.pid, 'SIGKILL'), Math.random() * 15);
await Promise.all(started);
console.log('ready');
setInterval(() => undefined, 1000);
`;

describe.each(found)('NodeExec.spawn by $isolation and the death of its process', (wrapper) => {
  function supervise(marker: string, early: boolean): ChildProcess {
    const requests = Object.entries(commands(marker)).map(([name, script]) => ({
      file: 'sh',
      args: ['-c', script],
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      outputPath: join(folder, `${marker.replace('/', '-')}-${name}.log`),
      outputMax: 1_000_000,
      marker: `${marker}/${name}`,
    }));
    const order = JSON.stringify({ rung: wrapper.isolation, folders, requests, early });
    const args = ['--input-type=module', '-e', SUPERVISOR, bundle, order];
    return spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  }

  /** In a namespace all is gone by itself; else recovery finds what is left by its marker. */
  async function expectNothing(marker: string, swept: boolean): Promise<void> {
    if (swept) expect(await new NodeExec().sweep(marker)).toEqual([]);
    // A fork under way bears no mark yet, so it must be quiet for some looks.
    let quiet = 0;
    await eventually('the end of all commands', () => {
      quiet = marked(marker).length === 0 ? quiet + 1 : 0;
      return quiet > 10 ? true : undefined;
    });
  }

  it('S: leaves nothing after kill -9', async () => {
    const marker = `crash-${wrapper.isolation}-${String(process.pid)}`;
    const supervisor = supervise(marker, false);
    await new Promise((done) => supervisor.stdout?.once('data', done));
    const running = Object.keys(commands(marker)).length;
    await eventually('all commands', () =>
      marked(`: ${marker}`).length >= running ? true : undefined,
    );
    supervisor.kill('SIGKILL');
    await new Promise((done) => supervisor.once('exit', done));
    await expectNothing(marker, wrapper.isolation === 'none');
  });

  it.each([1, 2, 3, 4])('S: leaves nothing after kill -9 amid starts, %i', async (round) => {
    const marker = `early${String(round)}-${wrapper.isolation}-${String(process.pid)}`;
    const supervisor = supervise(marker, true);
    await new Promise((done) => supervisor.once('exit', done));
    // bwrap may leave a process that waits for it, without a command.
    await expectNothing(marker, wrapper.isolation !== 'unshare');
  });
});

/** Each has the marker in the arguments of a shell that runs on, wherever its environment went. */
function commands(marker: string): Record<string, string> {
  const loop = `trap "" TERM HUP INT; while :; do sleep 60; done; : ${marker}`;
  const all = {
    plain: loop,
    background: `sh -c '${loop}' & wait`,
    nohup: `nohup sh -c '${loop}' & wait`,
    setsid: `setsid sh -c '${loop}' & wait`,
    daemon: `( (setsid sh -c '${loop}' >/dev/null 2>&1 </dev/null &) & ); sleep 60; : ${marker}`,
  };
  return all;
}
