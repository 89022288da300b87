/**
 * Temporary git repositories for tests: a work tree, a home and a folder for trees under one temporary folder, which
 * `dispose` removes. Nothing of the machine's own git config is seen.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { NodeExec } from '../../src/platform/node-exec.ts';
import { NodeFiles } from '../../src/platform/node-files.ts';
import { SystemClock } from '../../src/platform/system-clock.ts';
import { openRepository, type Repository, type WorktreeDeps } from '../../src/worktree/index.ts';

export interface TempRepo {
  /** The temporary folder itself. */
  readonly base: string;
  /** The user's work tree. */
  readonly root: string;
  readonly home: string;
  /** Where trees go. */
  readonly trees: string;
  readonly deps: WorktreeDeps;
  /** Runs plain git as the user would, in the work tree or in `cwd`; returns stdout. */
  git(args: readonly string[], cwd?: string): string;
  write(path: string, content: string, root?: string): void;
  read(path: string, root?: string): string;
  /** `write` for each file, then `add -A` and `commit`; the new commit. */
  commit(message: string, files: Readonly<Record<string, string>>, root?: string): string;
  open(dir?: string): Promise<Repository>;
  /** An executable file, for hooks. */
  script(path: string, body: string): void;
  dispose(): void;
}

export interface TempRepoOptions {
  /** Folder name of the work tree. */
  readonly name?: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Without a first commit. */
  readonly empty?: boolean;
}

export function makeRepo(options: TempRepoOptions = {}): TempRepo {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-git-')));
  const root = join(base, options.name ?? 'repo');
  const home = join(base, 'home');
  const trees = join(base, 'trees');
  for (const folder of [root, home, trees]) mkdirSync(folder, { recursive: true });
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const deps: WorktreeDeps = {
    exec: new NodeExec(),
    files: new NodeFiles(),
    clock: new SystemClock(),
    env,
    sha256: (text) => createHash('sha256').update(text).digest('hex'),
  };
  const git = (args: readonly string[], cwd = root): string =>
    execFileSync('git', [...args], {
      cwd,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const write = (path: string, content: string, at = root): void => {
    mkdirSync(dirname(join(at, path)), { recursive: true });
    writeFileSync(join(at, path), content);
  };
  const commit: TempRepo['commit'] = (message, files, at = root) => {
    for (const [path, content] of Object.entries(files)) write(path, content, at);
    git(['add', '-A'], at);
    git(['commit', '-q', '--allow-empty', '-m', message], at);
    return git(['rev-parse', 'HEAD'], at).trim();
  };
  git(['init', '-q', '-b', 'main']);
  git(['config', 'user.name', 'Uma User']);
  git(['config', 'user.email', 'uma@example.org']);
  if (options.empty !== true) commit('first', options.files ?? { 'a.txt': 'one\ntwo\nthree\n' });
  return {
    base,
    root,
    home,
    trees,
    deps,
    git,
    write,
    commit,
    read: (path, at = root) => readFileSync(join(at, path), 'utf8'),
    open: (dir = root) => openRepository(deps, dir),
    script: (path, body) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, body);
      chmodSync(path, 0o755);
    },
    dispose: () => {
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/**
 * One line for each file under a folder (kind, mode, hash), for comparing byte for byte. `skip` gets paths relative to
 * the folder.
 */
export function fingerprint(
  folder: string,
  skip: (path: string) => boolean = () => false,
): string[] {
  const lines: string[] = [];
  const walk = (relative: string): void => {
    for (const name of readdirSync(join(folder, relative)).toSorted()) {
      const path = relative === '' ? name : `${relative}/${name}`;
      if (skip(path)) continue;
      const stat = lstatSync(join(folder, path));
      if (stat.isDirectory()) {
        lines.push(`${path}/ ${stat.mode.toString(8)}`);
        walk(path);
      } else if (stat.isSymbolicLink()) {
        lines.push(`${path} -> ${readlinkSync(join(folder, path))}`);
      } else {
        const hash = createHash('sha256')
          .update(readFileSync(join(folder, path)))
          .digest('hex');
        lines.push(`${path} ${stat.mode.toString(8)} ${hash}`);
      }
    }
  };
  walk('');
  return lines;
}

/** What may change in a repository while a run goes on: Troupe's own refs, objects and trees, and nothing else. */
export function isTroupeOwn(path: string): boolean {
  return /^\.git\/(?:objects|worktrees|troupe|refs\/heads\/troupe|refs\/troupe|logs\/refs\/heads\/troupe|logs\/refs\/troupe)(?:\/|$)/.test(
    path,
  );
}
