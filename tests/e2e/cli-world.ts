/** A repository of its own with a home of its own, and the built `troupe` run on it as a process. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const OUTPUT_MAX = 64 * 1024 * 1024;
const BIN = fileURLToPath(new URL('../../bin/troupe.js', import.meta.url));

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCommand {
  readonly child: ChildProcess;
  readonly done: Promise<Result>;
  /** Resolves when the text has been written to the standard output. */
  saw(text: string): Promise<void>;
}

export interface World {
  readonly root: string;
  readonly repo: string;
  readonly env: Readonly<Record<string, string>>;
  write(path: string, content: string | Uint8Array): void;
  git(...args: string[]): string;
  troupe(...args: string[]): Result;
  start(...args: string[]): RunningCommand;
  /** With more in its environment. */
  startWith(env: Readonly<Record<string, string>>, ...args: string[]): RunningCommand;
  at(cwd: string, ...args: string[]): Result;
  remove(): void;
}

export interface WorldOptions {
  /** Name of the repository's folder. */
  readonly folder?: string;
  /** Default: one commit with a README. */
  readonly commit?: boolean;
}

export function makeWorld(options: WorldOptions = {}): World {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-cli-')));
  const repo = join(root, options.folder ?? 'repo');
  mkdirSync(repo);
  mkdirSync(join(root, 'home'));
  mkdirSync(join(root, 'tmp'));
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: join(root, 'home'),
    TMPDIR: join(root, 'tmp'),
    LANG: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Test',
    GIT_AUTHOR_EMAIL: 'test@example.org',
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'test@example.org',
  };
  const at = (cwd: string, ...args: string[]): Result => {
    const done = spawnSync(process.execPath, [BIN, ...args], {
      cwd,
      env,
      encoding: 'utf8',
      timeout: 60_000,
      maxBuffer: OUTPUT_MAX,
    });
    return { code: done.status, stdout: done.stdout, stderr: done.stderr };
  };
  const git = (...args: string[]): string => {
    const done = spawnSync('git', args, {
      cwd: repo,
      env,
      encoding: 'utf8',
      maxBuffer: OUTPUT_MAX,
    });
    if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`);
    return done.stdout;
  };
  const write = (path: string, content: string | Uint8Array): void => {
    const whole = join(repo, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, content);
  };
  git('init', '-q', '-b', 'main');
  if (options.commit !== false) {
    write('README.md', 'A repository\n');
    git('add', '-A');
    git('commit', '-q', '-m', 'Start');
  }
  return {
    root,
    repo,
    env,
    write,
    git,
    at,
    troupe: (...args) => at(repo, ...args),
    start: (...args) => startCommand(repo, env, args),
    startWith: (more, ...args) => startCommand(repo, { ...env, ...more }, args),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

function startCommand(
  cwd: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): RunningCommand {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const waiting = new Set<() => void>();
  // A character may lie in two chunks.
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (chunk: string) => {
    stdout += chunk;
    for (const check of waiting) check();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const done = new Promise<Result>((resolve) => {
    child.on('close', (code) => {
      resolve({ code, stdout, stderr });
      for (const check of waiting) check();
    });
  });
  return {
    child,
    done,
    saw: (text) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (stdout.includes(text)) resolve();
          else if (child.exitCode !== null) {
            reject(new Error(`ended without ${JSON.stringify(text)}:\n${stdout}\n${stderr}`));
          } else return;
          waiting.delete(check);
        };
        waiting.add(check);
        check();
      }),
  };
}
