/**
 * A namespace that stands ready for the next command: made when a command has ended, while the agent thinks, so that the
 * command after it waits for no programs but its own. Nothing of a command is in it before it is taken: an empty
 * environment, no folder, a shell as the namespace's first process that reads its script from a pipe of ours.
 *
 * Invariants: S. It dies as a wrapper does (with the thread that made it, or by its killed first process), and it runs only
 * what came whole: the command is one compound of the shell, which is read to its end before any of it is done.
 * Only for the rung `unshare`. What is outside of a sandbox depends on the tree as it is at the start of the command.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { shellQuoted } from '../kernel/shell-word.ts';
import { endOf, initOf, type Launched, type LeaderEnd, saysStarted } from './exec-launch.ts';
import type { Wrapper } from './isolation.ts';
import { STANDBY_AFTER_MS, STANDBY_MS_MAX } from './limits.ts';
import { pause } from './pause.ts';
import { type ProcessEntry, readStat } from './process-table.ts';

interface Ready {
  readonly wrapper: Wrapper;
  readonly child: ChildProcess;
  readonly script: Writable;
  readonly leader: ProcessEntry;
  readonly init: ProcessEntry;
  readonly ended: Promise<LeaderEnd>;
  readonly since: number;
}

export interface StandbyCommand {
  readonly argv: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** A file that is there; what the command writes is added to it. */
  readonly outputPath: string;
}

export class Standby {
  readonly #ageMax: number;
  #ready: Ready | null = null;
  #making = false;

  constructor(ageMax: number = STANDBY_MS_MAX) {
    this.#ageMax = ageMax;
  }

  /** Makes one unless there is one; done when it stands. Never throws: the next command then starts as the first one did. */
  async prepare(wrapper: Wrapper): Promise<void> {
    const { standby } = wrapper;
    if (standby === undefined || this.#making || this.#ready !== null) return;
    this.#making = true;
    // Who waits for the command that ended comes first.
    await pause(STANDBY_AFTER_MS);
    const ready = await make(wrapper, standby).catch(() => null);
    this.#ready = ready;
    this.#making = false;
    void ready?.ended.then(() => {
      if (this.#ready === ready) this.#ready = null;
    });
  }

  /** Starts the command in what stands ready; null when nothing does, or when it can't take this command. */
  take(wrapper: Wrapper, command: StandbyCommand): Launched | null {
    const ready = this.#ready;
    if (ready === null || ready.wrapper !== wrapper || wrapper.standby === undefined) return null;
    const { child, leader, init, ended } = ready;
    if (performance.now() - ready.since >= this.#ageMax) {
      // Mounts made since then are not seen inside.
      this.#ready = null;
      child.kill('SIGKILL');
      return null;
    }
    const script = scriptOf(command);
    if (script === null || !isEnterable(command.cwd)) return null;
    this.#ready = null;
    child.ref();
    ready.script.end(script);
    return { kind: 'launched', pid: leader.pid, leader, init, ended };
  }
}

async function make(wrapper: Wrapper, words: readonly string[]): Promise<Ready | null> {
  const [file = '', ...args] = words;
  const child = spawn(file, args, {
    cwd: '/',
    env: {},
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const leader = child.pid === undefined ? null : readStat(child.pid);
  const ended = endOf(child);
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  const { stdin, stdout } = child;
  stdin.on('error', () => undefined);
  stdin.write('printf s; exec >/dev/null\n');
  const init =
    (await saysStarted(stdout, ended)) && leader !== null ? await initOf(leader.pid) : null;
  stdout.destroy();
  if (init === null || leader === null) {
    child.kill('SIGKILL');
    return null;
  }
  letGo(child);
  return { wrapper, child, script: stdin, leader, init, ended, since: performance.now() };
}

/** What waits keeps nobody from ending. */
function letGo(child: ChildProcess): void {
  child.unref();
  const { stdin } = child;
  if (stdin !== null && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
}

/** Variables that mean something to the shell itself. */
const OF_THE_SHELL: ReadonlySet<string> = new Set(['OPTIND', 'LINENO', 'PPID', 'IFS', 'PS4']);

/** null when only a start of its own passes this on as it is. */
function scriptOf(command: StandbyCommand): string | null {
  const { argv, cwd, env, outputPath } = command;
  const names = Object.keys(env).filter((name) => /^[A-Za-z_]\w*$/.test(name));
  const texts = [...argv, cwd, outputPath, ...names.map((name) => env[name] ?? '')];
  if (texts.some((text) => text.includes('\0')) || names.some((name) => OF_THE_SHELL.has(name))) {
    return null;
  }
  const own = names.map((name) => `${name}=${shellQuoted(env[name] ?? '')}`);
  const unset = ['PWD', 'OLDPWD'].filter((name) => env[name] === undefined);
  const steps = [
    `cd ${shellQuoted(cwd)}`,
    ...(unset.length === 0 ? [] : [`unset ${unset.join(' ')}`]),
    ...(own.length === 0 ? [] : [`export ${own.join(' ')}`]),
    `exec ${argv.map(shellQuoted).join(' ')} </dev/null >>${shellQuoted(outputPath)} 2>&1`,
  ];
  return `{ (${steps.join(' && ')}); exit $?; }\n`;
}

/** Else Node says best what is wrong with it. */
function isEnterable(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK);
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}
