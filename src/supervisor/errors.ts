/** What can go wrong in operation. */
import { EXIT, TroupeError } from '../kernel/index.ts';

/** So much waits to be recorded that clients have to wait as well. */
export function inboxFull(run: string): TroupeError {
  return new TroupeError({
    code: 'run/busy',
    message: `Run ${run} has more mail to record than it takes in at once`,
    hint: 'Try again in a moment.',
    exit: EXIT.storage,
    retryable: true,
  });
}

export function notHere(run: string): TroupeError {
  return new TroupeError({
    code: 'run/not-here',
    message: `Run "${run}" is not held by this supervisor`,
    hint: 'See `troupe runs`.',
    exit: EXIT.notFound,
  });
}
