/**
 * `Exec` whose programs are answers that a test has written. A command for which there is no answer fails the test by
 * rejecting; it never seems to succeed.
 */
import {
  type Clock,
  type Exec,
  type ExecRequest,
  type ExecResult,
  type Files,
  invariant,
  type SpawnExit,
  type SpawnedProcess,
  type SpawnRequest,
} from '../kernel/index.ts';

/** By the words of the command line, which may go on after them, or by whatever the request shows. */
export type CommandMatch<R> = readonly string[] | ((request: R) => boolean);

export type RunAnswer =
  | Partial<ExecResult>
  | ((
      request: ExecRequest,
      signal: AbortSignal | undefined,
    ) => Partial<ExecResult> | Promise<Partial<ExecResult>>);

/** What a spawned program does. */
export interface SpawnScript {
  readonly output?: string;
  /** Runs so long; `until-killed` never ends by itself. Default: ends at once. */
  readonly ms?: number | 'until-killed';
  readonly code?: number;
  /** What it does about TERM; default: it ends with 143. */
  readonly onTerm?: 'ends' | 'ignores';
  readonly left?: readonly number[];
}

export interface ScriptedExecOptions {
  readonly clock: Clock;
  /** Where the output of spawned programs goes. */
  readonly files: Files;
}

interface Running {
  readonly marker: string;
  readonly process: SpawnedProcess;
}

export class ScriptedExec implements Exec {
  /** All that was asked for, in order. */
  readonly runs: ExecRequest[] = [];
  readonly spawns: SpawnRequest[] = [];
  readonly #options: ScriptedExecOptions;
  readonly #runAnswers: { match: CommandMatch<ExecRequest>; answer: RunAnswer }[] = [];
  readonly #scripts: { match: CommandMatch<SpawnRequest>; script: SpawnScript }[] = [];
  readonly #running = new Set<Running>();
  #lastPid = 1000;

  constructor(options: ScriptedExecOptions) {
    this.#options = options;
  }

  /** The answer given last wins. */
  whenRun(match: CommandMatch<ExecRequest>, answer: RunAnswer): this {
    this.#runAnswers.unshift({ match, answer });
    return this;
  }

  whenSpawned(match: CommandMatch<SpawnRequest>, script: SpawnScript): this {
    this.#scripts.unshift({ match, script });
    return this;
  }

  /** Markers of what runs now. */
  get running(): readonly string[] {
    return [...this.#running].map((entry) => entry.marker);
  }

  async run(request: ExecRequest, signal?: AbortSignal): Promise<ExecResult> {
    this.runs.push(request);
    const found = this.#runAnswers.find(({ match }) => matches(match, request));
    if (found === undefined) throw notScripted(request);
    const { answer } = found;
    const result = typeof answer === 'function' ? await answer(request, signal) : answer;
    return { ...SUCCESS, ...(signal?.aborted === true ? KILLED : {}), ...result };
  }

  async spawn(request: SpawnRequest): Promise<SpawnedProcess> {
    this.spawns.push(request);
    const found = this.#scripts.find(({ match }) => matches(match, request));
    if (found === undefined) throw notScripted(request);
    const overflow = await this.#write(request, found.script.output ?? '');
    this.#lastPid += 1;
    const process = new ScriptedProcess({
      pid: this.#lastPid,
      clock: this.#options.clock,
      script: found.script,
      overflow,
    });
    const running: Running = { marker: request.marker, process };
    this.#running.add(running);
    void process.exited.then(() => this.#running.delete(running));
    return process;
  }

  async sweep(marker: string): Promise<readonly number[]> {
    invariant(marker !== '', 'S: a sweep needs a marker');
    const found = [...this.#running].filter(
      (entry) => entry.marker === marker || entry.marker.startsWith(withSlash(marker)),
    );
    for (const entry of found) entry.process.kill(0);
    const exits = await Promise.all(found.map((entry) => entry.process.exited));
    return exits.flatMap((exit) => exit.left);
  }

  async #write(request: SpawnRequest, output: string): Promise<boolean> {
    const bytes = new TextEncoder().encode(output);
    const handle = await this.#options.files.open(request.outputPath, 'append');
    try {
      const kept = bytes.subarray(0, request.outputMax);
      for (let written = 0; written < kept.length; )
        written += handle.write(kept.subarray(written));
    } finally {
      await handle.close();
    }
    return bytes.length > request.outputMax;
  }
}

class ScriptedProcess implements SpawnedProcess {
  readonly pid: number;
  readonly startedAt: string;
  readonly exited: Promise<SpawnExit>;
  readonly #clock: Clock;
  readonly #script: SpawnScript;
  readonly #over = new AbortController();
  #settle: (exit: SpawnExit) => void = () => undefined;

  constructor(options: {
    readonly pid: number;
    readonly clock: Clock;
    readonly script: SpawnScript;
    readonly overflow: boolean;
  }) {
    const { script, overflow } = options;
    this.pid = options.pid;
    this.#clock = options.clock;
    this.#script = script;
    this.startedAt = `scripted:${String(options.clock.now())}`;
    this.exited = new Promise((resolve) => {
      this.#settle = (exit) => {
        this.#over.abort(new Error('ended'));
        resolve(exit);
      };
    });
    if (overflow) this.#end(137, 'SIGKILL', true);
    else if (script.ms !== 'until-killed') {
      this.#after(script.ms ?? 0, () => {
        this.#end(script.code ?? 0, null);
      });
    }
  }

  kill(graceMs: number): void {
    if (this.#over.signal.aborted) return;
    if (graceMs <= 0) this.#end(137, 'SIGKILL');
    else if (this.#script.onTerm === 'ignores') {
      this.#after(graceMs, () => {
        this.#end(137, 'SIGKILL');
      });
    } else this.#end(143, null);
  }

  #after(ms: number, action: () => void): void {
    // Rejects when the process ended in another way meanwhile.
    this.#clock.sleep(ms, this.#over.signal).then(action, () => undefined);
  }

  #end(code: number, signal: string | null, overflow = false): void {
    this.#settle({ code, signal, overflow, left: this.#script.left ?? [] });
  }
}

const SUCCESS: ExecResult = {
  code: 0,
  signal: null,
  stdout: '',
  stderr: '',
  timedOut: false,
  truncated: false,
};

const KILLED: Partial<ExecResult> = { code: null, signal: 'SIGKILL' };

interface Command {
  readonly file: string;
  readonly args: readonly string[];
}

function matches<R extends Command>(match: CommandMatch<R>, request: R): boolean {
  if (typeof match === 'function') return match(request);
  const words = [request.file, ...request.args];
  return match.every((word, index) => words[index] === word);
}

function notScripted(request: Command): Error {
  const words = [request.file, ...request.args].map((word) => JSON.stringify(word)).join(' ');
  return new Error(`ScriptedExec has no answer for ${words}`);
}

function withSlash(marker: string): string {
  return marker.endsWith('/') ? marker : `${marker}/`;
}
