/**
 * Ends processes and makes sure of it. A process is only ever signalled while its start time is the one that was seen,
 * and never when it is this process or one of its parents.
 */
import { systemCode } from '../kernel/errors.ts';
import { invariant } from '../kernel/invariant.ts';
import { GONE_MS, QUIET_LOOKS } from './limits.ts';
import { pause } from './pause.ts';
import type { ProcessEntry, ProcessReader } from './process-table.ts';

/** Signals a process, or a group by its negative number; a missing or foreign one is no error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (systemCode(error) !== 'ESRCH' && systemCode(error) !== 'EPERM') throw error;
  }
}

/**
 * Kills what `find` finds until it finds nothing; returns what was left after `GONE_MS`. A look at the process table
 * takes its time and may miss what forks meanwhile, so it must find nothing for `quiet` looks on end.
 */
export async function endAll(
  find: () => Promise<readonly ProcessEntry[]>,
  quiet: number,
): Promise<number[]> {
  const until = performance.now() + GONE_MS;
  let empty = 0;
  for (let delay = 1; ; delay = Math.min(delay * 2, 50)) {
    const found = await find();
    empty = found.length === 0 ? empty + 1 : 0;
    if (empty >= quiet) return [];
    if (performance.now() > until) return found.map((entry) => entry.pid);
    for (const entry of found) signal(entry.pid, 'SIGKILL');
    await pause(empty > 0 ? 1 : delay);
  }
}

/** Ends every process marked with `marker` or with a marker below it (`run` covers `run/x`, not `run2/x`). */
export async function sweepMarked(reader: ProcessReader, marker: string): Promise<number[]> {
  invariant(marker !== '', 'S: a sweep needs a marker, else it would end every command of Troupe');
  return endAll(() => findMarked(reader, marker), QUIET_LOOKS);
}

export async function findMarked(reader: ProcessReader, marker: string): Promise<ProcessEntry[]> {
  const pids = await reader.marked((found) => coversMarker(marker, found));
  if (pids.length === 0) return [];
  const all = await reader.list();
  const [wanted, spared] = [new Set(pids), ourselves(all)];
  return all.filter(({ pid, zombie }) => wanted.has(pid) && !zombie && !spared.has(pid));
}

export function coversMarker(wanted: string, found: string): boolean {
  if (!found.startsWith(wanted)) return false;
  return found.length === wanted.length || wanted.endsWith('/') || found[wanted.length] === '/';
}

/** This process and those above it: Troupe may itself run inside a marked command. */
export function ourselves(all: readonly ProcessEntry[]): ReadonlySet<number> {
  const parents = new Map(all.map((entry) => [entry.pid, entry.ppid]));
  const pids = new Set<number>();
  for (let pid = process.pid; pid > 0 && !pids.has(pid); pid = parents.get(pid) ?? 0) pids.add(pid);
  return pids;
}

/** Everything below `root`, by the parents they have now; without `root` itself. */
export function descendants(all: readonly ProcessEntry[], root: number): ProcessEntry[] {
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of all) {
    const siblings = children.get(entry.ppid);
    if (siblings === undefined) children.set(entry.ppid, [entry]);
    else siblings.push(entry);
  }
  const found: ProcessEntry[] = [];
  const open = [...(children.get(root) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    found.push(next);
    open.push(...(children.get(next.pid) ?? []));
  }
  return found;
}
