/**
 * What the machine knows about processes: /proc on Linux, `ps` elsewhere. A process is identified by its pid *and* its
 * start time, never by the pid alone, because pids are used again; a zombie is a dead process.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { systemCode } from '../kernel/errors.ts';
import { runCaptured } from './exec-run.ts';
import { EXEC_LOOKS_MAX, PS_BYTES_MAX, PS_MS } from './limits.ts';
import { pause } from './pause.ts';

export interface ProcessEntry {
  readonly pid: number;
  readonly ppid: number;
  /** Process group. */
  readonly pgid: number;
  /** Session; 0 where it is not known. */
  readonly sid: number;
  readonly zombie: boolean;
  /** Waits for an event. */
  readonly asleep: boolean;
  /** As the kernel tells it: ticks since boot on Linux, a date elsewhere. */
  readonly startTime: string;
}

/** Enough to tell a process from every other one on this machine, before and after a reboot. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly startTime: string;
  /** '' where the platform has none. */
  readonly bootId: string;
  /** Pid namespace the pid counts in; '' where the platform has none. */
  readonly pidNamespace: string;
}

/**
 * `unseen`: it counts in a pid namespace that can't be looked into from here, so it may well be alive (a container on
 * the same repository).
 */
export type Liveness = 'alive' | 'dead' | 'unseen';

/** Port of the lock. */
export interface ProcessTable {
  self(): Promise<ProcessIdentity>;
  liveness(identity: ProcessIdentity): Promise<Liveness>;
}

/** All running processes of the machine that can be seen. */
export interface ProcessReader {
  list(): Promise<ProcessEntry[]>;
  read(pid: number): Promise<ProcessEntry | null>;
  /** Pids whose environment has `TROUPE_PROC` with a value that `matches`. */
  marked(matches: (marker: string) => boolean): Promise<number[]>;
}

export const MARKER_NAME = 'TROUPE_PROC';
/** What a marker is unique in: two repositories may have runs of one name. Part of the marker where it is set. */
export const SCOPE_NAME = 'TROUPE_SCOPE';

export function makeProcessReader(): ProcessReader {
  return process.platform === 'linux' ? procReader : psReader;
}

/** The boot's id; '' where there is none. */
export function bootId(): string {
  return readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
}

export class NodeProcessTable implements ProcessTable {
  readonly #reader: ProcessReader;

  constructor(reader: ProcessReader = makeProcessReader()) {
    this.#reader = reader;
  }

  async self(): Promise<ProcessIdentity> {
    const entry = await this.#reader.read(process.pid);
    return {
      pid: process.pid,
      startTime: entry?.startTime ?? '',
      bootId: bootId(),
      pidNamespace: pidNamespaceOf('self'),
    };
  }

  async liveness(identity: ProcessIdentity): Promise<Liveness> {
    const boot = bootId();
    if (boot !== '' && identity.bootId !== '' && boot !== identity.bootId) return 'dead';
    if (identity.pidNamespace !== pidNamespaceOf('self')) return this.#elsewhere(identity);
    const entry = await this.#reader.read(identity.pid);
    if (entry === null) return answersSignal(identity.pid) ? 'alive' : 'dead';
    if (entry.zombie) return 'dead';
    return identity.startTime === '' || entry.startTime === identity.startTime ? 'alive' : 'dead';
  }

  /** A process of a namespace below ours is in our table under another pid; its start time is the same. */
  async #elsewhere(identity: ProcessIdentity): Promise<Liveness> {
    for (const entry of await this.#reader.list()) {
      const same =
        !entry.zombie &&
        entry.startTime === identity.startTime &&
        innerPid(entry.pid) === identity.pid &&
        pidNamespaceOf(String(entry.pid)) === identity.pidNamespace;
      if (same) return 'alive';
    }
    return 'unseen';
  }
}

function answersSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

function pidNamespaceOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return '';
  }
}

/** The pid a process has in its own, innermost namespace. */
function innerPid(pid: number): number {
  const status = readText(`/proc/${String(pid)}/status`) ?? '';
  const ids = /^NSpid:\s+(.+)$/mu.exec(status)?.[1]?.split(/\s+/u) ?? [];
  return Number(ids.at(-1) ?? Number.NaN);
}

