/** How a command's failure is told: on stderr for people, as one JSON document on stdout with `--json`. Never a stack. */
import { SHAPES_ONLY } from '../events/index.ts';
import type { ExitCode } from '../kernel/errors.ts';
import { EXIT, ensureError, isTroupeError, systemCode, TroupeError } from '../kernel/errors.ts';
import type { Io } from './io.ts';
import { hintAt, type Where } from './next.ts';
import { safeText } from './text/safe.ts';

/** Of a command that writes a file and has `--force`. */
export function existsError(shown: string): TroupeError {
  return new TroupeError({
    code: 'cli/exists',
    message: `${shown} exists already`,
    hint: 'Name another file, or use --force to overwrite it.',
    exit: EXIT.usage,
  });
}

export function usageError(message: string, hint?: string): TroupeError {
  return new TroupeError({ code: 'cli/usage', message, hint, exit: EXIT.usage });
}

const HERE: Where = { workspace: undefined, cwd: '/' };

/** Prints it and returns how to exit. */
export function tellFailure(io: Io, thrown: unknown, json: boolean, where?: Where): ExitCode {
  const error = explained(thrown);
  const said = SHAPES_ONLY.text(error.message);
  const hint = error.hint === undefined ? undefined : hintAt(where ?? HERE, error.hint);
  if (json) {
    const { code, data } = error;
    const document = { error: { code, message: said, hint: hint ?? null }, ...lists(data) };
    io.out.write(`${JSON.stringify(document)}\n`);
  } else {
    io.err.write(`troupe: ${safeText(said)}\n`);
    if (hint !== undefined) io.err.write(`  ${safeText(hint).replaceAll('\n', '\n  ')}\n`);
  }
  if (io.env['TROUPE_DEBUG'] === '1') io.err.write(`${stackOf(thrown)}\n`);
  return error.exit;
}

/** Something is wrong that does not end the command; always on stderr. */
export function tellWarning(io: Io, error: TroupeError): void {
  io.err.write(`troupe: ${safeText(SHAPES_ONLY.text(error.message))}\n`);
  if (error.hint !== undefined) io.err.write(`  ${safeText(error.hint)}\n`);
}

/** What a program wants besides the words. */
function lists(data: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { problems, files } = data;
  return {
    ...(problems === undefined ? {} : { problems: SHAPES_ONLY.data(problems) }),
    ...(files === undefined ? {} : { files }),
  };
}

function stackOf(thrown: unknown): string {
  const error = ensureError(thrown);
  const cause = error.cause === undefined ? '' : `\ncaused by ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

/** Failures of the system get a sentence; anything else is a bug of ours and says so. */
function explained(thrown: unknown): TroupeError {
  if (isTroupeError(thrown)) return thrown;
  const error = ensureError(thrown);
  const what = SYSTEM[systemCode(thrown)];
  if (what !== undefined) {
    const code = `system/${systemCode(thrown).toLowerCase()}`;
    return new TroupeError({ ...what, code, message: `${what.message}: ${error.message}` });
  }
  return new TroupeError({
    code: 'internal',
    message: `something went wrong inside troupe: ${error.message}`,
    hint: 'This is a bug. Run the command again with TROUPE_DEBUG=1 for the details of a report.',
    exit: EXIT.unfinished,
  });
}

const SYSTEM: Readonly<Record<string, { message: string; hint: string; exit: ExitCode }>> = {
  EACCES: {
    message: 'permission denied',
    hint: 'Look who owns the file and who may read or write it.',
    exit: EXIT.usage,
  },
  EPERM: { message: 'not permitted', hint: 'Look who owns the file.', exit: EXIT.usage },
  EROFS: {
    message: 'the file system is read-only',
    hint: 'Troupe keeps its state in the git directory of the repository, which must be writable.',
    exit: EXIT.usage,
  },
  ENOSPC: {
    message: 'the disk is full',
    hint: 'Make room, then go on with `troupe resume`.',
    exit: EXIT.storage,
  },
  EDQUOT: { message: 'the disk quota is used up', hint: 'Make room.', exit: EXIT.storage },
  EIO: {
    message: 'the disk failed',
    hint: 'Look at the disk before you go on.',
    exit: EXIT.storage,
  },
  EMFILE: { message: 'too many open files', hint: 'Raise `ulimit -n`.', exit: EXIT.unfinished },
};
