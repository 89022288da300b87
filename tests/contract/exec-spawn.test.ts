import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SpawnExit, type SpawnRequest, systemCode } from '../../src/kernel/index.ts';
import { findWrappers, NodeExec } from '../../src/platform/index.ts';
import { eventually, marked } from './exec-support.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-exec-spawn-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const found = await findWrappers({
  folders: (process.env['PATH'] ?? '').split(':').filter((name) => name.startsWith('/')),
});
let count = 0;

describe.each(found)('NodeExec.spawn by $isolation ($detail)', (wrapper) => {
  const exec = new NodeExec({
    wrappers: Promise.resolve([wrapper]),
    // The tests may run on worker threads, which outlive their commands.
    onWorkerThread: true,
  });

  function request(script: string, over: Partial<SpawnRequest> = {}): SpawnRequest {
    count += 1;
    const marker = `t${String(process.pid)}-${String(count)}/cmd`;
    return {
      file: 'sh',
      args: ['-c', script],
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', MARK: marker },
      outputPath: join(folder, `${String(count)}.log`),
      outputMax: 1_000_000,
      marker,
      ...over,
    };
  }

  async function run(what: SpawnRequest): Promise<{ exit: SpawnExit; output: string }> {
    const spawned = await exec.spawn(what);
    const exit = await spawned.exited;
    return { exit, output: await readFile(what.outputPath, 'utf8') };
  }

  /** Starts it and waits until it has written `ready`. */
  async function startReady(what: SpawnRequest): Promise<Awaited<ReturnType<NodeExec['spawn']>>> {
    const spawned = await exec.spawn(what);
    await outputHas(what, 'ready');
    return spawned;
  }

  const clean = { overflow: false, left: [] };

  it('passes exit codes on', async () => {
    expect((await run(request('exit 0'))).exit).toEqual({ code: 0, signal: null, ...clean });
    expect((await run(request('exit 3'))).exit).toEqual({ code: 3, signal: null, ...clean });
    expect((await run(request('exit 255'))).exit.code).toBe(255);
  });

  it('tells a death by signal as a shell does', async () => {
    for (const [name, code] of [
      ['TERM', 143],
      ['KILL', 137],
      ['HUP', 129],
      ['ABRT', 134],
    ] as const) {
      const { exit, output } = await run(request(`ulimit -c 0; kill -${name} $$; sleep 60`));
      expect([name, exit.code, exit.left, output]).toEqual([name, code, [], '']);
    }
  });

  it('writes both streams to the file as they come, readable by the owner alone', async () => {
    const what = request('echo a; echo b >&2; echo c; cat; echo d >&2');
    expect((await run(what)).output).toBe('a\nb\nc\nd\n');
    expect((await stat(what.outputPath)).mode & 0o777).toBe(0o600);
  });

  it('gives the command its environment, its folder and its arguments as they are', async () => {
    const env = { PATH: '/usr/bin:/bin', A: '1', PWD: '/wrong', WITH_Ü: 'ü\n=' };
    const { output } = await run(request('', { file: 'env', args: ['-0'], env, marker: 'r/p' }));
    const lines = output.split('\0').filter((line) => line !== '');
    const expected = Object.entries({ ...env, PWD: folder, TROUPE_PROC: 'r/p' }).map((pair) =>
      pair.join('='),
    );
    const passed = wrapper.isolation === 'none' ? expected : expected.filter(isShellName);
    expect(lines.toSorted()).toEqual(passed.toSorted());
    const args = ['%s|', 'a b', '$HOME', '', '--', '-c'];
    expect((await run(request('', { file: 'printf', args }))).output).toBe('a b|$HOME||--|-c|');
    expect((await run(request('pwd -P; test -t 0 || echo closed'))).output).toBe(
      `${folder}\nclosed\n`,
    );
  });

  it.skipIf(wrapper.isolation === 'none')('lets the command see its own tree only', async () => {
    const { output } = await run(request('echo $$; kill -0 1 && ls -d /proc/[0-9]* | wc -l'));
    const [pid, seen] = output.trim().split('\n').map(Number);
    expect(pid).toBeLessThan(10);
    expect(seen).toBeLessThan(10);
  });

  it('rejects with the system code when the program cannot be started', async () => {
    const codeOf = (what: SpawnRequest): Promise<string> =>
      exec.spawn(what).then(() => 'started', systemCode);
    expect(await codeOf(request('', { file: 'no-such-program' }))).toBe('ENOENT');
    expect(await codeOf(request('', { file: './absent' }))).toBe('ENOENT');
    expect(await codeOf(request('', { file: folder }))).toBe('EACCES');
    expect(await codeOf(request('true', { cwd: join(folder, 'absent') }))).toBe('ENOENT');
    expect(await codeOf(request('true', { outputPath: join(folder, 'no/x.log') }))).toBe('ENOENT');
  });

  it.each(Object.entries(STRAYS))('S: leaves nothing when the leader ends: %s', async (_, make) => {
    const what = request('');
    const script = `${make(what.marker)} & echo ready; exit 4`;
    const { exit } = await run({ ...what, args: ['-c', script] });
    expect(exit).toEqual({ code: 4, signal: null, ...clean });
    expect(marked(what.marker)).toEqual([]);
  });

  it.each(Object.entries(STRAYS))('S: leaves nothing after kill: %s', async (_, make) => {
    const what = request('');
    const script = `trap '' TERM; ${make(what.marker)} & echo ready; while :; do sleep 60; done`;
    const spawned = await startReady({ ...what, args: ['-c', script] });
    spawned.kill(0);
    const exit = await spawned.exited;
    expect([exit.code, exit.left]).toEqual([137, []]);
    expect(marked(what.marker)).toEqual([]);
  });

  it('sends TERM first, so that a command can end in its own way', async () => {
    const what = request("trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done");
    const spawned = await startReady(what);
    spawned.kill(60_000);
    spawned.kill(60_000);
    expect(await spawned.exited).toEqual({ code: 5, signal: null, ...clean });
    expect(await readFile(what.outputPath, 'utf8')).toMatch(/bye\n$/u);
  });

  it('sends TERM to the whole tree, also to another session', async () => {
    const what = request('');
    const trap = "trap 'echo child >&2; exit' TERM; echo ready; while :; do sleep 0.01; done";
    const script = `trap : TERM; setsid sh -c "${trap}" & wait $!; wait $!; echo after; exit 6`;
    const spawned = await startReady({ ...what, args: ['-c', script] });
    spawned.kill(60_000);
    expect((await spawned.exited).code).toBe(6);
    expect(await readFile(what.outputPath, 'utf8')).toMatch(/child\nafter\n$/u);
  });

  it('kills after the grace, and sooner when it is asked again', async () => {
    const first = await startReady(request("trap '' TERM; echo ready; while :; do sleep 60; done"));
    first.kill(50);
    expect((await first.exited).code).toBe(137);
    const second = await startReady(
      request("trap '' TERM; echo ready; while :; do sleep 60; done"),
    );
    second.kill(60_000);
    second.kill(0);
    expect((await second.exited).code).toBe(137);
    second.kill(0);
  });

  it('ends a command whose output grows past the cap, and cuts the rest', async () => {
    const what = request('yes troupe & wait', { outputMax: 100_000 });
    const { exit, output } = await run(what);
    expect([exit.overflow, exit.left, output.length]).toEqual([true, [], 100_000]);
    expect(marked(what.marker)).toEqual([]);
  });

  it('knows the leader by pid and start time', async () => {
    const spawned = await startReady(request('echo ready; sleep 60'));
    expect(spawned.pid).toBeGreaterThan(1);
    expect(spawned.startedAt).toMatch(
      process.platform === 'linux' ? /^[0-9a-f-]{36}:\d+$/u : /\d/u,
    );
    spawned.kill(0);
    await spawned.exited;
  });

  it('sweeps what carries a marker or one below it, and nothing else', async () => {
    const base = `sweep${String(process.pid)}-${String(count)}`;
    const make = (marker: string): SpawnRequest => request('echo ready; sleep 60', { marker });
    const [a, b, c] = await Promise.all(
      [`${base}/a`, `${base}/b`, `${base}2/a`].map((marker) => startReady(make(marker))),
    );
    expect(await exec.sweep(base)).toEqual([]);
    expect((await a?.exited)?.code).toBe(137);
    expect((await b?.exited)?.code).toBe(137);
    expect(marked(`TROUPE_PROC=${base}/`)).toEqual([]);
    expect(marked(`TROUPE_PROC=${base}2/a`)).not.toEqual([]);
    c?.kill(0);
    await c?.exited;
    await expect(exec.sweep('')).rejects.toThrow('needs a marker');
  });

  async function outputHas(what: SpawnRequest, text: string): Promise<void> {
    const { readFileSync } = await import('node:fs');
    await eventually(`${text} in the output`, () =>
      readFileSync(what.outputPath, 'utf8').includes(text) ? true : undefined,
    );
  }
});

