/**
 * A model server on loopback that speaks the Messages API and Chat Completions with real server-sent events. It turns
 * down what the real ones turn down, plays a script (or what a test says), and breaks in the ways that networks do.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as after } from 'node:timers/promises';
import type { Message } from '../../../src/protocol/index.ts';
import { isJson, type Json, type ModelAnswer, type Rejection } from './answer.ts';
import { ANTHROPIC_RULES, type AnthropicRules, checkAnthropic } from './anthropic-rules.ts';
import { anthropicFrames, frame, type Ids } from './anthropic-stream.ts';
import { actorIn, fromAnthropic, fromOpenAi } from './conversation.ts';
import { checkOpenAi, OPENAI_RULES, type OpenAiRules } from './openai-rules.ts';
import { type OpenAiManner, openAiBody, openAiFrames } from './openai-stream.ts';
import { type CacheUse, PromptCache } from './prompt-cache.ts';

/** What the next request meets instead of a whole answer. */
export type Fault =
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: unknown;
    }
  /** The connection breaks after so many bytes of the answer; 0: before its head. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** After so many bytes of the answer it says nothing more; 0: not even the head. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  /** Its end is missing, and the connection is closed as if all were well. */
  | { readonly kind: 'short'; readonly afterBytes: number }
  | { readonly kind: 'malformed' }
  /** An error inside of the stream, in this dialect's form. */
  | { readonly kind: 'event'; readonly afterFrames: number; readonly error: Json }
  | { readonly kind: 'redirect'; readonly to: string };

export interface Seen {
  readonly dialect: 'anthropic' | 'openai';
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Json;
  readonly system: string;
  readonly actor: string;
  readonly messages: readonly Message[];
}

export interface ModelServerOptions {
  readonly answer: (seen: Seen) => ModelAnswer;
  /** The key that it wants; others are turned down. */
  readonly key?: string;
  /** Where it looks for the key; default: Bearer. */
  readonly keyIn?: 'bearer' | 'x-api-key';
  readonly anthropic?: Partial<AnthropicRules>;
  readonly openai?: Partial<OpenAiRules>;
  readonly manner?: OpenAiManner;
}

export class ModelServer {
  /** One for each of the next requests, in order. */
  readonly faults: Fault[] = [];
  readonly seen: Seen[] = [];
  /** Requests that no real API would have taken. */
  readonly rejections: Rejection[] = [];
  readonly #options: ModelServerOptions;
  readonly #server: Server;
  readonly #cache = new PromptCache();
  readonly #ids: Ids;
  readonly #stalled: (() => void)[] = [];
  readonly #faulted: ((at: number) => void)[] = [];
  #stalls = 0;
  #paused = false;
  #closedByClient = 0;