/** null when it is missing, or ended while it was read. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}

const procReader: ProcessReader = {
  async list() {
    return procPids()
      .map((pid) => readStat(pid))
      .filter((entry) => entry !== null);
  },
  async read(pid) {
    return readStat(pid);
  },
  async marked(matches) {
    for (let look = 1; ; look += 1) {
      const found: number[] = [];
      let unsure = false;
      for (const pid of procPids()) {
        const environ = readText(`/proc/${String(pid)}/environ`);
        if (environ === '') unsure ||= isBecoming(pid);
        else if (environ?.includes(MARKER_NAME) === true) {
          const utf8 = Buffer.from(environ, 'latin1').toString('utf8');
          if (markersIn(utf8.split('\0')).some(matches)) found.push(pid);
        }
      }
      if (!unsure || look >= EXEC_LOOKS_MAX) return found;
      await pause(1);
    }
  },
};

/** In the middle of an `execve` a process has memory, but its environment is not in place yet and reads as empty. */
function isBecoming(pid: number): boolean {
  const fields = statFields(pid);
  const [memory, environmentEnd] = [fields[20], fields[48]];
  return memory !== undefined && memory !== '0' && environmentEnd === '0';
}

function procPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .map(Number);
}

export function readStat(pid: number): ProcessEntry | null {
  const fields = statFields(pid);
  const [state, ppid, pgid, sid] = fields;
  const startTime = fields[19];
  if (startTime === undefined) return null;
  return {
    pid,
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: Number(sid),
    zombie: state === 'Z' || state === 'X',
    asleep: state === 'S',
    startTime,
  };
}

/**
 * /proc/<pid>/stat from its third field on; empty when the process is gone. The name before may hold anything, so the
 * fields are counted after its last bracket.
 */
function statFields(pid: number): string[] {
  const text = readText(`/proc/${String(pid)}/stat`);
  return text === null ? [] : text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function markersIn(entries: readonly string[]): string[] {
  const valuesOf = (name: string): string[] =>
    entries
      .filter((entry) => entry.startsWith(`${name}=`))
      .map((entry) => entry.slice(name.length + 1));
  const [scope] = valuesOf(SCOPE_NAME);
  const markers = valuesOf(MARKER_NAME);
  return scope === undefined ? markers : markers.map((marker) => `${scope}/${marker}`);
}

/** For platforms without /proc; works with the `ps` of macOS, the BSDs and procps. */
export const psReader: ProcessReader = {
  async list() {
    return parsePs(await ps(['-A', '-o', PS_COLUMNS]));
  },
  async read(pid) {
    return parsePs(await ps(['-p', String(pid), '-o', PS_COLUMNS]))[0] ?? null;
  },
  async marked(matches) {
    // The environment follows the command, blank-separated; markers hold no blanks.
    const withEnvironment = process.platform === 'darwin' ? ['-A', '-E', '-ww'] : ['axeww'];
    const lines = (await ps([...withEnvironment, '-o', 'pid=,command='])).split('\n');
    return lines
      .filter((line) => markersIn(line.split(/\s+/u)).some(matches))
      .map((line) => Number.parseInt(line, 10));
  },
};

const PS_COLUMNS = 'pid=,ppid=,pgid=,stat=,lstart=';

async function ps(args: readonly string[]): Promise<string> {
  const result = await runCaptured({
    file: 'ps',
    args,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' },
    timeoutMs: PS_MS,
    outputMax: PS_BYTES_MAX,
  });
  return result.stdout;
}

function parsePs(text: string): ProcessEntry[] {
  const entries: ProcessEntry[] = [];
  for (const line of text.split('\n')) {
    const [pid, ppid, pgid, state, ...started] = line.trim().split(/\s+/u);
    if (state === undefined || started.length === 0) continue;
    entries.push({
      pid: Number(pid),
      ppid: Number(ppid),
      pgid: Number(pgid),
      sid: 0,
      zombie: state.startsWith('Z'),
      asleep: state.startsWith('S'),
      startTime: started.join(' '),
    });
  }
  return entries;
}
