/** Operating failures of the journal; the only place that builds them. */
import { EXIT, TroupeError } from '../kernel/index.ts';

export type JournalErrorCode =
  | 'journal/closed'
  | 'journal/failed'
  | 'journal/foreign'
  | 'journal/full'
  | 'journal/newer-version'
  | 'journal/overloaded'
  | 'journal/snapshot'
  | 'journal/damaged'
  | 'journal/blob'
  | 'journal/record-too-large';

interface ErrorParts {
  readonly message: string;
  readonly hint?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly retryable?: boolean;
  readonly exit?: TroupeError['exit'];
  readonly cause?: unknown;
}

function make(code: JournalErrorCode, parts: ErrorParts): TroupeError {
  return new TroupeError({ code, ...parts });
}

export function closed(directory: string): TroupeError {
  return make('journal/closed', {
    message: `The journal ${directory} is closed.`,
    data: { directory },
  });
}

/** `what` is the operation that failed: `fdatasync`, `write`, `open`. */
export function failed(directory: string, what: string, cause: unknown): TroupeError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return make('journal/failed', {
    message: `Writing the journal ${directory} failed (${what}): ${detail}.`,
    hint: 'Nothing more is written. Check the disk, then start again: recovery reads what is safe.',
    data: { directory, operation: what },
    exit: EXIT.storage,
    cause,
  });
}

export function full(directory: string, cause: unknown): TroupeError {
  return make('journal/full', {
    message: `No space is left on the disk (ENOSPC) for ${directory}.`,
    hint: 'Free some space there and try again; nothing that was accepted is lost.',
    data: { directory },
    retryable: true,
    exit: EXIT.storage,
    cause,
  });
}

export function overloaded(directory: string, queuedBytes: number): TroupeError {
  return make('journal/overloaded', {
    message: `The journal ${directory} has ${queuedBytes} bytes waiting for the disk.`,
    hint: 'Wait for flush() and try again.',
    data: { directory, queuedBytes },
    retryable: true,
  });
}

/** `cause` has a system code that says so. */
export function readOnly(directory: string, cause: unknown): TroupeError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return make('journal/failed', {
    message: `The journal ${directory} may not be read and written (open): ${detail}.`,
    hint: 'Check who owns the folder and whether the disk is mounted read-only. Nothing was changed.',
    data: { directory, operation: 'open' },
    exit: EXIT.storage,
    cause,
  });
}

/** The journal goes on without it. */
export function snapshot(directory: string, cause: unknown): TroupeError {
  const detail = cause instanceof Error ? cause.message : String(cause);
  return make('journal/snapshot', {
    message: `No snapshot of the journal ${directory} could be written: ${detail}.`,
    hint: 'Nothing is lost; the next start replays more.',
    data: { directory },
    retryable: true,
    cause,
  });
}

export function damaged(directory: string, detail: string): TroupeError {
  return make('journal/damaged', {
    message: `The journal ${directory} is damaged and stays as it is: ${detail}`,
    hint: 'See `troupe doctor`.',
    data: { directory },
    exit: EXIT.storage,
  });
}

export function blob(what: { id: string; directory: string; detail: string }): TroupeError {
  const { id, directory, detail } = what;
  return make('journal/blob', {
    message: `The payload ${id} in ${directory} ${detail}.`,
    hint: 'See `troupe doctor`.',
    data: { id, directory },
    exit: EXIT.storage,
  });
}

export function recordTooLarge(kind: string, sizes: { bytes: number; max: number }): TroupeError {
  return make('journal/record-too-large', {
    message: `A "${kind}" record of ${sizes.bytes} bytes is larger than ${sizes.max}.`,
    hint: 'Put the payload into blobs/ and its name into the record.',
    data: { kind, ...sizes },
  });
}

export function newerVersion(file: string, version: number): TroupeError {
  return make('journal/newer-version', {
    message: `${file} was written by a newer Troupe (journal format ${version}; this one reads 1).`,
    hint: 'Use the newer Troupe for this repository. Nothing was changed.',
    data: { file, version },
    exit: EXIT.usage,
  });
}

export function foreign(
  file: string,
  what: { field: 'log' | 'name'; found: string; expected: string },
): TroupeError {
  return make('journal/foreign', {
    message: `${file} belongs to another journal (${what.field} "${what.found}", expected "${what.expected}").`,
    hint: 'Segments of different runs were put into one folder; move the foreign ones out. Nothing was changed.',
    data: { file, line: 1, ...what },
    exit: EXIT.usage,
  });
}
