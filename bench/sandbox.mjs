/** What a command of an agent costs: in the sandbox against a bare bubblewrap, without it against a bare shell. */
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  fdatasyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NodeExec } from '../dist/platform/node-exec.js';
import { median } from './stats.mjs';

const ROUNDS = 60;
const THINKS_MS = 50;
const COMMAND = ['--noprofile', '--norc', '-c', 'true'];

export async function sandboxRows() {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
  try {
    const exec = new NodeExec();
    const tree = join(folder, 'tree');
    mkdirSync(tree);
    const request = {
      profile: 'actor',
      tree,
      writable: true,
      workspace: folder,
      gitDirectory: folder,
      closed: [],
      protect: ['.troupe', '.vscode', '.envrc'],
      setAside: join(folder, 'aside'),
      read: [],
      write: [],
    };
    const run = async (sandbox) => {
      const process = await exec.spawn({
        file: '/bin/bash',
        args: COMMAND,
        cwd: tree,
        env: { PATH: '/usr/bin:/bin', HOME: folder },
        outputPath: join(folder, 'out'),
        outputMax: 1_000_000,
        marker: 'bench/1',
        ...(sandbox ? { sandbox: request } : {}),
      });
      const { code } = await process.exited;
      if (code !== 0) throw new Error(`a command ended with ${code}`);
    };
    const has = spawnSync('bwrap', ['--version']).status === 0;
    const ways = {
      bash: () => bare('/bin/bash', COMMAND),
      open: () => run(false),
      sync: () => sync(folder),
      ...(has
        ? { bwrap: () => bare('bwrap', [...BARE, '/bin/bash', ...COMMAND]), held: () => run(true) }
        : {}),
    };
    const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
    // In turn, so that what else the machine does falls on all alike.
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, way] of Object.entries(ways)) {
        // An agent thinks between its commands, and the next namespace is made meanwhile.
        await new Promise((resolve) => setTimeout(resolve, THINKS_MS));
        const began = performance.now();
        await way();
        times[name].push(performance.now() - began);
      }
    }
    return rowsOf(
      Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)])),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const BARE = '--ro-bind / / --dev /dev --proc /proc --unshare-all --die-with-parent --'.split(' ');

function rowsOf({ bash, open, sync: datasync, bwrap, held }) {
  const allowed = bash + 2 * datasync + 1;
  const ms = (value) => `${value.toFixed(1)} ms`;
  const rows = [
    {
      what: 'bash true without a sandbox, against bare + 2 fdatasync + 1 ms',
      ratio: open / allowed,
      bound: 1,
      detail: `${ms(open)} against ${ms(bash)} + 2 × ${datasync.toFixed(2)} ms + 1 ms`,
    },
  ];
  if (bwrap === undefined) return rows;
  return [
    ...rows,
    {
      what: 'bash true in the sandbox, against a bare bwrap',
      ratio: held / bwrap,
      bound: 2,
      detail: `${ms(held)} against ${ms(bwrap)}, medians of ${ROUNDS}`,
    },
  ];
}

function bare(file, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', resolve);
  });
}

function sync(folder) {
  const file = openSync(join(folder, 'sync'), 'a');
  writeSync(file, 'x'.repeat(200));
  fdatasyncSync(file);
  closeSync(file);
}
