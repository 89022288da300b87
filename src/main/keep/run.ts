/** A parent in this process: `troupe up --foreground`, or the detached process that `troupe up` starts. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXIT, ensureError, TroupeError } from '../../kernel/errors.ts';
import { JsonLogger } from '../../platform/json-logger.ts';
import { Keeper, type Kept, logFolder } from './keeper.ts';
import { LOG_BYTES_MAX, LOG_FILES } from './limits.ts';

export interface KeepOptions {
  /** Absolute; in the repository. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly adopt?: number | undefined;
  readonly onReady: (pid: number) => void;
}

/** Of the process that is kept. */
const ENTRY = fileURLToPath(new URL('../resident.js', import.meta.url));

export async function keepSupervisor(options: KeepOptions): Promise<Kept> {
  const { directory, env, adopt, onReady } = options;
  const state = stateOf(directory, env);
  mkdirSync(state, { recursive: true, mode: 0o700 });
  mkdirSync(logFolder(state), { recursive: true, mode: 0o700 });
  const logger = new JsonLogger({
    clock: { now: Date.now },
    file: join(logFolder(state), 'parent.log'),
    rotate: { bytes: LOG_BYTES_MAX, files: LOG_FILES },
    fields: { pid: process.pid },
  });
  const args = [directory];
  const keeper = new Keeper({ entry: ENTRY, args, env, state, logger, adopt, onReady });
  const stop = (): void => keeper.stop();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, stop);
  // Its terminal was closed. Without one it is a word of somebody who thinks of a daemon that reads its settings again.
  process.on('SIGHUP', () => (process.stdin.isTTY ? stop() : undefined));
  const kept = await keeper.keep();
  logger.log('info', 'the parent ends', { ...kept });
  logger.close();
  return kept;
}

/** `.git/troupe` of the repository around `directory`. */
function stateOf(directory: string, env: Readonly<Record<string, string>>): string {
  try {
    const { GIT_DIR: _dir, GIT_WORK_TREE: _tree, GIT_COMMON_DIR: _common, ...rest } = env;
    const args = ['rev-parse', '--path-format=absolute', '--git-common-dir'];

    return join(
      execFileSync('git', args, {
        cwd: directory,
        env: rest,
        stdio: 'pipe',
        encoding: 'utf8',
      }).trim(),
      'troupe',
    );
  } catch (error) {
    throw new TroupeError({
      code: 'up/no-repository',
      message: `${directory} is in no git repository: ${ensureError(error).message.split('\n').at(-1) ?? ''}`,
      hint: 'Name one with --workspace.',
      exit: EXIT.usage,
      cause: error,
    });
  }
}
