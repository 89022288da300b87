/** What `troupe --help` costs over a bare node: what is loaded before the first byte. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from './stats.mjs';

const ROUNDS = 15;

export function startRows() {
  const bin = fileURLToPath(new URL('../bin/troupe.js', import.meta.url));
  const bare = [];
  const help = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(time(['-e', '0']));
    help.push(time([bin, '--help']));
  }
  const ratio = median(help) / median(bare);
  return [
    {
      what: 'troupe --help against node -e 0',
      ratio,
      bound: 2.5,
      detail: `${median(help).toFixed(0)} ms against ${median(bare).toFixed(0)} ms, medians of ${ROUNDS}`,
    },
  ];
}

function time(args) {
  const began = performance.now();
  const result = spawnSync(process.execPath, args, { stdio: 'ignore' });
  if (result.status !== 0) throw new Error(`node ${args.join(' ')} ended with ${result.status}`);
  return performance.now() - began;
}
