/**
 * `anthropic`: the Messages API through the official SDK, always as a stream. The SDK is loaded with the first request;
 * it does not try again and reads nothing of its environment: both are Troupe's.
 *
 * Invariants
 * - L6 A stream does not throw; it ends with exactly one of `end`, `error`, `aborted`, and after an abort with `aborted`.
 */
import type { Anthropic, ClientOptions } from '@anthropic-ai/sdk';
import type { Price, ProviderSecret, ProviderSettings } from '../../config/index.ts';
import { type CallId, type Clock, TroupeError } from '../../kernel/index.ts';
import type { Provider, ProviderEvent, ProviderRequest } from '../../protocol/index.ts';
import { usageFor } from '../cost.ts';
import { brokenLine, cutStream, type Failure, failure, failureOf, type Line } from '../failure.ts';
import { type Fetch, type Watched, watchFetch } from '../http.ts';
import { FIRST_BYTE_MS, IDLE_MS, PAUSES_MAX } from '../limits.ts';
import { type BuiltRequest, buildRequest, countParams } from './build-request.ts';
import { AnswerReader } from './read-answer.ts';

export interface AnthropicDeps {
  readonly settings: ProviderSettings;
  readonly secret: ProviderSecret;
  readonly priceOf: (model: string) => Price | null;
  readonly clock: Clock;
  readonly fetch: Fetch;
  readonly callId: () => CallId;
  /** What the SDK has to complain about, for stderr. */
  readonly onWarn: (text: string) => void;
}

/** Longer than any limit of ours: the SDK's own clock decides nothing. */
const SDK_TIMEOUT_MS = 3_600_000;

export function makeAnthropicProvider(deps: AnthropicDeps): Provider {
  return {
    name: deps.settings.name,
    keepsPrefixes: deps.settings.cache,
    stream: (request, signal) => stream(deps, request, signal),
    countTokens: (request, signal) => countTokens(deps, request, signal),
  };
}

