/**
 * simple-git, and nothing else knows it. It serves calls that only read and that need neither stdin nor an exit code as
 * an answer. Its own safety net refuses the very pins that make a call safe here (no hooks, no fsmonitor, fixed git
 * directory), hence the `unsafe` flags; and a call that fails without a word resolves as success, hence one instance for
 * each call, whose exit code is read in the `errors` hook.
 */
import type { SimpleGitOptions } from 'simple-git';
import { ensureError } from '../kernel/index.ts';
import { errors } from './errors.ts';
import { type Git, gitArguments, gitEnvironment } from './git-cli.ts';
import { LIMITS } from './limits.ts';

const UNSAFE: NonNullable<SimpleGitOptions['unsafe']> = {
  allowUnsafeConfigPaths: true,
  allowUnsafeCredentialHelper: true,
  // An absolute path may have spaces in it.
  allowUnsafeCustomBinary: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeHooksPath: true,
  allowUnsafePager: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeSshCommand: true,
};

/** Output of a reading call. Throws `git/failed`. */
export async function readGit(git: Git, args: readonly string[]): Promise<string> {
  let exitCode = 0;
  let stderr = '';
  const env = gitEnvironment(git.setup);
  // Loaded when it is first needed: commands that touch no repository should not pay for it.
  const { simpleGit } = await import('simple-git');
  const client = simpleGit({
    baseDir: git.place.workTree ?? git.place.gitDir,
    binary: git.setup.gitPath,
    unsafe: UNSAFE,
    allowEnvironment: Object.keys(env),
    timeout: { block: LIMITS.longTimeoutMs },
    trimmed: false,
    errors: (error, result) => {
      exitCode = result.exitCode;
      stderr = result.stdErr.map((chunk) => chunk.toString('utf8')).join('');
      return exitCode === 0 ? error : undefined;
    },
  }).env(env);
  let output: string;
  try {
    output = await client.raw(gitArguments(git.setup, git.place, { args }));
  } catch (error) {
    throw errors.gitFailed(args.slice(0, 2).join(' '), null, ensureError(error).message);
  }
  if (exitCode !== 0) throw errors.gitFailed(args.slice(0, 2).join(' '), exitCode, stderr);
  return output;
}
