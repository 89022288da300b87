/**
 * An answer of Chat Completions from the objects of its stream, or from one object of a server that does not stream. It
 * trusts what came, not what the server says about it: calls that are there are calls, whatever `finish_reason` says.
 */
import type { CallId } from '../../kernel/index.ts';
import type { ContentBlock, ProviderEvent, StopReason } from '../../protocol/index.ts';
import type { Tokens } from '../cost.ts';
import { ThinkFilter, thoughtIn } from './reasoning.ts';
import { ToolCalls } from './tool-calls.ts';

type Fields = ReadonlyMap<string, unknown>;

/** An error that came where an answer should. */
export interface StreamError {
  readonly status: number | null;
  readonly type: string | null;
  readonly code: string | null;
  readonly message: string;
}

export class AnswerReader {
  readonly #calls: ToolCalls;
  readonly #filter = new ThinkFilter();
  #text = '';
  #thought = '';
  #finish: string | null = null;
  #tokens: Tokens | null = null;
  #chars = 0;
  #seen = false;

  constructor(options: { readonly callId: () => CallId; readonly names: readonly string[] }) {
    this.#calls = new ToolCalls(options);
  }

  /** One object of the stream. */
  take(value: unknown): ProviderEvent[] {
    const chunk = fields(value);
    this.#count(chunk);
    const choices = chunk.get('choices');
    const choice = fields(Array.isArray(choices) ? choices[0] : undefined);
    const finish = choice.get('finish_reason');
    if (typeof finish === 'string' && finish !== '') this.#finish = finish;
    return this.#grow(fields(choice.get('delta') ?? choice.get('message')));
  }

  get chars(): number {
    return this.#chars;
  }

  /** The server has said that this was all; some do not say why. */
  finish(): void {
    if (this.#seen) this.#finish ??= 'stop';
  }

  /** There is an answer, whole as far as anybody can tell. */
  get ended(): boolean {
    return this.#finish !== null;
  }

  get tokens(): Tokens | null {
    return this.#tokens;
  }

  get thought(): string {
    return this.#thought;
  }

  whole(): { readonly content: ContentBlock[]; readonly stop: StopReason } {
    const rest = this.#filter.end();
    this.#text += rest.text;
    this.#thought += rest.thought;
    const refused = this.#finish === 'content_filter';
    const cut = this.#finish === 'length';
    const text = this.#text;
    const calls = refused ? [] : this.#calls.whole(cut);
    const content: ContentBlock[] = text.trim() === '' ? [] : [{ type: 'text', text }];
    content.push(...calls);
    if (refused) return { content, stop: 'refusal' };
    // Some say "tool_calls" or "stop" of an answer that was cut: then its last call can not be read.
    if (cut) return { content, stop: 'length' };
    return { content, stop: calls.length > 0 ? 'calls' : 'end' };
  }

  #grow(delta: Fields): ProviderEvent[] {
    const events: ProviderEvent[] = [];
    const thought = thoughtIn(delta);
    const said = textOf(delta.get('content')) || textOf(delta.get('refusal'));
    const heard = this.#filter.take(said);
    const thinking = thought + heard.thought;
    if (thinking !== '') events.push({ type: 'thinking', delta: thinking });
    if (heard.text !== '') events.push({ type: 'text', delta: heard.text });
    this.#thought += thinking;
    this.#text += heard.text;
    this.#chars += thinking.length + said.length;
    const pieces = delta.get('tool_calls');
    for (const piece of Array.isArray(pieces) ? pieces : []) {
      this.#chars += JSON.stringify(piece).length;
      const begun = this.#calls.take(piece);
      if (begun !== null) events.push({ type: 'call', ...begun });
    }
    if (said !== '' || thinking !== '' || this.#calls.count > 0) this.#seen = true;
    return events;
  }

  /** The last figures stand; they may come with the last part, after it, or never. */
  #count(chunk: Fields): void {
    const usage = fields(chunk.get('usage'));
    const prompt = usage.get('prompt_tokens');
    const output = usage.get('completion_tokens');
    if (typeof prompt !== 'number' || typeof output !== 'number') return;
    if (prompt === 0 && output === 0) return;
    const cached = fields(usage.get('prompt_tokens_details')).get('cached_tokens');
    const cacheRead = typeof cached === 'number' ? Math.min(cached, prompt) : 0;
    this.#tokens = { input: prompt - cacheRead, output, cacheRead, cacheWrite: 0 };
  }
}

/** The error in an object that is no part of an answer; null when it is one. */
export function errorIn(value: unknown): StreamError | null {
  const whole = fields(value);
  const own = whole.get('error');
  const flat = whole.get('object') === 'error' || whole.get('type') === 'error';
  if (own === undefined || own === null) return flat ? errorOf(whole) : null;
  if (typeof own === 'string') return { status: null, type: null, code: null, message: own };
  return errorOf(fields(own));
}

function errorOf(error: Fields): StreamError {
  const code = error.get('code');
  const status = Number(code ?? error.get('status') ?? Number.NaN);
  const type = error.get('type');
  return {
    status: Number.isInteger(status) && status >= 400 && status < 600 ? status : null,
    type: typeof type === 'string' ? type : null,
    code: typeof code === 'string' ? code : null,
    message: textOf(error.get('message')) || textOf(error.get('detail')),
  };
}

function fields(value: unknown): Fields {
  return new Map<string, unknown>(
    typeof value === 'object' && value !== null ? Object.entries(value) : [],
  );
}

/** Content is text, or a list of parts with text. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return '';
  return value.map((part: unknown) => textOf(fields(part).get('text'))).join('');
}
