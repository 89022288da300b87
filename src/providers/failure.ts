/**
 * What went wrong with a model API, as one of a few codes: what passes by itself and may be tried again, what waits for
 * a reset, and what fails at once with the provider's own words and what to do.
 */
import type { ProviderSettings } from '../config/index.ts';
import { ensureError, isoTime, systemCode } from '../kernel/index.ts';
import type { FailureData, ProviderEvent } from '../protocol/index.ts';
import { MESSAGE_CHARS, RETRY_AFTER_MAX_MS } from './limits.ts';

export type Failure = Extract<ProviderEvent, { type: 'error' }>;

export interface Line {
  readonly settings: ProviderSettings;
  readonly model: string;
  readonly nowMs: number;
}

/** What an API said. `status` is null for an error inside of a stream that had begun well. */
export interface Saying {
  readonly status: number | null;
  readonly type: string | null;
  readonly code: string | null;
  readonly message: string;
  readonly header: (name: string) => string | null;
}

export function failureOf(saying: Saying, line: Line): Failure {
  const { kind, hint, retryable } = judge(saying, line);
  const retryAfterMs = retryAfter(saying.header, line.nowMs);
  const resetAt = kind === 'quota' ? resetOf(saying.header, line.nowMs) : null;
  const requestId = saying.header('request-id') ?? saying.header('x-request-id');
  const data: FailureData = {
    ...(saying.status === null ? {} : { status: saying.status }),
    ...(requestId === null ? {} : { requestId }),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    ...(resetAt === null ? {} : { resetAt }),
  };
  const said =
    saying.message.trim() === '' ? `HTTP ${saying.status ?? 200}` : saying.message.trim();
  return failure({
    code: `providers/${kind}`,
    message: `${line.settings.name}/${line.model}: ${said}`,
    hint,
    retryable: ONLY_WORDS.has(kind) ? retryable : retryable && shouldRetry(saying),
    data,
  });
}

export function failure(parts: {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly retryable: boolean;
  readonly data?: FailureData;
}): Failure {
  const { code, message, hint, retryable, data = {} } = parts;
  return {
    type: 'error',
    code,
    message: message.length > MESSAGE_CHARS ? `${message.slice(0, MESSAGE_CHARS)}…` : message,
    ...(hint === undefined ? {} : { hint }),
    retryable,
    ...(Object.keys(data).length === 0 ? {} : { data }),
  };
}

/** No answer at all, or one that broke off. `late`: which of our own limits ended it. */
export function brokenLine(error: unknown, late: 'first' | 'idle' | null, line: Line): Failure {
  const who = `${line.settings.name}/${line.model}`;
  if (late !== null) {
    const what = late === 'first' ? 'did not begin to answer in time' : 'fell silent in its answer';
    const key = late === 'first' ? 'timeout' : 'idle_timeout';
    return failure({
      code: late === 'first' ? 'providers/timeout' : 'providers/stalled',
      message: `${who} ${what}`,
      hint: `providers.${line.settings.name}.${key} in the config says how long it may take.`,
      retryable: true,
    });
  }
  const { code, text } = causeOf(error);
  const unreachable = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'].includes(code);
  return failure({
    code: 'providers/network',
    message: `${who}: ${unreachable ? 'no connection to' : 'the connection broke:'} ${unreachable ? `${line.settings.baseUrl} (${code})` : text}`,
    hint: unreachable
      ? `The address is from ${line.settings.baseUrlOrigin}. Is the server running?`
      : undefined,
    retryable: true,
    ...(unreachable ? { data: { unsent: true } } : {}),
  });
}

export function cutStream(line: Line, what: string): Failure {
  return failure({
    code: 'providers/cut',
    message: `${line.settings.name}/${line.model}: ${what}`,
    retryable: true,
  });
}

/** The innermost reason that has something to say: `fetch failed` never has. */
function causeOf(error: unknown): { readonly code: string; readonly text: string } {
  let here = ensureError(error);
  for (let depth = 0; depth < 6 && here.cause instanceof Error; depth += 1) here = here.cause;
  const code = systemCode(here);
  return { code, text: here.message === '' ? code : here.message };
}

interface Judgement {
  readonly kind: string;
  readonly hint?: string | undefined;
  readonly retryable: boolean;
}

