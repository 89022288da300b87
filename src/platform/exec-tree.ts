/**
 * A running command with its descendants, from its start to the proof that nothing of it is left.
 *
 * Owns: the output's size cap, TERM and KILL of the whole tree, the end. Its neighbour `exec-launch.ts` started it.
 *
 * Invariants: S (no process outlives its command, or it is named in `left`). In a namespace the tree is what descends
 * from the namespace's first process, and the kernel ends all of it with that one. Without a namespace the tree is: the
 * leader's group and session, what descends from a known member, and what carries the marker.
 */
import { closeSync, fstatSync, ftruncateSync } from 'node:fs';
import { constants } from 'node:os';
import type { SpawnExit, SpawnedProcess, SpawnRequest } from '../kernel/ports.ts';
import type { Launched, LeaderEnd, Rung } from './exec-launch.ts';
import {
  GONE_MS,
  OUTPUT_WATCH_MIN_MS,
  OUTPUT_WATCH_MS,
  QUIET_LOOKS,
  SNAPSHOT_MS,
} from './limits.ts';
import { pause } from './pause.ts';
import { bootId, type ProcessEntry, type ProcessReader } from './process-table.ts';
import { descendants, endAll, findMarked, ourselves, signal, sweepMarked } from './strays.ts';

export interface TreeOptions {
  readonly request: SpawnRequest;
  readonly launched: Launched;
  readonly rung: Rung;
  /** Open for writing at its end; the tree closes it. */
  readonly output: number;
  readonly reader: ProcessReader;
  readonly startedAt: string;
}

export class ProcessTree implements SpawnedProcess {
  readonly pid: number;
  readonly startedAt: string;
  readonly exited: Promise<SpawnExit>;
  readonly #options: TreeOptions;
  readonly #isolated: boolean;
  /** Members of the tree seen so far, by pid; only kept without a namespace. */
  readonly #known = new Map<number, ProcessEntry>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #killAt = Number.POSITIVE_INFINITY;
  #killTimer: NodeJS.Timeout | undefined;
  #termed = false;
  #overflow = false;
  #ended = false;
  #giveUp: (() => void) | undefined;

