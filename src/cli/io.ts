/**
 * What a command may touch of its process: two streams, the environment, a few facts of the terminal. A reader that went
 * away (`troupe events | head`) ends a command quietly.
 */

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

export type SignalName = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export interface Io {
  readonly out: Output;
  readonly err: Output;
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
