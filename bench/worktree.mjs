/**
 * T13: a tree for a task in a repository of 50 000 files, against git's own parallel `worktree add` of the same commit; with a
 * sparse cone of 100 files; and from the pool. What is measured is what a task waits for, with all proofs and records of git.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeExec } from '../dist/platform/node-exec.js';
import { NodeFiles } from '../dist/platform/node-files.js';
import { SystemClock } from '../dist/platform/system-clock.js';
import { createIntegrationBranch } from '../dist/worktree/branches.js';
import { removeTree } from '../dist/worktree/remove.js';
import { openRepository } from '../dist/worktree/repository.js';
import { addReadyTree, addTaskTree } from '../dist/worktree/trees.js';
import { median } from './stats.mjs';

const FOLDERS = 500;
const IN_EACH = 100;
const ROUNDS = 3;

export async function worktreeRows() {
  const base = mkdtempSync(join(process.env.TROUPE_BENCH_DIR ?? tmpdir(), 'troupe-worktree-'));
  const root = realpathSync(base);
  try {
    const world = await prepare(root);
    const times = { git: [], plain: [], sparse: [], pool: [] };
    for (let round = 0; round <= ROUNDS; round += 1) {
      // The first round warms the disk's cache.
      for (const kind of Object.keys(times)) {
        const ms = await measure(world, kind, round);
        if (round > 0) times[kind].push(ms);
      }
    }
    const ratio = (kind) => median(times[kind].map((ms, index) => ms / times.git[index]));
    const figures = (kind) =>
      `${median(times[kind]).toFixed(0)} ms against ${median(times.git).toFixed(0)} ms`;
    return [
      ['plain', `tree of ${FOLDERS * IN_EACH} files against git worktree add`, 1.15],
      ['sparse', `the same with a cone of ${IN_EACH} files`, 0.1],
      ['pool', 'the same from a warm pool', 0.15],
    ].map(([kind, what, bound]) => ({ what, ratio: ratio(kind), bound, detail: figures(kind) }));
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function measure(world, kind, round) {
  const { repo, trees, checkout, env } = world;
  const path = join(trees, `${kind}-${round}`);
  if (kind === 'git') {
    const add = ['-c', 'checkout.workers=0', 'worktree', 'add', '-q', '--detach', path, world.base];
    const ms = await timed(async () => {
      const child = spawn('git', add, { cwd: checkout, env });
      const [code] = await once(child, 'close');
      if (code !== 0) throw new Error(`git worktree add: ${code}`);
    });
    execFileSync('git', ['worktree', 'remove', '--force', path], { cwd: checkout, env });
    return ms;
  }
  const waiting = join(trees, `waiting-${round}`);
  const ready =
    kind === 'pool' ? await addReadyTree(repo, { path: waiting, commit: world.old }) : null;
  const request = {
    run: 'bench',
    task: `${kind}-${round}`,
    path,
    copies: [],
    setupLinks: [],
    ...(kind === 'sparse' ? { sparse: ['folder-7'] } : {}),
    ...(ready === null ? {} : { ready: async () => ready }),
  };
  let tree;
  const ms = await timed(async () => {
    tree = await addTaskTree(repo, request);
  });
  await removeTree(repo, { tree, exclude: [], discard: true });
  return ms;
}

async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Two commits, so that a tree of the pool is a little behind. */
async function prepare(root) {
  const checkout = join(root, 'repo');
  const trees = join(root, 'trees');
  mkdirSync(trees);
  const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  execFileSync('git', ['init', '-q', '-b', 'main', checkout], { env });
  const git = spawn('git', ['fast-import', '--quiet'], { cwd: checkout, env });
  const ended = once(git, 'close');
  for (const part of imported()) if (!git.stdin.write(part)) await once(git.stdin, 'drain');
  git.stdin.end();
  await ended;
  execFileSync('git', ['repack', '-adq'], { cwd: checkout, env });
  const repo = await openRepository(
    {
      exec: new NodeExec(),
      files: new NodeFiles(),
      clock: new SystemClock(),
      env,
      sha256: (text) => createHash('sha256').update(text).digest('hex'),
    },
    checkout,
  );
  const [base, old] = execFileSync('git', ['rev-list', 'main'], { cwd: checkout, env })
    .toString()
    .split('\n');
  await createIntegrationBranch(repo, { run: 'bench', base });
  return { repo, trees, checkout, env, base, old };
}

function* imported() {
  yield 'commit refs/heads/main\nmark :1\ncommitter A <a@example.org> 1700000000 +0000\ndata 5\nfirst\n';
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    let part = '';
    for (let file = 0; file < IN_EACH; file += 1) {
      const body = `line of ${folder}/${file}\n`.repeat(20 + ((folder * file) % 100));
      part += `M 100644 inline folder-${folder}/file-${file}.txt\ndata ${body.length}\n${body}\n`;
    }
    yield part;
  }
  yield 'commit refs/heads/main\ncommitter A <a@example.org> 1700000001 +0000\ndata 6\nsecond\nfrom :1\n';
  for (let file = 0; file < 10; file += 1) {
    yield `M 100644 inline folder-${file}/file-1.txt\ndata 6\nafter\n\n`;
  }
}
