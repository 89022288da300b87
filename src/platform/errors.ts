/** Operating failures of room `platform` that are made in more than one place. */
import { systemCode, TroupeError } from '../kernel/errors.ts';

export type PlatformCode =
  | 'exec/not-main-thread'
  | 'exec/no-sandbox'
  | 'lock/unreadable'
  | 'lock/contended'
  | 'socket/no-place'
  | 'path/outside'
  | 'path/invalid'
  | 'path/not-found'
  | 'path/not-a-file'
  | 'path/not-a-directory'
  | 'path/exists'
  | 'path/hard-linked'
  | 'path/too-many-links'
  | 'path/too-large'
  | 'path/changed'
  | 'path/denied'
  | 'path/failed';

export function platformError(options: {
  readonly code: PlatformCode;
  readonly message: string;
  readonly hint?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly retryable?: boolean;
  readonly cause?: unknown;
}): TroupeError {
  return new TroupeError(options);
}

/** Runs something whose named system errors mean that there is nothing to do. */
export function ignoring(codes: readonly string[], action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!codes.includes(systemCode(error))) throw error;
  }
}
