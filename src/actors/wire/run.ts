/** What a thread runs, and how its end crosses to the host: as a value, since error codes do not survive a thread. */
import { ensureError, isTroupeError } from '../../kernel/errors.ts';
import type { ActorStart, JobOutcome } from '../../protocol/actor-wire.ts';
import type { HostExit } from '../host.ts';
import type { ActorPort } from './port.ts';

/**
 * One activation of an actor. The signal aborts when it is asked to stop; it then ends as soon as it can. `given` is
 * what the host gives all its runs besides their starts; a composition root knows what it is.
 */
export type ActorRun = (
  start: ActorStart,
  port: ActorPort,
  signal: AbortSignal,
  given?: unknown,
) => Promise<JobOutcome | undefined | void>;

/** Runs it to its end; never rejects. A run that throws because it was asked to stop has finished. */
export async function runToEnd(
  run: ActorRun,
  start: ActorStart,
  port: ActorPort,
  signal: AbortSignal,
): Promise<HostExit> {
  try {
    const outcome = await run(start, port, signal);
    if (typeof outcome !== 'object') return { kind: 'finished' };
    if (outcome.kind === 'finished') return { kind: 'finished', text: outcome.text };
    return { kind: 'crashed', code: outcome.code, message: outcome.message };
  } catch (error) {
    if (signal.aborted) return { kind: 'finished' };
    const { message } = ensureError(error);
    return { kind: 'crashed', code: isTroupeError(error) ? error.code : 'uncaught', message };
  }
}
