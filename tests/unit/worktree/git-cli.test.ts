import { describe, expect, test } from 'vitest';
import type { Clock, Exec, ExecRequest, ExecResult } from '../../../src/kernel/index.ts';
import {
  Git,
  type GitSetup,
  gitArguments,
  gitEnvironment,
  lockedBy,
} from '../../../src/worktree/git-cli.ts';

const OK: ExecResult = {
  code: 0,
  signal: null,
  stdout: '',
  stderr: '',
  timedOut: false,
  truncated: false,
};
const LOCKED = "fatal: Unable to create '/r/.git/index.lock': File exists.\n";

function makeGit(answers: readonly Partial<ExecResult>[]): { git: Git; asked: ExecRequest[] } {
  const asked: ExecRequest[] = [];
  const exec: Exec = {
    run: (request) => {
      asked.push(request);
      const answer = answers[Math.min(asked.length, answers.length) - 1];
      return Promise.resolve({ ...OK, ...answer });
    },
    spawn: () => Promise.reject(new Error('unused')),
    sweep: () => Promise.resolve([]),
  };
  const clock: Clock = { now: () => 0, monotonicMs: () => 0, sleep: () => Promise.resolve() };
  const setup: GitSetup = {
    exec,
    clock,
    gitPath: '/usr/bin/git',
    env: {
      PATH: '/bin',
      HOME: '/home/u',
      GIT_DIR: '/evil',
      EDITOR: 'vi',
      GIT_CONFIG_GLOBAL: '/own',
    },
    identity: { name: 'U', email: 'u@x', fallback: false },
    carriedConfig: ['core.autocrlf=true'],
  };
  return { git: new Git(setup, { gitDir: '/r/.git', workTree: '/r' }), asked };
}

describe('a call', () => {
  test('W1: is pinned, placed, and made of nothing but what is named', async () => {
    const { git, asked } = makeGit([{}]);
    await git.run({ args: ['status'], config: ['x.y=z'] });
    const [request] = asked;
    expect(request?.args.join(' ')).toMatchInlineSnapshot(
      `"-c core.autocrlf=true -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.pager=cat -c core.sshCommand= -c core.quotePath=false -c core.fsync=committed,loose-object,reference -c core.filesRefLockTimeout=3000 -c core.packedRefsTimeout=3000 -c credential.helper= -c protocol.ext.allow=never -c safe.bareRepository=explicit -c gc.auto=0 -c maintenance.auto=false -c commit.gpgSign=false -c rerere.enabled=false -c submodule.recurse=false -c fetch.recurseSubmodules=false -c advice.detachedHead=false -c x.y=z --no-pager --git-dir=/r/.git --work-tree=/r status"`,
    );
    expect(request?.env).toMatchInlineSnapshot(`
      {
        "GIT_AUTHOR_EMAIL": "u@x",
        "GIT_AUTHOR_NAME": "U",
        "GIT_COMMITTER_EMAIL": "u@x",
        "GIT_COMMITTER_NAME": "U",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": "/home/u",
        "LC_ALL": "C",
        "PATH": "/bin",
      }
    `);
    expect(request).toMatchObject({ file: '/usr/bin/git', cwd: '/r' });
  });

  test("in the user's own tree their config holds, with the pins after it", () => {
    const { git } = makeGit([{}]);
    const env = gitEnvironment(git.setup, { userConfig: true });
    expect(env).toMatchObject({ GIT_CONFIG_GLOBAL: '/own' });
    expect(env).not.toHaveProperty('GIT_CONFIG_NOSYSTEM');
    expect(env).not.toHaveProperty('GIT_DIR');
    const args = gitArguments({ carriedConfig: ['core.hooksPath=/mine'] }, git.place, { args: [] });
    expect(args.lastIndexOf('core.hooksPath=/dev/null')).toBeGreaterThan(
      args.indexOf('core.hooksPath=/mine'),
    );
  });

  test('a lock of another process is waited for, a bounded number of times', async () => {
    const patient = makeGit([{ code: 128, stderr: LOCKED }, { code: 128, stderr: LOCKED }, {}]);
    await patient.git.run({ args: ['add'] });
    expect(patient.asked).toHaveLength(3);
    const stuck = makeGit([{ code: 128, stderr: LOCKED }]);
    await expect(stuck.git.run({ args: ['add'] })).rejects.toMatchObject({
      code: 'git/locked',
      data: { file: '/r/.git/index.lock' },
    });
    expect(stuck.asked).toHaveLength(5);
  });

  test.each<[Partial<ExecResult>, string]>([
    [{ code: 1, stderr: 'error: no\n' }, 'git/failed'],
    [{ code: null, signal: 'SIGKILL' }, 'git/failed'],
    [{ code: null, timedOut: true }, 'git/timeout'],
    [{ truncated: true }, 'git/output-too-large'],
  ])('%j is an error with a code', async (answer, code) => {
    await expect(makeGit([answer]).git.run({ args: ['x'] })).rejects.toMatchObject({ code });
  });

  test('exit codes that are answers are handed back', async () => {
    const { git } = makeGit([{ code: 1, stdout: 'x\n' }]);
    expect(await git.run({ args: ['merge-tree'], codes: [0, 1] })).toMatchObject({ code: 1 });
    expect(await git.lineOrNull(['symbolic-ref'])).toBeNull();
  });
});

test('a lock file is read from what git says', () => {
  expect(lockedBy({ code: 128, stderr: LOCKED })).toBe('/r/.git/index.lock');
  expect(lockedBy({ code: 0, stderr: LOCKED })).toBeNull();
  expect(lockedBy({ code: 128, stderr: 'fatal: bad object\n' })).toBeNull();
});