  constructor(options: TreeOptions) {
    this.#options = options;
    this.#isolated = options.rung !== 'none';
    this.pid = options.launched.pid;
    this.startedAt = options.startedAt;
    this.exited = this.#run();
    this.#watchOutput(fstatSync(options.output).size);
    if (!this.#isolated) this.#watchMembers();
  }

  kill(graceMs: number): void {
    const at = performance.now() + graceMs;
    if (this.#ended || at >= this.#killAt) return;
    this.#killAt = at;
    clearTimeout(this.#killTimer);
    if (graceMs <= 0) {
      void this.#kill();
      return;
    }
    this.#killTimer = setTimeout(() => void this.#kill(), graceMs);
    if (!this.#termed) void this.#term();
    this.#termed = true;
  }

  async #run(): Promise<SpawnExit> {
    const unkillable = new Promise<null>((resolve) => {
      this.#giveUp = () => {
        resolve(null);
      };
    });
    const end = await Promise.race([this.#options.launched.ended, unkillable]);
    this.#ended = true;
    clearTimeout(this.#killTimer);
    for (const timer of this.#timers) clearTimeout(timer);
    // Should the process table fail us, nothing is proven: the leader is named.
    const left = await this.#clear().catch(() => [this.pid]);
    this.#closeOutput();
    return { ...asShellDoes(end), overflow: this.#overflow, left };
  }

  /** TERM to every member; a tree that has no member yet (its first fork is under way) is looked at again. */
  async #term(): Promise<void> {
    for (let tries = 0; tries < 50 && !this.#ended; tries += 1) {
      const members = await this.#membersSeen();
      for (const entry of members) signal(entry.pid, 'SIGTERM');
      if (members.length > 0) return;
      await pause(2);
    }
  }

  /** KILL; the end of the leader leads on to `#clear`, which makes sure. */
  async #kill(): Promise<void> {
    const { init } = this.#options.launched;
    if (this.#isolated) {
      // The wrapper first: seeing its namespace killed, it would have something to say in the output.
      signal(this.pid, 'SIGKILL');
      if (init !== null && (await this.#isStill(init).catch(() => false))) {
        signal(init.pid, 'SIGKILL');
      }
    } else {
      const members = await this.#membersSeen();
      signal(-this.pid, 'SIGKILL');
      for (const entry of members) signal(entry.pid, 'SIGKILL');
    }
    await this.#makeSureOfLeader();
  }

  /** A leader that can't be killed (state D) is waited for no longer than `GONE_MS`, then named. */
  async #makeSureOfLeader(): Promise<void> {
    const started = performance.now();
    for (let delay = 1; !this.#ended; delay = Math.min(delay * 2, 50)) {
      await pause(delay);
      if (performance.now() - started > GONE_MS) this.#giveUp?.();
    }
  }

  /** For the steps on the way to the end, which go on without a process table; the end itself does not. */
  #membersSeen(): Promise<ProcessEntry[]> {
    return this.#members().catch(() => []);
  }

  /** Whoever still belongs to the tree now. */
  async #members(): Promise<ProcessEntry[]> {
    const { reader } = this.#options;
    const { init } = this.#options.launched;
    const all = await reader.list();
    if (!this.#isolated) return this.#unisolatedMembers(all);
    // Below the wrapper come the namespace's first process, then the command.
    const members =
      init === null
        ? descendants(all, this.pid).filter((entry) => entry.ppid !== this.pid)
        : descendants(all, init.pid);
    return members.filter((entry) => !entry.zombie);
  }

  async #unisolatedMembers(all: readonly ProcessEntry[]): Promise<ProcessEntry[]> {
    const { reader, request } = this.#options;
    const marked = new Set((await findMarked(reader, request.marker)).map((entry) => entry.pid));
    const isRoot = (entry: ProcessEntry): boolean =>
      entry.pgid === this.pid ||
      entry.sid === this.pid ||
      marked.has(entry.pid) ||
      this.#known.get(entry.pid)?.startTime === entry.startTime;
    const members = new Map<number, ProcessEntry>();
    for (const root of all.filter(isRoot)) {
      members.set(root.pid, root);
      for (const entry of descendants(all, root.pid)) members.set(entry.pid, entry);
    }
    for (const pid of ourselves(all)) members.delete(pid);
    const alive = [...members.values()].filter((entry) => !entry.zombie);
    for (const entry of alive) this.#known.set(entry.pid, entry);
    return alive;
  }

  async #clear(): Promise<readonly number[]> {
    const { init } = this.#options.launched;
    if (!this.#isolated) return endAll(() => this.#members(), QUIET_LOOKS);
    if (init !== null) {
      return endAll(async () => ((await this.#isStill(init)) ? [init] : []), 1);
    }
    // It died before it was seen: only the marker is left to go by.
    return sweepMarked(this.#options.reader, this.#options.request.marker);
  }

  async #isStill(entry: ProcessEntry): Promise<boolean> {
    const now = await this.#options.reader.read(entry.pid);
    return now !== null && !now.zombie && now.startTime === entry.startTime;
  }

  #later(ms: number, action: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, ms);
    this.#timers.add(timer);
  }

  /** Looks the more often the sooner the cap may be reached at the pace of the last look. */
  #watchOutput(before: number): void {
    const { outputMax } = this.#options.request;
    const size = fstatSync(this.#options.output).size;
    if (size > outputMax) {
      this.#overflow = true;
      this.kill(0);
      return;
    }
    const grown = Math.max(size - before, 0);
    const looks = grown === 0 ? Number.POSITIVE_INFINITY : (outputMax - size) / grown;
    const delay = looks < 4 ? OUTPUT_WATCH_MIN_MS : OUTPUT_WATCH_MS;
    this.#later(delay, () => {
      this.#watchOutput(size);
    });
  }

  #watchMembers(): void {
    this.#later(SNAPSHOT_MS, () => {
      void this.#membersSeen().then(() => {
        if (!this.#ended) this.#watchMembers();
      });
    });
  }

  /** What was written past the cap before the tree was dead is cut off. */
  #closeOutput(): void {
    const { output, request } = this.#options;
    if (fstatSync(output).size > request.outputMax) {
      this.#overflow = true;
      ftruncateSync(output, request.outputMax);
    }
    closeSync(output);
  }
}

/**
 * A command that a signal ended has code 128+n, as a shell says it, on every rung: inside a namespace that is all that
 * can be known. `signal` is set when it is certain.
 */
function asShellDoes(end: LeaderEnd | null): LeaderEnd {
  if (end === null) return { code: null, signal: null };
  if (end.signal === null) return end;
  const number = Object.entries(constants.signals).find(([name]) => name === end.signal)?.[1] ?? 0;
  return { code: 128 + number, signal: end.signal };
}

export function startedAtOf(entry: ProcessEntry | null): string {
  const boot = bootId();
  const start = entry?.startTime ?? '';
  return boot === '' ? start : `${boot}:${start}`;
}
