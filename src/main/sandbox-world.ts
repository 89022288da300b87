/**
 * A small repository in a temporary folder with all that a sandbox must keep commands from: state with a token, a
 * listening socket, a home with a key, the tree of another task. For the proof of the sandbox, and for its tests.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Exec, SandboxRequest, SpawnExit } from '../kernel/index.ts';
import { PROTECTED_IN_TREE } from '../permissions/index.ts';

/** In everything that no command may read. */
export const SECRET = 'SECRET-7f3a';

export interface SandboxWorld {
  readonly root: string;
  readonly home: string;
  /** A checkout on the branch `master`, with its state. */
  readonly repo: string;
  readonly state: string;
  /** Of the task that commands belong to; beside it lies `other`. */
  readonly tree: string;
  readonly socket: string;
  readonly request: SandboxRequest;
  readonly env: Readonly<Record<string, string>>;
  /** Connections that the socket got. */
  connections(): number;
  run(
    command: string,
    change?: Partial<SandboxRequest>,
  ): Promise<SpawnExit & { readonly text: string }>;
  /** A path below the root; gives the absolute one. */
  write(path: string, content: string): string;
  close(): Promise<void>;
}

const COMMAND_OUTPUT_MAX = 1_000_000;

export async function sandboxWorld(exec: Exec, path: string): Promise<SandboxWorld> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-sandbox-')));
  const write = (name: string, content: string): string => {
    const whole = join(root, name);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, content);
    return whole;
  };
  const home = join(root, 'home');
  const repo = join(root, 'repo');
  const trees = join(home, '.local/state/troupe/trees/hash');
  const tree = join(trees, 'run', 'task');
  const state = join(repo, '.git', 'troupe');
  const socket = join(root, 'socket', 's');
  const env = {
    PATH: path,
    HOME: home,
    LANG: 'C.UTF-8',
    XDG_RUNTIME_DIR: join(root, 'socket'),
    HTTPS_PROXY: `http://me:${SECRET}@127.0.0.1:9`,
  };
  write('home/.ssh/id_ed25519', SECRET);
  write('home/.bashrc', '# mine\n');
  write('repo/README.md', 'A repository\n');
  makeRepository({ repo, tree, other: join(trees, 'run', 'other'), env });
  write('repo/.env', SECRET);
  write('repo/.git/troupe/token', SECRET);
  mkdirSync(dirname(socket));
  mkdirSync(join(root, 'outputs'));
  let connections = 0;
  const server = await listenAt(socket, () => {
    connections += 1;
  });
  const request = requestOf({ root, repo, state, trees, tree, socket });
  let count = 0;
  return {
    root,
    home,
    repo,
    state,
    tree,
    socket,
    request,
    env,
    write,
    connections: () => connections,
    async run(command, change = {}) {
      count += 1;
      const outputPath = join(root, 'outputs', `${count}.log`);
      const process = await exec.spawn({
        file: '/bin/bash',
        args: ['--noprofile', '--norc', '-c', command],
        cwd: change.tree ?? tree,
        env,
        outputPath,
        outputMax: COMMAND_OUTPUT_MAX,
        marker: `proof/${count}`,
        sandbox: { ...request, ...change },
      });
      const exit = await process.exited;
      return { ...exit, text: readFileSync(outputPath, 'utf8') };
    },
    async close() {
      await new Promise((resolve) => {
        server.close(resolve);
      });
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function requestOf(
  at: Readonly<Record<'root' | 'repo' | 'state' | 'trees' | 'tree' | 'socket', string>>,
): SandboxRequest {
  const { root, repo, state, trees, tree, socket } = at;
  return {
    profile: 'actor',
    tree,
    writable: true,
    workspace: repo,
    gitDirectory: join(repo, '.git'),
    closed: [state, trees, dirname(socket)],
    protect: PROTECTED_IN_TREE,
    setAside: join(root, 'outputs', 'aside'),
    read: [],
    write: [],
  };
}

/** Two commits, so that a branch could be moved, and the trees of two tasks. */
function makeRepository(at: {
  readonly repo: string;
  readonly tree: string;
  readonly other: string;
  readonly env: Readonly<Record<string, string>>;
}): void {
  const { repo, tree, other, env } = at;
  const git = (...args: readonly string[]): void => {
    const identity = ['-c', 'user.name=Proof', '-c', 'user.email=proof@example.org'];
    execFileSync('git', [...identity, ...args], { cwd: repo, env, stdio: 'pipe' });
  };
  git('init', '-q', '-b', 'master');
  git('add', '-A');
  git('commit', '-qm', 'start');
  git('commit', '-qm', 'second', '--allow-empty');
  git('worktree', 'add', '-q', '-b', 'troupe/run/task/task', tree);
  git('worktree', 'add', '-q', '-b', 'troupe/run/task/other', other);
}

function listenAt(path: string, onConnection: () => void): Promise<Server> {
  const server = createServer((connection) => {
    onConnection();
    connection.end();
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      resolve(server);
    });
  });
}
