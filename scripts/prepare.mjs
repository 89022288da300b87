// Builds dist/ when it is missing or stale, and does nothing when it is current.
//
// npm runs this as `prepare` after `npm ci`, and once more on the first `npx troupe` in a clone,
// possibly while dist/ is in use: an unneeded build would pull the code from under a running
// supervisor. Therefore dist/.build holds a hash of all inputs of the build.
//
//   --required  a missing build tool or a failed build is an error (build, tests, CI). Without it
//               the script says so and exits 0: a failing `prepare` leaves the npx cache of this
//               checkout broken for good, while bin/troupe.js can tell what to do.
//   --force     build even when the stamp is current.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const nextDist = join(root, 'dist.next');
const oldDist = join(root, 'dist.old');
const stampFile = join(dist, '.build');
const lockDir = join(root, 'node_modules', '.troupe-build-lock');
const lockStaleMs = 120_000;
const required = process.argv.includes('--required');
const force = process.argv.includes('--force');

function inputsOf(path) {
  const absolute = join(root, path);
  if (!existsSync(absolute)) return [];
  if (!statSync(absolute).isDirectory()) return [path];
  return readdirSync(absolute, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith('.'))
    .flatMap((entry) => inputsOf(`${path}/${entry.name}`));
}

function hashInputs() {
  const hash = createHash('sha256');
  const roots = [
    'src',
    'tsdown.config.ts',
    'tsdown.threads.config.ts',
    'tsconfig.json',
    'package-lock.json',
    'package.json',
  ];
  for (const path of roots.flatMap(inputsOf).toSorted()) {
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0');
  }
  return hash.digest('hex');
}

function isCurrent(hash) {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8').trim() === hash;
}

/** One build at a time: test runs and `npx` may call this script together. */
function withBuildLock(work) {
  if (!existsSync(join(root, 'node_modules'))) return work();
  const until = Date.now() + lockStaleMs;
  for (;;) {
    try {
      mkdirSync(lockDir);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (Date.now() > until || isStale(lockDir)) rmSync(lockDir, { recursive: true, force: true });
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
    }
  }
  try {
    return work();
  } finally {
    rmSync(lockDir, { recursive: true, force: true });
  }
}

function isStale(path) {
  try {
    return Date.now() - statSync(path).mtimeMs > lockStaleMs;
  } catch {
    return false;
  }
}

/** Resolved the way Node does it: in a nested worktree the tools may come from a parent folder. */
function findTsdown() {
  try {
    return fileURLToPath(import.meta.resolve('tsdown/run'));
  } catch {
    return undefined;
  }
}

function run(tsdown, args) {
  return spawnSync(process.execPath, [tsdown, ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    maxBuffer: 64 * 1024 * 1024,
  });
}

function build(tsdown) {
  const hash = hashInputs();
  if (!force && isCurrent(hash)) return 0;
  rmSync(nextDist, { recursive: true, force: true });
  const threads = ['--config', 'tsdown.threads.config.ts'];
  const failed = [
    ['--out-dir', nextDist],
    [...threads, '--out-dir', join(nextDist, 'threads')],
  ]
    .map((args) => run(tsdown, args))
    .find((result) => result.status !== 0);
  if (failed !== undefined) {
    process.stderr.write(`${failed.stdout ?? ''}${failed.stderr ?? ''}`);
    rmSync(nextDist, { recursive: true, force: true });
    process.stderr.write('prepare: the build failed, dist/ is as it was before\n');
    return required ? 1 : 0;
  }
  writeFileSync(join(nextDist, '.build'), `${hash}\n`);
  // Built beside it and renamed: a failed or cut build leaves the last good one.
  rmSync(oldDist, { recursive: true, force: true });
  if (existsSync(dist)) renameSync(dist, oldDist);
  renameSync(nextDist, dist);
  rmSync(oldDist, { recursive: true, force: true });
  return 0;
}

function main() {
  if (!existsSync(join(root, 'src'))) return 0; // an installed package: dist/ came with it
  if (!force && isCurrent(hashInputs())) return 0;
  const tsdown = findTsdown();
  if (tsdown === undefined) {
    process.stderr.write('prepare: tsdown is not installed, dist/ was not built; run `npm ci`\n');
    return required ? 1 : 0;
  }
  return withBuildLock(() => build(tsdown));
}

process.exitCode = main();
