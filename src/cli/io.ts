/**
 * What a command may touch of its process: two streams, the environment, a few facts of the terminal. A reader that went
 * away (`troupe events | head`) ends a command quietly.
 */
import { readFileSync } from 'node:fs';

export interface Output {
  /** A terminal that shows people what is written. */
  readonly isTerminal: boolean;
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
  /** Resolves when all that was written is with the system. */
  flush(): Promise<void>;
  onResize(listener: () => void): () => void;
}

/** What a person types at a terminal. */
export interface Input {
  /** Whether somebody can type here: a terminal, and this process is in front of it. */
  canRead(): boolean;
  /**
   * Each key as it is typed, not shown; Ctrl-C, Ctrl-Z and Ctrl-\\ do what they always do. Until the function that is given
   * back is called, which also happens when the process ends by any way that it can notice.
   */
  read(listener: (piece: string) => void): () => void;
}

export type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export interface Io {
  readonly out: Output;
  readonly err: Output;
  readonly input: Input;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly pid: number;
  /** Aborts when nobody reads the output any more. */
  readonly gone: AbortSignal;
  /** While a listener is there the signal does not end the process. */
  onSignal(listener: (name: SignalName) => void): () => void;
  /** Called when the process ends by any way that it can notice. */
  onExit(listener: () => void): () => void;
}

const SIGNALS: readonly SignalName[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

export function makeIo(process: NodeJS.Process): Io {
  const gone = new AbortController();
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env))
    if (value !== undefined) env[name] = value;
  return {
    out: makeOutput(process.stdout, () => gone.abort()),
    err: makeOutput(process.stderr, () => undefined),
    input: makeInput(process),
    env,
    cwd: currentFolder(process),
    pid: process.pid,
    gone: gone.signal,
    onSignal(listener) {
      for (const name of SIGNALS) process.on(name, listener);
      return () => {
        for (const name of SIGNALS) process.off(name, listener);
      };
    },
    onExit(listener) {
      process.on('exit', listener);
      return () => process.off('exit', listener);
    },
  };
}

/** A folder that was removed under us is found out when it is used, with a message. */
function currentFolder(process: NodeJS.Process): string {
  try {
    return process.cwd();
  } catch {
    return process.env['PWD'] ?? '/';
  }
}

function makeOutput(stream: NodeJS.WriteStream, onGone: () => void): Output {
  let broken = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    broken = true;
    if (error.code === 'EPIPE') onGone();
  });
  return {
    isTerminal: stream.isTTY,
    get columns(): number {
      return stream.columns ?? 80;
    },
    get rows(): number {
      return stream.rows ?? 24;
    },
    write(text) {
      if (!broken) stream.write(text);
    },
    flush() {
      if (broken) return Promise.resolve();
      return new Promise((resolve) => {
        stream.write('', () => resolve());
      });
    },
    onResize(listener) {
      stream.on('resize', listener);
      return () => stream.off('resize', listener);
    },
  };
}

/** Keys that the terminal itself would have turned into signals. */
const SIGNAL_KEYS: Readonly<Record<string, NodeJS.Signals>> = {
  '\u0003': 'SIGINT',
  '\u001A': 'SIGTSTP',
  '\u001C': 'SIGQUIT',
};

function makeInput(process: NodeJS.Process): Input {
  const { stdin } = process;
  return {
    canRead: () => stdin.isTTY && isInFront(process.pid),
    read(listener) {
      const raw = (on: boolean): void => {
        // The terminal may be gone by now.
        try {
          stdin.setRawMode(on);
        } catch {}
      };
      const onData = (chunk: string): void => {
        const signal = chunk
          .split('')
          .map((char) => SIGNAL_KEYS[char])
          .find((one) => one !== undefined);
        if (signal === undefined) {
          listener(chunk);
          return;
        }
        if (signal !== 'SIGINT') raw(false);
        process.kill(process.pid, signal);
      };
      const onContinue = (): void => raw(true);
      const end = (): void => raw(false);
      stdin.ref();
      stdin.setEncoding('utf8');
      raw(true);
      stdin.on('data', onData);
      stdin.resume();
      process.on('SIGCONT', onContinue);
      process.on('exit', end);
      return () => {
        stdin.off('data', onData);
        process.off('SIGCONT', onContinue);
        process.off('exit', end);
        raw(false);
        stdin.pause();
        stdin.unref();
      };
    },
  };
}

/** Who reads from a terminal in the background is stopped. Where it can't be told, a person is taken to be there. */
function isInFront(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, , group, , , front] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return group === front;
  } catch {
    return true;
  }
}