  constructor(options: ModelServerOptions) {
    this.#options = options;
    let count = 0;
    this.#ids = {
      next: (prefix) => {
        count += 1;
        return `${prefix}_${String(count).padStart(6, '0')}`;
      },
    };
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        process.stderr.write(`model server: ${String(error)}\n`);
        response.destroy();
      });
    });
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get origin(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** Streams that the client gave up. */
  get closedByClient(): number {
    return this.#closedByClient;
  }

  /** Resolves when the next stall has come to its silence. */
  async stalled(): Promise<void> {
    if (this.#stalls > 0) this.#stalls -= 1;
    else await new Promise<void>((resolve) => this.#stalled.push(resolve));
  }

  /** Resolves when the next status is given instead of an answer, with the time. */
  nextFault(): Promise<number> {
    return new Promise((resolve) => this.#faulted.push(resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await text(request);
    const path = request.url ?? '';
    const dialect = path.startsWith('/v1/messages') ? 'anthropic' : 'openai';
    const body = parse(raw);
    const fault = this.faults.shift() ?? null;
    if (fault?.kind === 'status') {
      this.#faulted.shift()?.(Date.now());
      respond(
        response,
        fault.status,
        fault.body ??
          errorBody(
            { status: fault.status, type: 'api_error', message: `fault ${fault.status}` },
            dialect,
          ),
        fault.headers,
      );
      return;
    }
    if (fault?.kind === 'redirect') {
      respond(response, 307, {}, { location: fault.to });
      return;
    }
    const counts = path.startsWith('/v1/messages/count_tokens');
    const whole = counts && isJson(body) ? { max_tokens: 1, ...body } : body;
    const rejection = this.#authorize(request, dialect) ?? this.#check(whole, dialect);
    if (rejection !== null || !isJson(body)) {
      const { status, ...rest } = rejection ?? {
        status: 400,
        type: 'invalid_request_error',
        message: '',
      };
      this.rejections.push({ status, ...rest });
      respond(response, status, errorBody({ status, ...rest }, dialect), { 'request-id': 'req_1' });
      return;
    }
    if (counts) {
      respond(response, 200, { input_tokens: Math.ceil(raw.length / 4) });
      return;
    }
    const read = dialect === 'anthropic' ? fromAnthropic(body) : fromOpenAi(body);
    const actor = actorIn(read.system);
    const seen: Seen = { dialect, headers: request.headers, body, actor, ...read };
    this.seen.push(seen);
    // What it finds is settled when it comes, not when it is answered.
    const cache = this.#cache.use(body);
    const answer = this.#options.answer(seen);
    if (answer.delayMs !== undefined) await after(answer.delayMs);
    this.#paused = answer.stop === 'pause';
    await this.#answer(response, { seen, cache, answer, fault });
  }

  #authorize(request: IncomingMessage, dialect: 'anthropic' | 'openai'): Rejection | null {
    const { key, keyIn = 'bearer' } = this.#options;
    const { authorization, 'x-api-key': apiKey, 'anthropic-version': version } = request.headers;
    const given = keyIn === 'bearer' ? authorization?.replace(/^Bearer /, '') : apiKey;
    if (key !== undefined && given !== key) {
      // Real servers do this, too.
      const shown = String(authorization ?? apiKey ?? 'nothing');
      return { status: 401, type: 'authentication_error', message: `invalid x-api-key: ${shown}` };
    }
    if (dialect === 'openai') return null;
    const known = keyIn === 'bearer' ? '2026-10-21' : '2023-06-01';
    return version === known
      ? null
      : {
          status: 400,
          type: 'invalid_request_error',
          message: `anthropic-version: ${String(version)}`,
        };
  }

  #check(body: unknown, dialect: 'anthropic' | 'openai'): Rejection | null {
    if (dialect === 'openai')
      return checkOpenAi(body, { ...OPENAI_RULES, ...this.#options.openai });
    const checked = this.#paused && isJson(body) ? withoutPause(body) : body;
    return checkAnthropic(checked, { ...ANTHROPIC_RULES, ...this.#options.anthropic });
  }

  async #answer(
    response: ServerResponse,
    what: {
      readonly seen: Seen;
      readonly cache: CacheUse;
      readonly answer: ModelAnswer;
      readonly fault: Fault | null;
    },
  ): Promise<void> {
    const { seen, cache, answer, fault } = what;
    const { manner = {} } = this.#options;
    if (seen.dialect === 'openai' && (seen.body['stream'] !== true || manner.noStream === true)) {
      respond(response, 200, openAiBody(seen.body, answer, { manner, ids: this.#ids }));
      return;
    }
    const frames =
      seen.dialect === 'anthropic'
        ? anthropicFrames(seen.body, answer, { cache, ids: this.#ids })
        : openAiFrames(seen.body, answer, { manner, ids: this.#ids });
    response.on('close', () => {
      if (!response.writableEnded) this.#closedByClient += 1;
    });
    const bytes = Buffer.from(broken(frames, fault, seen.dialect).join(''));
    if (fault?.kind === 'stall' && fault.afterBytes === 0) {
      this.#tellStalled();
      return;
    }
    if (fault?.kind === 'cut' && fault.afterBytes === 0) {
      response.destroy();
      return;
    }
    cache.keep();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const limit = fault !== null && 'afterBytes' in fault ? fault.afterBytes : bytes.length;
    await send(response, bytes.subarray(0, limit));
    if (fault?.kind === 'stall') this.#tellStalled();
    else if (fault?.kind === 'cut') response.destroy();
    else response.end();
  }

  #tellStalled(): void {
    const waiting = this.#stalled.shift();
    if (waiting === undefined) this.#stalls += 1;
    else waiting();
  }
}

/** The turn that is sent back to go on ends in the model's own words, and is checked without them. */
function withoutPause(body: Json): Json {
  const { messages } = body;
  const list = Array.isArray(messages) ? messages : [];
  return { ...body, messages: list.slice(0, -1) };
}

function broken(
  frames: readonly string[],
  fault: Fault | null,
  dialect: Seen['dialect'],
): readonly string[] {
  if (fault?.kind === 'malformed') {
    const named = dialect === 'anthropic' ? 'event: content_block_delta\n' : '';
    return [...frames.slice(0, 3), `${named}data: {"oops\n\n`, ...frames.slice(3)];
  }
  if (fault?.kind !== 'event') return frames;
  const error =
    dialect === 'anthropic'
      ? frame({ type: 'error', error: fault.error })
      : `data: ${JSON.stringify({ error: fault.error })}\n\n`;
  return [...frames.slice(0, fault.afterFrames), error];
}

/** In two writes, so that a reader sees a frame that is torn. */
async function send(response: ServerResponse, bytes: Buffer): Promise<void> {
  const middle = Math.floor(bytes.length / 2);
  for (const part of [bytes.subarray(0, middle), bytes.subarray(middle)]) {
    if (part.length === 0 || response.destroyed) continue;
    await new Promise<void>((resolve) => {
      response.write(part, () => resolve());
    });
  }
}

function respond(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

function errorBody(rejection: Rejection, dialect: Seen['dialect']): Json {
  const { type, message } = rejection;
  if (dialect === 'anthropic') return { type: 'error', error: { type, message } };
  return { error: { message, type, param: null, code: null } };
}

function parse(raw: string): unknown {
  try {
    return JSON.parse(raw);
  } catch {
    return null;
  }
}