describe('NodeExec on a worker thread', () => {
  it('refuses to spawn there', async () => {
    const { isMainThread } = await import('node:worker_threads');
    const request: SpawnRequest = {
      file: 'true',
      args: [],
      cwd: folder,
      env: { PATH: '/usr/bin:/bin' },
      outputPath: join(folder, 'thread.log'),
      outputMax: 1000,
      marker: 'thread/x',
    };
    const started = new NodeExec().spawn(request).then(
      () => 'started',
      (error: unknown) => systemCode(error),
    );
    expect(await started).toBe(isMainThread ? 'started' : 'exec/not-main-thread');
  });
});

/** Ways to outlive one's parent; `mark` makes each findable also without its environment. */
const STRAYS: Record<string, (mark: string) => string> = {
  background: (mark) => `sh -c 'sleep 60; : ${mark}'`,
  nohup: (mark) => `nohup sh -c 'sleep 60; : ${mark}' >/dev/null 2>&1`,
  'ignores TERM and HUP': (mark) =>
    `sh -c 'trap "" TERM HUP; while :; do sleep 60; done; : ${mark}'`,
  setsid: (mark) => `setsid sh -c 'trap "" TERM; while :; do sleep 60; done; : ${mark}'`,
  'double fork': (mark) => `( (setsid sh -c 'sleep 60; : ${mark}' &) & )`,
  'daemon that holds the output': (mark) =>
    `( (cd / && setsid sh -c 'trap "" TERM HUP INT; exec sleep 60' ${mark} </dev/null &) & )`,
};

function isShellName(entry: string): boolean {
  return /^[A-Za-z_]\w*=/u.test(entry);
}
