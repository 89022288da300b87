/**
 * The demo's own overhead: CPU time of the supervisor's process with its threads, without git, commands and waiting. Read
 * from /proc while it runs, so on Linux only.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SAMPLE_MS = 20;
const TICKS_PER_S = 100;

export async function demoRows() {
  if (!existsSync('/proc/self/stat')) {
    return [{ what: "the demo's own overhead", ratio: null, bound: null, detail: 'needs /proc' }];
  }
  const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-'));
  try {
    const { wallMs, ownMs, childrenMs, status } = await runDemo(join(folder, 'demo'));
    if (status !== 0) throw new Error(`troupe demo ended with ${status}`);
    return [
      {
        what: "the demo's own CPU time against its wall time",
        ratio: ownMs / wallMs,
        bound: null,
        detail: `${ownMs} ms own, ${childrenMs} ms git and commands, ${wallMs.toFixed(0)} ms wall`,
      },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runDemo(folder) {
  const bin = fileURLToPath(new URL('../bin/troupe.js', import.meta.url));
  const began = performance.now();
  const child = spawn(process.execPath, [bin, 'demo', folder], { stdio: 'ignore' });
  let last = { ownMs: 0, childrenMs: 0 };
  const timer = setInterval(() => {
    last = sample(child.pid) ?? last;
  }, SAMPLE_MS);
  const status = await new Promise((resolve) => child.on('exit', resolve));
  clearInterval(timer);
  return { ...last, wallMs: performance.now() - began, status };
}

/** utime and stime of the process, cutime and cstime of the children it has waited for (proc(5)). */
function sample(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const ms = (index) => ((fields[index] ?? 0) * 1000) / TICKS_PER_S;
    return { ownMs: ms(11) + ms(12), childrenMs: ms(13) + ms(14) };
  } catch {
    return null;
  }
}
