/** What killed a thread, as a code that the supervisor can branch on. */
import { systemCode } from '../../kernel/errors.ts';
import type { HostExit } from '../host.ts';

export interface Death {
  readonly error: Error | null;
  readonly exitCode: number | null;
}

const NOT_LOADED = new Set([
  'MODULE_NOT_FOUND',
  'ERR_MODULE_NOT_FOUND',
  'ERR_UNKNOWN_FILE_EXTENSION',
]);

export function crashOf(death: Death, started: boolean): HostExit {
  const { error, exitCode } = death;
  if (error === null) {
    return {
      kind: 'crashed',
      code: 'exit',
      message: `The thread exited with code ${exitCode ?? 'unknown'} before its run ended`,
    };
  }
  const code = systemCode(error);
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') {
    return { kind: 'crashed', code: 'out-of-memory', message: error.message };
  }
  if (!started && NOT_LOADED.has(code)) {
    return { kind: 'crashed', code: 'entry-missing', message: error.message };
  }
  return { kind: 'crashed', code: 'uncaught', message: error.message };
}
