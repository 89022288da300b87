/** What the tests of `Exec` share. They wait for events with a deadline, never for a fixed time. */
import { readdirSync, readFileSync } from 'node:fs';

const DEADLINE_MS = 10_000;

/** Polls until `probe` gives something else than undefined; fails at the deadline. */
export async function eventually<T>(what: string, probe: () => T | undefined): Promise<T> {
  const until = performance.now() + DEADLINE_MS;
  for (;;) {
    const value = probe();
    if (value !== undefined) return value;
    if (performance.now() > until) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 2);
    });
  }
}

/** True for a process that runs; a zombie is dead. */
export function lives(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
    return !stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}

export async function gone(pid: number): Promise<void> {
  await eventually(`the end of ${String(pid)}`, () => (lives(pid) ? undefined : true));
}

/** Processes with this text in their environment or their command line. */
export function marked(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .filter((name) => {
      try {
        const environ = readFileSync(`/proc/${name}/environ`, 'latin1');
        const command = readFileSync(`/proc/${name}/cmdline`, 'latin1');
        return environ.includes(text) || command.includes(text);
      } catch {
        return false;
      }
    })
    .map(Number)
    .filter((pid) => pid !== process.pid && lives(pid));
}
