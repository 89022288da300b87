/**
 * The few file operations that the `Files` port does not have (real path, symbolic link, copy with modes), by the
 * standard programs of the host. Neighbours: `carry.ts` decides what is copied and linked.
 */
import type { Exec, ExecResult } from '../kernel/index.ts';
import { baseEnvironment } from './git-cli.ts';
import { LIMITS } from './limits.ts';
import type { WorktreeDeps } from './repository.ts';

type HostDeps = Pick<WorktreeDeps, 'exec' | 'env'>;

/** The path without links in it, or null when something of it is missing. */
export async function realPath(deps: HostDeps, path: string): Promise<string | null> {
  const result = await host(deps, 'readlink', ['-f', '--', path]);
  if (result.code !== 0) return null;
  return result.stdout.replace(/\n$/, '') || null;
}

/** A symbolic link at `path` to `target`; null, or the error text. */
export async function makeLink(
  deps: HostDeps,
  options: { readonly target: string; readonly path: string },
): Promise<string | null> {
  return problem(await host(deps, 'ln', ['-s', '--', options.target, options.path]));
}

/** A file or folder with modes and times; links in it stay links. null, or the error text. */
export async function copyPath(
  deps: HostDeps,
  options: { readonly from: string; readonly to: string },
): Promise<string | null> {
  return problem(await host(deps, 'cp', ['-R', '-P', '-p', '--', options.from, options.to]));
}

/** Makes everything under `path` writable for its owner, so that it can be removed; null, or the error text. */
export async function makeRemovable(deps: HostDeps, path: string): Promise<string | null> {
  return problem(await host(deps, 'chmod', ['-R', 'u+rwX', '--', path]));
}

function host(deps: HostDeps, file: string, args: readonly string[]): Promise<ExecResult> {
  const exec: Exec = deps.exec;
  return exec.run({
    file,
    args,
    cwd: '/',
    env: baseEnvironment(deps.env),
    stdin: '',
    timeoutMs: LIMITS.longTimeoutMs,
    outputMax: LIMITS.shortOutputMax,
  });
}

function problem(result: ExecResult): string | null {
  if (result.code === 0) return null;
  return result.timedOut ? 'it took too long' : result.stderr.trim() || `exit ${result.code}`;
}