async function* stream(
  deps: AnthropicDeps,
  request: ProviderRequest,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent> {
  const watched = watch(deps);
  try {
    yield* converse({ deps, request, watched }, signal);
  } catch (error) {
    if (signal.aborted) yield { type: 'aborted' };
    else yield failureFrom(error, watched, lineOf(deps, request));
  }
}

interface Talk {
  readonly deps: AnthropicDeps;
  readonly request: ProviderRequest;
  readonly watched: Watched;
}

async function* converse(talk: Talk, signal: AbortSignal): AsyncGenerator<ProviderEvent> {
  const { deps, request, watched } = talk;
  const client = await makeClient(deps, watched.fetch);
  const reader = new AnswerReader({ callId: deps.callId, usedIds: callIds(request) });
  const first = buildRequest(request, deps.settings);
  let built = first;
  for (let pauses = 0; ; pauses += 1) {
    signal.throwIfAborted();
    const events = await client.messages.create(built.params, { signal });
    for await (const event of events) {
      const news = reader.take(event);
      if (news !== null) yield news;
      if (reader.tooLong) throw new Error('the answer is larger than any answer may be');
    }
    // An abort ends the SDK's stream without an error.
    signal.throwIfAborted();
    if (reader.stop !== 'pause_turn' || pauses >= PAUSES_MAX) break;
    built = buildRequest(request, deps.settings, reader.said());
    reader.resume();
  }
  yield endOf(talk, first, reader);
}

function endOf(talk: Talk, built: BuiltRequest, reader: AnswerReader): ProviderEvent {
  const { deps, request, watched } = talk;
  const line = lineOf(deps, request);
  if (watched.late() !== null) return brokenLine(null, watched.late(), line);
  if (reader.stop === null) return cutStream(line, 'the answer broke off before its end');
  if (reader.stop === 'pause_turn') return cutStream(line, 'the answer paused again and again');
  if (reader.stop === 'model_context_window_exceeded') {
    return failure({
      code: 'providers/context-overflow',
      message: `${line.settings.name}/${line.model}: the conversation has filled the model's context`,
      hint: 'The conversation is longer than the model takes.',
      retryable: false,
    });
  }
  const { content, kept, stop } = reader.whole();
  const usage = usageFor(reader.tokens, deps.priceOf(request.model), { request, content });
  const meta: Record<string, unknown> = {};
  if (kept.length > 0) {
    meta['anthropic'] = { model: request.model, prefix: built.prefix, blocks: kept };
  }
  if (reader.refusalCategory !== null) meta['refusal'] = reader.refusalCategory;
  const known = Object.keys(meta).length === 0 ? {} : { meta };
  return { type: 'end', content, stop, usage, ...known };
}

async function countTokens(
  deps: AnthropicDeps,
  request: ProviderRequest,
  signal: AbortSignal,
): Promise<number> {
  const watched = watch(deps);
  try {
    const client = await makeClient(deps, watched.fetch);
    const params = countParams(buildRequest(request, { ...deps.settings, cache: false }));
    const counted = await client.messages.countTokens(params, { signal });
    return counted.input_tokens;
  } catch (error) {
    // Not as its cause: the SDK's errors hold more than may be shown.
    const { code, message, hint } = failureFrom(error, watched, lineOf(deps, request));
    throw new TroupeError({ code, message, hint });
  }
}

async function makeClient(deps: AnthropicDeps, fetch: Fetch): Promise<Anthropic> {
  const { Anthropic } = await import('@anthropic-ai/sdk');
  const { settings, secret, onWarn } = deps;
  const say = (text: string): void => onWarn(`${settings.name}: ${text}`);
  const options: ClientOptions = {
    // Never null: then the SDK would look for a key in files of the user.
    apiKey: secret.key ?? 'none',
    baseURL: settings.baseUrl,
    maxRetries: 0,
    timeout: SDK_TIMEOUT_MS,
    fetch,
    defaultHeaders: headersOf(settings, secret),
    logger: { error: say, warn: say, info: () => undefined, debug: () => undefined },
    logLevel: 'warn',
    openTelemetry: false,
  };
  return new Anthropic(options);
}

function headersOf(
  settings: ProviderSettings,
  secret: ProviderSecret,
): Readonly<Record<string, string | null>> {
  const old = settings.auth === 'x-api-key';
  return {
    ...(old || secret.key === null ? { authorization: null } : {}),
    ...(old && secret.key !== null ? { 'x-api-key': secret.key } : {}),
    ...(settings.version === null ? {} : { 'anthropic-version': settings.version }),
    ...secret.headers,
  };
}

function watch(deps: AnthropicDeps): Watched {
  const { settings, fetch, clock } = deps;
  return watchFetch({
    fetch,
    clock,
    firstMs: settings.timeoutMs ?? FIRST_BYTE_MS,
    idleMs: settings.idleTimeoutMs ?? IDLE_MS,
  });
}

function lineOf(deps: AnthropicDeps, request: ProviderRequest): Line {
  return { settings: deps.settings, model: request.model, nowMs: deps.clock.now() };
}

function callIds(request: ProviderRequest): Set<string> {
  const ids = new Set<string>();
  for (const { content } of request.messages) {
    for (const block of content) if (block.type === 'call') ids.add(block.id);
  }
  return ids;
}

/** By what the error says of itself: inside of a stream it has neither a status nor a class of its own. */
function failureFrom(error: unknown, watched: Watched, line: Line): Failure {
  if (watched.late() !== null || !isApiError(error)) return brokenLine(error, watched.late(), line);
  if (error.status === undefined && error.type === null && error.error === undefined) {
    return brokenLine(error, null, line);
  }
  return failureOf(
    {
      status: error.status ?? null,
      type: error.type,
      code: error.errorCode,
      message: error.apiMessage ?? error.message,
      header: (name) => error.headers?.get(name) ?? null,
    },
    line,
  );
}

interface ApiErrorLike extends Error {
  readonly status: number | undefined;
  readonly type: string | null;
  readonly errorCode: string | null;
  readonly apiMessage: string | null;
  readonly error: unknown;
  readonly headers: Headers | undefined;
}

/** The SDK's class is not at hand without loading it. */
function isApiError(error: unknown): error is ApiErrorLike {
  return error instanceof Error && 'apiMessage' in error && 'errorCode' in error;
}
