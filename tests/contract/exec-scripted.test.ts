import { describe, expect, it } from 'vitest';
import type { ExecRequest, SpawnRequest } from '../../src/kernel/index.ts';
import { MemoryFiles, ScriptedExec, VirtualClock } from '../../src/testing/index.ts';

function setUp(): { exec: ScriptedExec; clock: VirtualClock; files: MemoryFiles } {
  const clock = new VirtualClock(0);
  const files = new MemoryFiles();
  return { exec: new ScriptedExec({ clock, files }), clock, files };
}

const command = { file: 'npm', args: ['test', '--', 'parser'], cwd: '/w', env: {} };
const request: ExecRequest = { ...command, timeoutMs: 1000, outputMax: 1000 };

function spawnRequest(over: Partial<SpawnRequest> = {}): SpawnRequest {
  return { ...command, outputPath: '/out.log', outputMax: 100, marker: 'run/a', ...over };
}

describe('ScriptedExec', () => {
  it('answers by the first words of a command, the newest answer first', async () => {
    const { exec } = setUp();
    exec.whenRun(['npm'], { code: 1 }).whenRun(['npm', 'test'], { stdout: 'fine' });
    expect(await exec.run(request)).toMatchObject({ code: 0, stdout: 'fine', signal: null });
    expect((await exec.run({ ...request, args: ['ci'] })).code).toBe(1);
    expect(exec.runs.map((run) => run.args[0])).toEqual(['test', 'ci']);
  });

  it('fails on what nobody scripted', async () => {
    const { exec } = setUp();
    await expect(exec.run(request)).rejects.toThrow('no answer for "npm" "test" "--" "parser"');
    await expect(exec.spawn(spawnRequest())).rejects.toThrow('no answer');
  });

  it('runs a spawned program on the clock and writes its output', async () => {
    const { exec, clock, files } = setUp();
    exec.whenSpawned(['npm'], { output: 'two\nlines\n', ms: 50, code: 3 });
    const spawned = await exec.spawn(spawnRequest());
    expect(exec.running).toEqual(['run/a']);
    expect(await clock.runUntil(spawned.exited)).toEqual({
      code: 3,
      signal: null,
      overflow: false,
      left: [],
    });
    expect(clock.monotonicMs()).toBe(50);
    expect(new TextDecoder().decode(await files.readFile('/out.log'))).toBe('two\nlines\n');
    expect(exec.running).toEqual([]);
  });

  it('obeys TERM, or KILL after the grace, and the cap', async () => {
    const { exec, clock } = setUp();
    exec.whenSpawned(['npm'], { ms: 'until-killed' });
    const obeys = await exec.spawn(spawnRequest());
    obeys.kill(1000);
    expect((await obeys.exited).code).toBe(143);
    exec.whenSpawned(['npm'], { ms: 'until-killed', onTerm: 'ignores', left: [7] });
    const ignores = await exec.spawn(spawnRequest());
    ignores.kill(1000);
    expect(await clock.runUntil(ignores.exited)).toMatchObject({ code: 137, left: [7] });
    expect(clock.monotonicMs()).toBe(1000);
    exec.whenSpawned(['npm'], { output: 'x'.repeat(101) });
    expect((await (await exec.spawn(spawnRequest())).exited).overflow).toBe(true);
  });

  it('sweeps by marker', async () => {
    const { exec } = setUp();
    exec.whenSpawned(['npm'], { ms: 'until-killed' });
    for (const marker of ['run/a', 'run/b', 'run2/a']) await exec.spawn(spawnRequest({ marker }));
    expect(await exec.sweep('run')).toEqual([]);
    expect(exec.running).toEqual(['run2/a']);
  });
});
