/**
 * `Logger` that writes one JSON object a line, to stderr or to a file (0600, appended with one call a line, so that the
 * lines of several processes do not mix). It never throws: a log that can't be written is no reason to stop.
 */
import { closeSync, constants, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { ensureError, isTroupeError, systemCode } from '../kernel/errors.ts';
import type { Clock, Logger, LogLevel } from '../kernel/ports.ts';
import { isoTime } from '../kernel/time.ts';
import { LOG_LINE_MAX } from './limits.ts';

export interface JsonLoggerOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Absolute path; default: stderr. */
  readonly file?: string;
  /** Lines below it are dropped; default `info`. */
  readonly level?: LogLevel;
  /** Of a file that one process writes: past so many bytes it becomes `<file>.1`, what was that `<file>.2`, and so on. */
  readonly rotate?: { readonly bytes: number; readonly files: number };
  /** In every line. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

const RANK: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };
const STDERR = 2;

export class JsonLogger implements Logger {
  readonly #options: JsonLoggerOptions;
  readonly #rank: number;
  #descriptor: number;
  #size = 0;

  /** Throws when the file can't be opened. */
  constructor(options: JsonLoggerOptions) {
    this.#options = options;
    this.#rank = RANK[options.level ?? 'info'];
    this.#descriptor = options.file === undefined ? STDERR : this.#open(options.file);
  }

  log(level: LogLevel, message: string, data?: Readonly<Record<string, unknown>>): void {
    if (RANK[level] < this.#rank) return;
    const head = { at: isoTime(this.#options.clock.now()), level, message };
    try {
      const line = `${toLine({ ...head, ...this.#options.fields, ...data })}\n`;
      writeSync(this.#descriptor, line);
      this.#size += line.length;
      this.#rotateIfFull();
    } catch {
      // A closed stderr, a full disk: there is nobody left to tell.
    }
  }

  #open(file: string): number {
    const { O_APPEND, O_CREAT, O_WRONLY } = constants;
    const descriptor = openSync(file, O_APPEND | O_CREAT | O_WRONLY, 0o600);
    this.#size = fstatSync(descriptor).size;
    return descriptor;
  }

  #rotateIfFull(): void {
    const { file, rotate } = this.#options;
    if (file === undefined || rotate === undefined || this.#size < rotate.bytes) return;
    shiftFiles(file, rotate.files);
    const old = this.#descriptor;
    this.#descriptor = this.#open(file);
    closeSync(old);
  }

  close(): void {
    if (this.#descriptor !== STDERR) closeSync(this.#descriptor);
  }
}

/** Makes room for a new `file`: keeps `count` older ones beside it. */
export function shiftFiles(file: string, count: number): void {
  for (let n = count; n >= 1; n -= 1) {
    const from = n === 1 ? file : `${file}.${n - 1}`;
    try {
      renameSync(from, `${file}.${n}`);
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') throw error;
    }
  }
}

function toLine(fields: Readonly<Record<string, unknown>>): string {
  const seen = new WeakSet<object>();
  const line = JSON.stringify(fields, (_key, value: unknown) => {
    if (typeof value === 'bigint') return value.toString();
    if (value instanceof Error) return errorFields(value);
    if (typeof value !== 'object' || value === null) return value;
    if (seen.has(value)) return '[seen]';
    seen.add(value);
    return value;
  });
  if (line.length <= LOG_LINE_MAX) return line;
  const { at, level, message } = fields;
  return JSON.stringify({ at, level, message: String(message).slice(0, 1000), cut: line.length });
}

/** With the stack: the log is where stacks belong. */
function errorFields(error: Error): Readonly<Record<string, unknown>> {
  const { name, message, stack, cause } = error;
  const own = isTroupeError(error) ? { code: error.code, data: error.data } : {};
  return {
    name,
    message,
    ...own,
    stack,
    ...(cause === undefined ? {} : { cause: ensureError(cause) }),
  };
}
