/**
 * `openai`: any server that speaks Chat Completions. A stream of server-sent events where the server has one, one JSON
 * object where it has not.
 *
 * Invariants
 * - L6 A stream does not throw; it ends with exactly one of `end`, `error`, `aborted`, and after an abort with `aborted`.
 */
import { createParser } from 'eventsource-parser';
import type { Price, ProviderSecret, ProviderSettings } from '../../config/index.ts';
import { type CallId, type Clock, ensureError } from '../../kernel/index.ts';
import type { Provider, ProviderEvent, ProviderRequest } from '../../protocol/index.ts';
import { usageFor } from '../cost.ts';
import { brokenLine, cutStream, failureOf, type Line } from '../failure.ts';
import { type Fetch, type Watched, watchFetch } from '../http.ts';
import { ANSWER_CHARS_MAX, BODY_BYTES_MAX, FIRST_BYTE_MS, IDLE_MS } from '../limits.ts';
import { buildRequest } from './build-request.ts';
import { AnswerReader, errorIn } from './read-answer.ts';

export interface OpenAiDeps {
  readonly settings: ProviderSettings;
  readonly secret: ProviderSecret;
  readonly priceOf: (model: string) => Price | null;
  readonly clock: Clock;
  readonly fetch: Fetch;
  readonly callId: () => CallId;
}

export function makeOpenAiProvider(deps: OpenAiDeps): Provider {
  return { name: deps.settings.name, stream: (request, signal) => stream(deps, request, signal) };
}

interface Talk {
  readonly deps: OpenAiDeps;
  readonly request: ProviderRequest;
  readonly watched: Watched;
  readonly line: Line;
}

async function* stream(
  deps: OpenAiDeps,
  request: ProviderRequest,
  signal: AbortSignal,
): AsyncGenerator<ProviderEvent> {
  const { settings, fetch, clock } = deps;
  const watched = watchFetch({
    fetch,
    clock,
    firstMs: settings.timeoutMs ?? FIRST_BYTE_MS,
    idleMs: settings.idleTimeoutMs ?? IDLE_MS,
  });
  const line: Line = { settings, model: request.model, nowMs: clock.now() };
  try {
    yield* converse({ deps, request, watched, line }, signal);
  } catch (error) {
    if (signal.aborted) yield { type: 'aborted' };
    else yield brokenLine(error, watched.late(), line);
  }
}

async function* converse(talk: Talk, signal: AbortSignal): AsyncGenerator<ProviderEvent> {
  const { deps, request, watched, line } = talk;
  signal.throwIfAborted();
  const response = await watched.fetch(`${deps.settings.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: headersOf(deps),
    body: JSON.stringify(buildRequest(request, deps.settings)),
    signal,
  });
  if (!response.ok) {
    yield await refusal(response, line);
    return;
  }
  const names = request.tools.map((tool) => tool.name);
  const reader = new AnswerReader({ callId: deps.callId, names });
  const streams = /event-stream|ndjson/i.test(response.headers.get('content-type') ?? '');
  const objects = streams ? streamed(response) : single(response);
  for await (const object of objects) {
    const bad = object.kind === 'bad' ? object : null;
    if (bad !== null) {
      yield cutStream(line, `the stream holds what is no JSON: ${bad.text}`);
      return;
    }
    const error = object.kind === 'value' ? errorIn(object.value) : null;
    if (error !== null) {
      yield failureOf({ ...error, header: (name) => response.headers.get(name) }, line);
      return;
    }
    if (object.kind === 'value') yield* reader.take(object.value);
    if (object.kind === 'done') reader.finish();
    if (reader.chars > ANSWER_CHARS_MAX) {
      yield cutStream(line, 'the answer is larger than any answer may be');
      return;
    }
  }
  signal.throwIfAborted();
  yield endOf(talk, reader);
}

function endOf(talk: Talk, reader: AnswerReader): ProviderEvent {
  const { deps, request, watched, line } = talk;
  if (watched.late() !== null) return brokenLine(null, watched.late(), line);
  // Without a reason to end there is no telling a whole answer from a half one.
  if (!reader.ended) return cutStream(line, 'the answer broke off before its end');
  const { content, stop } = reader.whole();
  const usage = usageFor(reader.tokens, deps.priceOf(request.model), { request, content });
  const { thought } = reader;
  const kept = deps.settings.echoReasoning && thought !== '';
  const meta = kept ? { meta: { openai: { reasoning: thought } } } : {};
  return { type: 'end', content, stop, usage, ...meta };
}

type Part =
  /** The server says that this was all. */
  | { readonly kind: 'done' }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'bad'; readonly text: string };

/** Objects of the stream up to `[DONE]` or its end; comments are passed over, a last line needs no empty one after it. */
async function* streamed(response: Response): AsyncGenerator<Part> {
  const found: string[] = [];
  const parser = createParser({
    maxBufferSize: BODY_BYTES_MAX,
    onEvent: ({ data }) => found.push(data),
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw error;
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of bodyOf(response)) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    for (const data of found.splice(0)) {
      yield readPart(data);
      if (isDone(data)) return;
    }
  }
  parser.feed(`${decoder.decode()}\n\n`);
  for (const data of found) {
    yield readPart(data);
    if (isDone(data)) return;
  }
}

async function* single(response: Response): AsyncGenerator<Part> {
  yield readPart(await readText(response));
  yield { kind: 'done' };
}

function isDone(data: string): boolean {
  return data.trim() === '[DONE]';
}

function readPart(data: string): Part {
  if (isDone(data)) return { kind: 'done' };
  try {
    return { kind: 'value', value: JSON.parse(data) };
  } catch {
    return { kind: 'bad', text: JSON.stringify(data.slice(0, 80)) };
  }
}

async function refusal(response: Response, line: Line): Promise<ProviderEvent> {
  const text = await readText(response).catch((error: unknown) => ensureError(error).message);
  const part = readPart(text);
  const said = part.kind === 'value' ? errorIn(part.value) : null;
  const detail = part.kind === 'value' ? detailOf(part.value) : text;
  return failureOf(
    {
      status: response.status,
      type: said?.type ?? null,
      code: said?.code ?? null,
      message: said === null || said.message === '' ? detail : said.message,
      header: (name) => response.headers.get(name),
    },
    line,
  );
}

/** `{"detail": …}` and `{"message": …}`, as some servers say it. */
function detailOf(value: unknown): string {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const found = entries.find(([key]) => key === 'detail' || key === 'message')?.[1] as unknown;
  return typeof found === 'string' ? found : JSON.stringify(value ?? '');
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of bodyOf(response)) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > BODY_BYTES_MAX)
      throw new Error('the answer is larger than any answer may be');
  }
  return text + decoder.decode();
}

function bodyOf(response: Response): AsyncIterable<Uint8Array> {
  return response.body ?? (async function* () {})();
}

function headersOf({ settings, secret }: OpenAiDeps): Readonly<Record<string, string>> {
  const { key } = secret;
  const auth: Record<string, string> =
    key === null
      ? {}
      : settings.auth === 'x-api-key'
        ? { 'x-api-key': key }
        : { authorization: `Bearer ${key}` };
  return {
    'content-type': 'application/json',
    accept: settings.stream ? 'text/event-stream' : 'application/json',
    ...auth,
    ...secret.headers,
  };
}
