/**
 * The parent of a supervisor: starts it, starts it again when it dies, and ends with it when it goes down in order.
 *
 * It loads next to nothing, so that hardly anything can take it down.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, fstatSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorShape, ensureError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/ports.ts';
import { shiftFiles } from '../../platform/json-logger.ts';
import { KEEP_DOWN_MS, KEEP_LOOK_MS, LOG_BYTES_MAX, LOG_FILES } from './limits.ts';
import { type ParentNote, removeNote, startTimeOf, tells, writeNote } from './note.ts';
import { afterDeath, type Death } from './plan.ts';

export interface KeeperOptions {
  /** JavaScript of the process to keep; it tells `ready` or `failed` over its channel. */
  readonly entry: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** `.git/troupe`. */
  readonly state: string;
  readonly logger: Logger;
  /** A supervisor that is there already and has lost its parent. */
  readonly adopt?: number | undefined;
  /** Of the first pause before it is started again. */
  readonly backoffMs?: number;
  /** Each time it is ready; the first time whoever waits is told. */
  readonly onReady: (pid: number) => void;
}

export type Kept =
  /** It went down in order. */
  | { readonly kind: 'down' }
  /** It never got ready. */
  | { readonly kind: 'failed'; readonly error: ErrorShape }
  | { readonly kind: 'gave-up'; readonly text: string };

/** What a kept process tells over its channel. */
export type FromKept =
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly error: ErrorShape };

export function logFolder(state: string): string {
  return join(state, 'logs');
}

type Ended = { readonly code: number | null; readonly signal: string | null };

export class Keeper {
  readonly #options: KeeperOptions;
  readonly #deaths: Death[] = [];
  /** Of the process that is being kept. */
  #pid: number | null = null;
  #stops = 0;
  #wasReady = false;
  #failure: ErrorShape | null = null;
  #wake: () => void = () => undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
    mkdirSync(logFolder(options.state), { recursive: true, mode: 0o700 });
  }

  /** Asks it to go down; asked twice, at once. Whoever ignores it is killed after a while. */
  stop(): void {
    this.#stops += 1;
    this.#wake();
    if (this.#pid === null) return;
    const pid = this.#pid;
    signal(pid, 'SIGTERM');
    setTimeout(() => {
      if (this.#pid === pid) signal(pid, 'SIGKILL');
    }, KEEP_DOWN_MS).unref();
  }

  async keep(): Promise<Kept> {
    const { logger, adopt, state } = this.#options;
    let ended = adopt === undefined ? await this.#runOnce() : await this.#watch(adopt);
    for (;;) {
      if (ended.code === 0 || this.#stops > 0) {
        removeNote(state);
        logger.log('info', 'the supervisor went down', { ...ended });
        return { kind: 'down' };
      }
      if (!this.#wasReady) return { kind: 'failed', error: this.#failure ?? diedAtOnce(ended) };
      const reason = this.#failure?.message ?? describe(ended);
      this.#deaths.push({ atMs: performance.now(), reason });
      const next = afterDeath(this.#deaths, Math.random(), this.#options.backoffMs);
      logger.log('error', 'the supervisor died', { ...ended, reason, ...next });
      if (next.kind === 'give-up') {
        this.#note('gave-up', next.text);
        return { kind: 'gave-up', text: next.text };
      }
      this.#note('waiting', reason);
      await this.#pause(next.delayMs);
      if (this.#stops === 0) ended = await this.#runOnce();
    }
  }

  async #runOnce(): Promise<Ended> {
    const { entry, args, env } = this.#options;
    const crash = openCrashLog(logFolder(this.#options.state));
    let child: ChildProcess;
    try {
      child = spawn(process.execPath, [entry, ...args], {
        // A session of its own: Ctrl-C at the parent's terminal is the parent's to pass on.
        detached: true,
        cwd: '/',
        env,
        stdio: ['ignore', crash, crash, 'ipc'],
      });
    } finally {
      closeSync(crash);
    }
    this.#failure = null;
    this.#pid = child.pid ?? null;
    child.on('message', (message: unknown) => this.#heard(child, message as FromKept));
    const ended = await new Promise<Ended>((resolve) => {
      child.once('error', (error) => {
        this.#failure = { code: 'up/spawn', message: ensureError(error).message };
        resolve({ code: null, signal: null });
      });
      child.once('exit', (code, by) => resolve({ code, signal: by }));
    });
    this.#pid = null;
    return ended;
  }

  #heard(child: ChildProcess, message: FromKept): void {
    if (message.type === 'failed') this.#failure = message.error;
    else if (child.pid !== undefined) this.#ready(child.pid);
  }

  #ready(pid: number): void {
    this.#wasReady = true;
    this.#note('keeping', this.#deaths.at(-1)?.reason ?? null);
    this.#options.logger.log('info', 'the supervisor is ready', { supervisor: pid });
    this.#options.onReady(pid);
  }

  /** It is nobody's child any more: how it ends can only be seen. In order it takes its `supervisor.json` away. */
  async #watch(pid: number): Promise<Ended> {
    const began = startTimeOf(pid);
    this.#pid = pid;
    this.#ready(pid);
    while (isAlive(pid) && startTimeOf(pid) === began) await this.#pause(KEEP_LOOK_MS);
    this.#pid = null;
    return { code: tells(this.#options.state) ? null : 0, signal: null };
  }

  #note(state: ParentNote['state'], reason: string | null): void {
    const { logger } = this.#options;
    try {
      writeNote(this.#options.state, {
        state,
        reason,
        supervisor: state === 'keeping' ? this.#pid : null,
        restarts: this.#deaths.length,
        log: logFolder(this.#options.state),
      });
    } catch (error) {
      logger.log('error', 'parent.json can not be written', { cause: ensureError(error).message });
    }
  }

  /** Until the time is over or somebody asks to stop. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** What Node itself says of a crash; emptied into an older file when it is long. */
function openCrashLog(folder: string): number {
  const file = join(folder, 'crash.log');
  const open = (): number =>
    openSync(file, constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY, 0o600);
  const descriptor = open();
  if (fstatSync(descriptor).size < LOG_BYTES_MAX) return descriptor;
  closeSync(descriptor);
  shiftFiles(file, LOG_FILES);
  return open();
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone, which is what was wanted.
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function describe({ code, signal: by }: Ended): string {
  if (by !== null) return `killed by ${by}`;
  return code === null ? 'it went away' : `exit status ${code}`;
}

function diedAtOnce(ended: Ended): ErrorShape {
  return {
    code: 'up/died',
    message: `the supervisor ended before it was ready: ${describe(ended)}`,
    exit: 1,
  };
}
