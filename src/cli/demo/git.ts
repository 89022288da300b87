/**
 * git for making the demo's repository: no hooks, templates or signing of the user get into it, and no variable that
 * leads git elsewhere is passed on. (All git of a run is room `worktree`'s.)
 */
import { execFile } from 'node:child_process';

/** A git command that failed; `stderr` says why. */
export interface GitFailure {
  readonly kind: 'failed';
  readonly stderr: string;
}

export type GitOutcome = { readonly kind: 'ok'; readonly stdout: string } | GitFailure;

const CONFIG: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'commit.gpgSign=false',
  'core.autocrlf=false',
  'gc.auto=0',
];

/** Never rejects for what git says; rejects when there is no git. */
export function demoGit(
  cwd: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<GitOutcome> {
  const argv = [...CONFIG.flatMap((setting) => ['-c', setting]), ...args];
  return new Promise((resolve, reject) => {
    execFile('git', argv, { cwd, env: plainEnvironment(env) }, (error, stdout, stderr) => {
      if (error === null) resolve({ kind: 'ok', stdout });
      else if (typeof error.code === 'number') resolve({ kind: 'failed', stderr });
      else reject(new Error(`git could not be started: ${error.message}`, { cause: error }));
    });
  });
}

/** Without `GIT_DIR` and its kin, with which git would work on another repository. */
function plainEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !name.startsWith('GIT_'));
  return { ...Object.fromEntries(kept), GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
}
