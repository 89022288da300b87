/**
 * Operating failures. A `TroupeError` has a `code` (`room/what`) that code branches on and a message for people;
 * it is brand-checked, because `instanceof` does not hold across threads.
 */

/** Exit codes of the command line (design §13). */
export const EXIT = {
  ok: 0,
  unfinished: 1,
  usage: 2,
  budget: 3,
  noSupervisor: 4,
  notFound: 5,
  storage: 75,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface TroupeErrorOptions {
  /** `room/what`, kebab-case: what code branches on. */
  readonly code: string;
  /** What happened and where, one sentence. */
  readonly message: string;
  /** What to do about it. */
  readonly hint?: string | undefined;
  readonly data?: Readonly<Record<string, unknown>> | undefined;
  readonly retryable?: boolean | undefined;
  /** How the command line exits when this ends a command; default 1. */
  readonly exit?: ExitCode | undefined;
  readonly cause?: unknown;
}

const BRAND = 'troupe-error';

export class TroupeError extends Error {
  readonly brand: string = BRAND;
  readonly code: string;
  readonly hint: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;
  readonly exit: ExitCode;

  constructor(options: TroupeErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'TroupeError';
    this.code = options.code;
    this.hint = options.hint;
    this.data = options.data ?? {};
    this.retryable = options.retryable ?? false;
    this.exit = options.exit ?? EXIT.unfinished;
  }
}

/** An error as it crosses a thread or a socket; stacks stay behind. */
export interface ErrorShape {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly retryable?: boolean;
  readonly exit?: ExitCode;
}

export function isTroupeError(value: unknown): value is TroupeError {
  return value instanceof Error && 'brand' in value && value.brand === BRAND;
}

/** Any thrown value as an Error; never throws. */
export function ensureError(value: unknown): Error {
  if (value instanceof Error) return value;
  return new Error(typeof value === 'string' ? value : JSON.stringify(value));
}

/** The code of a system error (`ENOENT`), else ''. */
export function systemCode(value: unknown): string {
  if (typeof value !== 'object' || value === null || !('code' in value)) return '';
  return typeof value.code === 'string' ? value.code : '';
}

export function toErrorShape(value: unknown): ErrorShape {
  if (!isTroupeError(value)) return { code: 'internal', message: ensureError(value).message };
  return {
    code: value.code,
    message: value.message,
    ...(value.hint === undefined ? {} : { hint: value.hint }),
    data: value.data,
    retryable: value.retryable,
    exit: value.exit,
  };
}

export function fromErrorShape(shape: ErrorShape): TroupeError {
  return new TroupeError(shape);
}
