/**
 * A short command with captured output. It runs in a process group of its own that is killed at its time limit, at an
 * abort, and, should something of it live on, when its leader ends: a child that keeps the pipes open never keeps the
 * caller waiting.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { ensureError, systemCode } from '../kernel/errors.ts';
import type { ExecRequest, ExecResult } from '../kernel/ports.ts';
import { DRAIN_MS, TIMER_MS_MAX } from './limits.ts';

/** Rejects only when the program can't be started. An abort is no error: the result has `signal: 'SIGKILL'`. */
export async function runCaptured(request: ExecRequest, signal?: AbortSignal): Promise<ExecResult> {
  if (isAborted(signal)) return { ...NEVER_STARTED };
  const child = await start(request);
  const stdout = new Capture(child.stdout, request.outputMax);
  const stderr = new Capture(child.stderr, request.outputMax);
  let timedOut = false;
  const killGroup = (): void => {
    killProcessGroup(child);
  };
  const timer = setTimeout(
    () => {
      timedOut = true;
      killGroup();
    },
    Math.min(request.timeoutMs, TIMER_MS_MAX),
  );
  signal?.addEventListener('abort', killGroup, { once: true });
  // The abort may have come while the program was being started.
  if (isAborted(signal)) killGroup();
  feed(child, request.stdin);
  const end = await leaderEnd(child);
  clearTimeout(timer);
  signal?.removeEventListener('abort', killGroup);
  killGroup();
  await drained(child);
  return {
    ...end,
    stdout: stdout.text(),
    stderr: stderr.text(),
    timedOut,
    truncated: stdout.truncated || stderr.truncated,
  };
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

const NEVER_STARTED: ExecResult = {
  code: null,
  signal: 'SIGKILL',
  stdout: '',
  stderr: '',
  timedOut: false,
  truncated: false,
};

async function start(request: ExecRequest): Promise<ChildProcess> {
  try {
    const child = spawn(request.file, [...request.args], {
      cwd: request.cwd,
      env: { ...request.env },
      detached: true,
      stdio: [request.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    return child;
  } catch (error) {
    throw await namedStartError(error, request);
  }
}

/** Node says `spawn git ENOENT` also when it is the folder that is missing. */
export async function namedStartError(
  error: unknown,
  request: { readonly file: string; readonly cwd: string },
): Promise<Error> {
  const code = systemCode(error);
  if (code !== 'ENOENT' && code !== 'EACCES' && code !== 'ENOTDIR') return ensureError(error);
  let reason = `program ${request.file}`;
  try {
    if (!(await stat(request.cwd)).isDirectory()) reason = `${request.cwd} is not a directory`;
  } catch (cause) {
    reason = `directory ${request.cwd}: ${systemCode(cause)}`;
  }
  const named = new Error(`cannot start ${request.file}: ${code} (${reason})`, { cause: error });
  return Object.assign(named, { code });
}

function leaderEnd(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      resolve({ code, signal });
    });
  });
}

/** What is still in the pipes is read; a stray outside the group that holds them open is given `DRAIN_MS`. */
function drained(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => {
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve();
    }, DRAIN_MS);
    const streams = [child.stdout, child.stderr].filter((stream) => stream?.closed === false);
    let open = streams.length;
    const onClose = (): void => {
      open -= 1;
      if (open > 0) return;
      clearTimeout(cut);
      resolve();
    };
    if (open === 0) onClose();
    for (const stream of streams) stream?.once('close', onClose);
  });
}

function killProcessGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    // ESRCH: the group is empty. EPERM (macOS): it holds zombies only.
    if (systemCode(error) !== 'ESRCH' && systemCode(error) !== 'EPERM') throw error;
  }
}

function feed(child: ChildProcess, stdin: string | Uint8Array | undefined): void {
  if (child.stdin === null || stdin === undefined) return;
  // A program may end without having read all of it (EPIPE); its exit tells enough.
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
}

/** Keeps the first `max` bytes of a stream and drops, but reads, the rest. */
class Capture {
  readonly #chunks: Buffer[] = [];
  readonly #max: number;
  #size = 0;
  truncated = false;

  constructor(stream: Readable | null, max: number) {
    this.#max = max;
    stream?.on('data', (chunk: Buffer) => {
      this.#take(chunk);
    });
    stream?.on('error', () => undefined);
  }

  #take(chunk: Buffer): void {
    const room = this.#max - this.#size;
    if (chunk.length > room) this.truncated = true;
    if (room <= 0) return;
    const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
    this.#chunks.push(kept);
    this.#size += kept.length;
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
