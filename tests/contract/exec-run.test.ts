import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExecRequest, type ExecResult, systemCode } from '../../src/kernel/index.ts';
import { NodeExec } from '../../src/platform/index.ts';
import { gone } from './exec-support.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-exec-run-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const exec = new NodeExec();

function shell(script: string, over: Partial<ExecRequest> = {}): ExecRequest {
  return {
    file: 'sh',
    args: ['-c', script],
    cwd: folder,
    env: { PATH: '/usr/bin:/bin:/usr/local/bin' },
    timeoutMs: 10_000,
    outputMax: 65_536,
    ...over,
  };
}

function short(result: ExecResult): unknown[] {
  return [result.code, result.signal, result.stdout, result.stderr];
}

describe('NodeExec.run', () => {
  it('tells exit code, stdout and stderr apart', async () => {
    const result = await exec.run(shell('echo out; echo err >&2; exit 3'));
    expect(result).toEqual({
      code: 3,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
      timedOut: false,
      truncated: false,
    });
  });

  it('passes arguments as they are, never through a shell', async () => {
    const args = ['%s|', '$HOME', '; exit 1', 'a b', "it's", '*', ''];
    const result = await exec.run(shell('', { file: 'printf', args }));
    expect(result.stdout).toBe("$HOME|; exit 1|a b|it's|*||");
  });

  it('gives the child the environment it was given and nothing else', async () => {
    const env = { PATH: '/usr/bin:/bin', ONLY: 'this' };
    const result = await exec.run(shell('', { file: 'env', args: [], env }));
    expect(result.stdout.trim().split('\n').toSorted()).toEqual([
      'ONLY=this',
      'PATH=/usr/bin:/bin',
    ]);
  });

  it('closes stdin, or feeds it, and does not mind a child that does not read it', async () => {
    expect(short(await exec.run(shell('cat')))).toEqual([0, null, '', '']);
    const fed = await exec.run(shell('cat', { stdin: 'hello' }));
    expect(fed.stdout).toBe('hello');
    const unread = await exec.run(shell('exit 5', { stdin: new Uint8Array(1_000_000) }));
    expect(unread.code).toBe(5);
  });

  it('tells the signal that ended the command', async () => {
    expect(short(await exec.run(shell('kill -TERM $$')))).toEqual([null, 'SIGTERM', '', '']);
  });

  it('keeps the first bytes of a long output and says so', async () => {
    const result = await exec.run(shell('yes | head -c 300000', { outputMax: 1000 }));
    expect([result.code, result.truncated, result.stdout.length]).toEqual([0, true, 1000]);
    const exact = await exec.run(shell('printf 12345', { outputMax: 5 }));
    expect([exact.truncated, exact.stdout]).toEqual([false, '12345']);
  });

  it('kills the whole group at the time limit and keeps what was written', async () => {
    const result = await exec.run(
      shell('echo started; sleep 60 & echo $! >pid; wait', { timeoutMs: 300 }),
    );
    expect([result.timedOut, result.signal, result.stdout]).toEqual([true, 'SIGKILL', 'started\n']);
    await gone(Number(await readFile(join(folder, 'pid'), 'utf8')));
  });

  it('kills the whole group at an abort, also one that came before', async () => {
    const abort = new AbortController();
    const running = exec.run(shell('trap "" TERM; sleep 60 & wait'), abort.signal);
    abort.abort();
    expect((await running).signal).toBe('SIGKILL');
    const never = await exec.run(shell('echo ran >never'), abort.signal);
    expect([never.signal, never.code]).toEqual(['SIGKILL', null]);
    await expect(readFile(join(folder, 'never'))).rejects.toThrow('ENOENT');
  });

  it('does not wait for a child that holds the output open', async () => {
    const inGroup = await exec.run(shell('sleep 60 & echo $! >held; echo done'));
    expect(short(inGroup)).toEqual([0, null, 'done\n', '']);
    await gone(Number(await readFile(join(folder, 'held'), 'utf8')));
    const escaped = await exec.run(
      shell(
        'setsid sh -c "echo \\$\\$ >escaped; exec sleep 60" & ' +
          'while [ ! -s escaped ]; do :; done; echo done',
      ),
    );
    expect(short(escaped)).toEqual([0, null, 'done\n', '']);
    process.kill(Number(await readFile(join(folder, 'escaped'), 'utf8')), 'SIGKILL');
  });

  it('rejects with the system code when the program cannot be started', async () => {
    const codeOf = (request: ExecRequest): Promise<string> =>
      exec.run(request).then(() => 'started', systemCode);
    expect(await codeOf(shell('', { file: 'no-such-program' }))).toBe('ENOENT');
    expect(await codeOf(shell('', { file: folder }))).toBe('EACCES');
    const noFolder = exec.run(shell('true', { cwd: join(folder, 'absent') }));
    await expect(noFolder).rejects.toThrow(/absent: ENOENT/u);
    expect(await codeOf(shell('', { args: ['a\0b'] }))).toBe('ERR_INVALID_ARG_VALUE');
  });
});
