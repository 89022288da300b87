/**
 * Starts a command, wrapped or not. A wrapper says on descriptor 3 that its namespace stands and waits there for our word;
 * the command itself does not get the descriptor. A wrapper that ends without having spoken has failed, whatever its exit
 * code.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Duplex, type Readable } from 'node:stream';
import { DRAIN_MS, EXEC_LOOKS_MAX, WRAPPER_START_MS } from './limits.ts';
import { pause } from './pause.ts';
import { makeProcessReader, type ProcessEntry, readStat } from './process-table.ts';

/** How a command is isolated (`isolation.ts`). */
export type Rung = 'bwrap' | 'unshare' | 'none';

export interface LaunchRequest {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Descriptor for stdout and stderr. */
  readonly output: number | 'ignore';
  readonly rung: Rung;
}

export interface LeaderEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface Launched {
  readonly kind: 'launched';
  readonly pid: number;
  /** As it was right after the fork; null where there is no /proc. */
  readonly leader: ProcessEntry | null;
  /** First process of the namespace, as seen from here; null without one, or when all was over at once. */
  readonly init: ProcessEntry | null;
  readonly ended: Promise<LeaderEnd>;
}

export type LaunchResult = Launched | { readonly kind: 'failed'; readonly reason: string };

/** Rejects with the system's error when not even the first program could be started. */
export async function launch(request: LaunchRequest): Promise<LaunchResult> {
  const [file, ...args] = request.argv;
  const wrapped = request.rung !== 'none';
  const child = spawn(file ?? '', args, {
    cwd: request.cwd,
    env: { ...request.env },
    detached: true,
    stdio: ['ignore', request.output, request.output, wrapped ? 'pipe' : 'ignore'],
    windowsHide: true,
  });
  // Before anything is awaited: the child can't have been reaped yet.
  const leader = child.pid === undefined ? null : readStat(child.pid);
  const ended = endOf(child);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  const pid = child.pid ?? 0;
  if (!wrapped) return { kind: 'launched', pid, leader, init: null, ended };
  const pipe = child.stdio[3];
  if (pipe instanceof Duplex && (await saysStarted(pipe, ended))) {
    const init = await initOf(pid);
    await letGo(pipe, request.rung, init);
    pipe.destroy();
    return { kind: 'launched', pid, leader, init, ended };
  }
  child.kill('SIGKILL');
  const end = await ended;
  return { kind: 'failed', reason: `ended before its command: ${String(end.code ?? end.signal)}` };
}

export function endOf(child: ChildProcess): Promise<LeaderEnd> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      resolve({ code, signal });
    });
  });
}

/** Whether something comes on the pipe before it is closed. */
export function saysStarted(pipe: Readable, ended: Promise<LeaderEnd>): Promise<boolean> {
  pipe.on('error', () => undefined);
  return new Promise<boolean>((resolve) => {
    const timer = setTimeout(resolve, WRAPPER_START_MS, false);
    const finish = (said: boolean): void => {
      clearTimeout(timer);
      resolve(said);
    };
    pipe.once('data', () => {
      finish(true);
    });
    pipe.once('close', () => {
      finish(false);
    });
    // Something the wrapper left behind may hold the descriptor open.
    void ended.then(() => setTimeout(finish, DRAIN_MS, false));
  });
}

/**
 * Our word that the command may start: from the thread that its life is bound to, after the binding. That of `unshare` is
 * done before its first process speaks. That of `bwrap` is done when its first process sleeps, since between the fork of
 * what spoke and the wait for its children nothing makes it sleep.
 */
async function letGo(pipe: Duplex, rung: Rung, init: ProcessEntry | null): Promise<void> {
  let now = rung === 'bwrap' ? init : null;
  for (let look = 0; now !== null && !now.asleep && look < EXEC_LOOKS_MAX; look += 1) {
    await pause(1);
    now = readStat(now.pid);
  }
  await new Promise<void>((resolve) => {
    pipe.write('go\n', () => {
      resolve();
    });
  });
}

/** The wrapper's only child; null when it died meanwhile. */
export async function initOf(leader: number): Promise<ProcessEntry | null> {
  const child = Number.parseInt(childrenOf(leader), 10);
  if (!Number.isNaN(child)) return readStat(child);
  const all = await makeProcessReader().list();
  return all.find((entry) => entry.ppid === leader) ?? null;
}

/** '' on kernels without the list. */
function childrenOf(pid: number): string {
  try {
    return readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'latin1');
  } catch {
    return '';
  }
}
