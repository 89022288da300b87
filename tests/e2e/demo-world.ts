/** A place for demos and examples: a home without a git identity, the built `troupe` as a process, and what may be left. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MailRow, RunRow, TaskRow } from '../../src/protocol/index.ts';

export const PACKAGE: string = fileURLToPath(new URL('../../', import.meta.url));
const BIN = join(PACKAGE, 'bin/troupe.js');

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

export class Place {
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;

  constructor() {
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-demo-')));
    for (const folder of ['home', 'tmp']) mkdirSync(join(this.root, folder));
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: join(this.root, 'home'),
      TMPDIR: join(this.root, 'tmp'),
      LANG: 'C.UTF-8',
      GIT_CONFIG_NOSYSTEM: '1',
    };
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  /** Its output is read only when it has ended; with a pipe that nobody reads it would stand still. */
  start(cwd: string, ...args: string[]): Started {
    const child = spawn(process.execPath, [BIN, ...args], {
      cwd,
      env: this.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const ended = new Promise<Ended>((resolve) => {
      child.on('close', (code, signal) => {
        resolve({ code, signal, stdout, stderr });
      });
    });
    return { child, ended };
  }

  troupe(cwd: string, ...args: string[]): Promise<Ended> {
    return this.start(cwd, ...args).ended;
  }

  /** NDJSON and single documents alike. */
  async json(cwd: string, ...args: string[]): Promise<unknown[]> {
    const { code, stdout, stderr } = await this.troupe(cwd, ...args, '--json');
    if (code !== 0) throw new Error(`troupe ${args.join(' ')} ended with ${code}: ${stderr}`);
    return parseLines(stdout);
  }

  async runs(repo: string): Promise<RunRow[]> {
    return (await this.json(repo, 'runs')).flat() as RunRow[];
  }

  async tasks(repo: string): Promise<TaskRow[]> {
    return (await this.json(repo, 'tasks')).flat() as TaskRow[];
  }

  async mail(repo: string): Promise<MailRow[]> {
    return (await this.json(repo, 'tail')) as MailRow[];
  }

  git(repo: string, ...args: string[]): string {
    const options = { cwd: repo, env: this.env, encoding: 'utf8' } as const;
    return execFileSync('git', args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  }

  /** The files of a commit, in a folder of their own. */
  unpack(repo: string, commit: string): string {
    const folder = mkdtempSync(join(this.root, 'unpacked-'));
    const archive = execFileSync('git', ['archive', commit], { cwd: repo, env: this.env });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    return folder;
  }

  /** Exit status of `npm test`. */
  npmTest(folder: string): number | null {
    return spawnSync('npm', ['test'], { cwd: folder, env: this.env }).status;
  }

  /** What a run must not leave behind, each with its name; empty when all is clean. */
  leftovers(repo: string, run: string): string[] {
    const state = join(repo, '.git/troupe');
    const left = readdirSync(state).filter((name) => /^(?:lock|supervisor|token)/.test(name));
    const trees = this.git(repo, 'worktree', 'list', '--porcelain').match(/^worktree /gm) ?? [];
    if (trees.length !== 1) left.push(`${trees.length - 1} worktrees`);
    const folder = join(this.root, 'home/.local/state/troupe/trees');
    if (existsSync(folder)) {
      for (const hash of readdirSync(folder)) {
        for (const one of readdirSync(join(folder, hash))) {
          for (const tree of readdirSync(join(folder, hash, one)))
            left.push(`trees/${one}/${tree}`);
        }
      }
    }
    for (const name of readdirSync(this.root)) if (name.startsWith('.')) left.push(name);
    return [...left, ...processesOf(run)];
  }
}

export function parseLines(text: string): unknown[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): unknown => JSON.parse(line));
}

/** Processes that a run started: each carries `TROUPE_PROC=<run>/<id>`. */
export function processesOf(run: string): string[] {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => readOrEmpty(`/proc/${pid}/environ`).includes(`TROUPE_PROC=${run}/`))
    .map((pid) => `process ${pid}: ${readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`);
}

/** A process may end while one looks. */
function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
