/**
 * `Exec` on node:child_process.
 *
 * `run` may be called on any thread. `spawn` may not: the kernel binds "dies with its parent" to the *thread* that
 * started a process, so a command started by a worker would die with that worker.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readlinkSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type {
  Exec,
  ExecRequest,
  ExecResult,
  Logger,
  SpawnedProcess,
  SpawnRequest,
} from '../kernel/ports.ts';
import { platformError } from './errors.ts';
import { type Launched, launch } from './exec-launch.ts';
import { namedStartError, runCaptured } from './exec-run.ts';
import { Standby } from './exec-standby.ts';
import { ProcessTree, startedAtOf } from './exec-tree.ts';
import { findProgram, programState, systemWrappers, type Wrapper } from './isolation.ts';
import { MARKER_NAME, makeProcessReader, type ProcessReader, SCOPE_NAME } from './process-table.ts';
import { noSandbox, type Sandboxed, sandboxed } from './sandbox.ts';
import { sweepMarked } from './strays.ts';

export interface NodeExecOptions {
  /** Told when a wrapper that worked at the probe fails later. */
  readonly logger?: Logger;
  /** Rungs to use, best first; default: those that the machine has. */
  readonly wrappers?: Promise<readonly Wrapper[]>;
  /** Lets a worker thread spawn. Its commands die with it. */
  readonly onWorkerThread?: boolean;
  readonly reader?: ProcessReader;
  /** How the proxy of the sandbox finds the addresses of a host; default: the system's way. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

export class NodeExec implements Exec {
  readonly #options: NodeExecOptions;
  readonly #reader: ProcessReader;
  readonly #standby = new Standby();

  constructor(options: NodeExecOptions = {}) {
    this.#options = options;
    this.#reader = options.reader ?? makeProcessReader();
  }

  run(request: ExecRequest, signal?: AbortSignal): Promise<ExecResult> {
    return runCaptured(request, signal);
  }

  async spawn(request: SpawnRequest): Promise<SpawnedProcess> {
    if (!onMainThread() && this.#options.onWorkerThread !== true) {
      throw platformError({
        code: 'exec/not-main-thread',
        message: `${request.file} must be started by the main thread, else it dies with the worker`,
      });
    }
    const program = await programOf(request);
    const held =
      request.sandbox === undefined
        ? null
        : await sandboxed(request.sandbox, { ...request, resolve: this.#options.resolve });
    const wrappers =
      held === null ? await (this.#options.wrappers ?? systemWrappers()) : [held.wrapper];
    let output = -1;
    try {
      output = openOutput(request.outputPath);
      const asked = held === null ? request : { ...request, env: held.env };
      const { launched, wrapper } = await this.#launch({
        request: asked,
        program,
        wrappers,
        output,
      });
      const leader = launched.leader ?? (await this.#reader.read(launched.pid));
      const rung = wrapper.isolation;
      const startedAt = startedAtOf(leader);
      const reader = this.#reader;
      const tree = new ProcessTree({ request, launched, rung, output, reader, startedAt });
      void tree.exited.then(() => this.#standby.prepare(wrapper));
      return held === null ? tree : settled(tree, held);
    } catch (error) {
      if (output >= 0) closeSync(output);
      await held?.close();
      throw await namedStartError(error, request);
    }
  }

  sweep(marker: string): Promise<readonly number[]> {
    return sweepMarked(this.#reader, marker);
  }

  /** The best rung that starts it; `none` always does, or rejects. */
  async #launch(start: {
    readonly request: SpawnRequest;
    readonly program: string;
    readonly wrappers: readonly Wrapper[];
    readonly output: number;
  }): Promise<{ launched: Launched; wrapper: Wrapper }> {
    const { request, program, output } = start;
    // Wrappers set PWD themselves, so it is the command's folder on every rung.
    const scope = request.env[SCOPE_NAME];
    const own = scope === undefined ? 0 : scope.length + 1;
    const env = {
      ...request.env,
      PWD: request.cwd,
      [MARKER_NAME]: request.marker.slice(own),
    };
    const size = fstatSync(output).size;
    for (const wrapper of start.wrappers) {
      const argv = [...wrapper.prefix(env), program, ...request.args];
      const rung = wrapper.isolation;
      const { cwd, outputPath } = request;
      const command = [program, ...request.args] as const;
      const standing = this.#standby.take(wrapper, { argv: command, cwd, env, outputPath });
      if (standing !== null) return { launched: standing, wrapper };
      const launched = await launch({ argv, cwd, env, output, rung });
      if (launched.kind === 'launched') return { launched, wrapper };
      // What the wrapper complained about is not the command's output.
      ftruncateSync(output, size);
      if (request.sandbox !== undefined) break;
      const message = `commands are no longer isolated by ${wrapper.detail}`;
      this.#options.logger?.log('warn', message, { reason: launched.reason });
    }
    if (request.sandbox === undefined) {
      throw new Error('no rung of isolation is left to start a command');
    }
    throw noSandbox('bubblewrap ended before the command');
  }
}

/** Its end is told when the sandbox has looked after what it left in the tree. */
function settled(tree: ProcessTree, held: Sandboxed): SpawnedProcess {
  const { pid, startedAt } = tree;
  const exited = tree.exited.then(async (exit) => {
    // What could not be moved is named all the same; the tree's owner hears of it.
    const setAside = await held.settle().catch(() => ['a protected name, which stays']);
    await held.close();
    return { ...exit, setAside, refused: held.refused() };
  });
  return { pid, startedAt, exited, kill: (graceMs) => tree.kill(graceMs) };
}

/** By the kernel's word: its first thread has the process's number. Where there is no /proc, nothing is bound to threads. */
function onMainThread(): boolean {
  try {
    const [pid, , thread] = readlinkSync('/proc/thread-self').split('/');
    return pid === thread;
  } catch {
    return true;
  }
}

/** The program's absolute path: a wrapper would report a missing one in its own words, in the command's output. */
async function programOf(request: SpawnRequest): Promise<string> {
  const folders = (request.env['PATH'] ?? '/usr/bin:/bin')
    .split(':')
    .map((folder) => resolve(request.cwd, folder));
  const byPath = request.file.includes('/');
  const named = isAbsolute(request.file) ? request.file : resolve(request.cwd, request.file);
  const program = findProgram(byPath ? named : request.file, folders);
  if (program !== null) return program;
  const code = byPath ? programState(named) : 'ENOENT';
  throw await namedStartError(Object.assign(new Error(code), { code }), request);
}

/** Appending, so that what a child writes through /dev/stdout after cutting the file does not leave a hole. */
function openOutput(path: string): number {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  return openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
}