const QUOTA_CODES = new Set([
  'enforced_spend_limit_reached',
  'insufficient_quota',
  'billing_hard_limit_reached',
  'billing_error',
]);
const QUOTA_WORDS =
  /credit balance is too low|insufficient (quota|credits|balance)|exceeded your current quota|(weekly|monthly|usage|spend(ing)?) limit/i;
const OVERFLOW_WORDS =
  /prompt is too long|context[ _](length|window|size)|maximum context|too many (input )?tokens|exceeds? the (available )?context/i;

/** What words alone decide; the header `x-should-retry` has no say in it. */
const ONLY_WORDS = new Set(['quota', 'context-overflow', 'auth', 'no-access', 'no-such-model']);

function judge(saying: Saying, line: Line): Judgement {
  const { settings, model } = line;
  const status = saying.status ?? STATUS_OF_TYPE[saying.type ?? ''] ?? null;
  if (isQuota(saying, status, line)) {
    const hint = `The account behind "${settings.name}" has used up what it may use.`;
    return { kind: 'quota', hint, retryable: false };
  }
  const overflow = saying.code === 'context_length_exceeded' || OVERFLOW_WORDS.test(saying.message);
  if (status === 413 || (overflow && (status === 400 || status === null))) {
    const hint = 'The conversation is longer than the model takes.';
    return { kind: 'context-overflow', hint, retryable: false };
  }
  if (status === 401) return { kind: 'auth', hint: keyHint(settings), retryable: false };
  if (status === 403) return { kind: 'no-access', hint: keyHint(settings), retryable: false };
  if (status === 404) {
    const hint = `Check the model's name (${model}) and the address (${settings.baseUrl}, from ${settings.baseUrlOrigin}).`;
    return { kind: 'no-such-model', hint, retryable: false };
  }
  if (status === 408) return { kind: 'timeout', retryable: true };
  if (status === 409) return { kind: 'conflict', retryable: true };
  if (status === 429) return { kind: 'rate-limited', retryable: true };
  if (status === 529 || status === 503) return { kind: 'overloaded', retryable: true };
  if (status === null || status >= 500) return { kind: 'server-error', retryable: true };
  const hint = `The provider refuses this request; it would refuse it again. See docs/models.md for what "${settings.name}" can be told to leave out.`;
  return { kind: 'bad-request', hint, retryable: false };
}

/** For errors inside of a stream, which have no status. */
const STATUS_OF_TYPE: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  timeout_error: 504,
  api_error: 500,
  server_error: 500,
  overloaded_error: 529,
};

function isQuota(saying: Saying, status: number | null, line: Line): boolean {
  if (status === 402) return true;
  const named = [saying.code, saying.type].some((one) => one !== null && QUOTA_CODES.has(one));
  if (named) return true;
  if (status !== 429 && status !== 400 && status !== 403) return false;
  if (QUOTA_WORDS.test(saying.message)) return true;
  return status === 429 && (retryAfter(saying.header, line.nowMs) ?? 0) > RETRY_AFTER_MAX_MS;
}

function shouldRetry(saying: Saying): boolean {
  return saying.header('x-should-retry') !== 'false';
}

function keyHint(settings: ProviderSettings): string {
  const from = settings.keyOrigin;
  if (from !== null) return `The key is from ${from}: is it right, and for ${settings.baseUrl}?`;
  return `No key was sent. Set ${settings.keyVariables[0] ?? 'one'}.`;
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date; null when there is none that can be read. */
function retryAfter(header: (name: string) => string | null, nowMs: number): number | null {
  const ms = Number(header('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms);
  const text = header('retry-after')?.trim() ?? '';
  if (text === '') return null;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return seconds < 0 ? null : Math.ceil(seconds * 1000);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

/** When a quota is there again: the provider's own word for it, else its `retry-after`. */
function resetOf(header: (name: string) => string | null, nowMs: number): string | null {
  const unified = Number(header('anthropic-ratelimit-unified-reset') ?? Number.NaN);
  if (Number.isFinite(unified) && unified > 0 && unified < 1e11) {
    // What was to be there again by now is.
    return isoTime(Math.max(unified * 1000, nowMs));
  }
  const afterMs = retryAfter(header, nowMs);
  return afterMs === null || afterMs > 366 * 86_400_000 ? null : isoTime(nowMs + afterMs);
}
