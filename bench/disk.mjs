/** A folder on a real disk, the raw floor (write + fdatasync in a loop), and what the journal benchmarks share. */
import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import { NodeFiles } from '../dist/platform/node-files.js';

const TMPFS = 0x01021994;

/** Removed by `dispose`. In memory a sync costs nothing, so a temporary folder that lies there is not taken. */
export function makeFolder() {
  const own = fileURLToPath(new URL('../node_modules', import.meta.url));
  const wanted = process.env.TROUPE_BENCH_DIR ?? os.tmpdir();
  const parent = fs.statfsSync(wanted).type === TMPFS ? own : wanted;
  const directory = fs.mkdtempSync(path.join(parent, 'troupe-bench-'));
  return { directory, dispose: () => fs.rmSync(directory, { recursive: true, force: true }) };
}

/** A record of about `bytes` in the journal; with quotes and letters beyond ASCII, as mail has. */
export function bodyOf(bytes, n) {
  const text = `Größe of "${n}": `;
  return { k: 'msg', to: `a${n % 16}`, text: text.padEnd(Math.max(text.length, bytes - 62), 'x') };
}

/** A file for the raw loop: write + fdatasync of one line, each waited for, for `ms`; microseconds of each. */
export function openRaw(directory, bytes) {
  const fd = fs.openSync(path.join(directory, 'raw'), 'a');
  const line = Buffer.from(`${'x'.repeat(bytes - 1)}\n`);
  const run = (ms) => {
    const micros = [];
    for (const until = performance.now() + ms; performance.now() < until; ) {
      const began = performance.now();
      fs.writeSync(fd, line);
      fs.fdatasyncSync(fd);
      micros.push((performance.now() - began) * 1000);
    }
    return micros;
  };
  return { run, close: () => fs.closeSync(fd) };
}

export function quantile(values, q) {
  const sorted = Float64Array.from(values).toSorted();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
}

/** `Files` that counts the syncs of segments. */
export class CountingFiles extends NodeFiles {
  syncs = 0;

  async open(file, mode) {
    const handle = await super.open(file, mode);
    const sync = handle.datasync.bind(handle);
    handle.datasync = () => {
      this.syncs += 1;
      return sync();
    };
    return handle;
  }
}

export const micros = (value) => `${value.toFixed(0)} µs`;
export const perSecond = (value) =>
  value >= 10_000 ? `${(value / 1000).toFixed(1)} k/s` : `${value.toFixed(0)}/s`;
