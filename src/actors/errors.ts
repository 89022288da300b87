/** Errors of the room. */
import { TroupeError } from '../kernel/errors.ts';

export const errors = {
  /** The thread or job that a call was for is gone. */
  gone: (name: string, cause?: unknown): TroupeError =>
    new TroupeError({ code: 'actors/gone', message: `The thread of ${name} is gone`, cause }),

  /** Reason of the abort signal that a run gets when it is asked to stop. */
  stopped: (name: string): TroupeError =>
    new TroupeError({ code: 'actors/stopped', message: `${name} was asked to stop` }),

  stuck: (name: string, waitedMs: number): TroupeError =>
    new TroupeError({
      code: 'actors/stuck',
      message: `The thread of ${name} did not end within ${waitedMs} ms of being terminated`,
      hint: 'It hangs in a system call; only the end of the process ends it.',
    }),

  closed: (): TroupeError =>
    new TroupeError({ code: 'actors/closed', message: 'The host of the actors is closed' }),
};
