/**
 * An answer of the Messages API, put together from the events of its stream. It keeps what it does not know, and never
 * parses a call's parameters before they are whole.
 */
import type {
  ContentBlockParam,
  RawMessageStreamEvent,
  StopReason as WireStop,
} from '@anthropic-ai/sdk/resources/messages';
import { asCallId, type CallId } from '../../kernel/index.ts';
import type { ContentBlock, ProviderEvent, StopReason } from '../../protocol/index.ts';
import { readInput } from '../call-input.ts';
import type { Tokens } from '../cost.ts';
import { ANSWER_CHARS_MAX } from '../limits.ts';
import type { KeptBlock } from './kept-blocks.ts';

/** One block as it grows. */
interface Part {
  readonly start: Readonly<Record<string, unknown>> & { readonly type: string };
  text: string;
  json: string;
  signature: string;
  readonly call: CallId | null;
}

export interface AnswerReaderOptions {
  /** A fresh id, for calls of servers that give none or one twice. */
  readonly callId: () => CallId;
  readonly usedIds: ReadonlySet<string>;
}

export class AnswerReader {
  readonly #options: AnswerReaderOptions;
  /** By the order of their beginnings; the index of the wire counts from 0 again after a pause. */
  readonly #parts: Part[] = [];
  readonly #ids: Set<string>;
  #open = new Map<number, Part>();
  #tokens: Tokens | null = null;
  /** Of turns that paused: each is billed. */
  #spent: Tokens | null = null;
  #chars = 0;
  #stop: WireStop | null = null;
  #ended = false;
  #category: string | null = null;

  constructor(options: AnswerReaderOptions) {
    this.#options = options;
    this.#ids = new Set(options.usedIds);
  }

  /** What watchers should know of it; null for nothing. */
  take(event: RawMessageStreamEvent): ProviderEvent | null {
    switch (event.type) {
      case 'message_start':
        this.#count(event.message.usage);
        return null;
      case 'content_block_start':
        return this.#begin(event.index, event.content_block as unknown as Part['start']);
      case 'content_block_delta':
        return this.#grow(event.index, event.delta as unknown as Readonly<Record<string, unknown>>);
      case 'content_block_stop':
        this.#open.delete(event.index);
        return null;
      case 'message_delta':
        this.#count(event.usage);
        this.#stop = event.delta.stop_reason ?? this.#stop;
        this.#category = event.delta.stop_details?.category ?? this.#category;
        return null;
      case 'message_stop':
        this.#ended = true;
        return null;
      default:
        // A later version of the API may send more.
        return null;
    }
  }

  /** The stop reason of an answer that came to its end; null for one that was cut. */
  get stop(): WireStop | null {
    return this.#ended || this.#stop !== null ? this.#stop : null;
  }

  get refusalCategory(): string | null {
    return this.#category;
  }

  get tooLong(): boolean {
    return this.#chars > ANSWER_CHARS_MAX;
  }

  get tokens(): Tokens | null {
    return this.#tokens === null ? this.#spent : sum(this.#spent, this.#tokens);
  }

  /** The turn paused and is sent back: what follows belongs to the same answer. */
  resume(): void {
    this.#spent = this.tokens;
    this.#tokens = null;
    this.#stop = null;
    this.#ended = false;
    this.#open = new Map();
  }

  /** All that was said, as the API wants it back. */
  said(): ContentBlockParam[] {
    return this.#parts.flatMap((part): ContentBlockParam[] => {
      if (part.start.type === 'text') {
        return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
      }
      return [wholeBlock(part) as unknown as ContentBlockParam];
    });
  }

  /** Content for everybody, and the blocks that only the model understands. A refused answer has no calls. */
  whole(): { content: ContentBlock[]; kept: KeptBlock[]; stop: StopReason } {
    const refused = this.#stop === 'refusal';
    const cut = this.#stop === 'max_tokens';
    const content: ContentBlock[] = [];
    const kept: KeptBlock[] = [];
    for (const part of this.#parts) {
      if (part.start.type === 'text') {
        if (part.text.trim() !== '') content.push({ type: 'text', text: part.text });
      } else if (part.call === null) {
        kept.push({ at: content.length, block: wholeBlock(part) });
      } else if (!refused) {
        const name = nameIn(part.start);
        const input = part.json === '' ? startInput(part, cut) : readInput(part.json, cut);
        content.push({ type: 'call', id: part.call, name, input });
      }
    }
    return {
      content,
      kept: refused ? [] : sendable(kept, content),
      stop: stopOf(this.#stop, content),
    };
  }

  #begin(index: number, start: Part['start']): ProviderEvent | null {
    const call = start.type === 'tool_use' ? this.#idOf(start['id']) : null;
    const part: Part = { start, text: textIn(start), json: '', signature: '', call };
    this.#parts.push(part);
    this.#open.set(index, part);
    if (call !== null) return { type: 'call', id: call, name: nameIn(start) };
    return part.text === '' || start.type !== 'text' ? null : { type: 'text', delta: part.text };
  }

  #grow(index: number, delta: Readonly<Record<string, unknown>>): ProviderEvent | null {
    const part = this.#open.get(index);
    if (part === undefined) return null;
    const piece = (key: string): string => {
      const value = delta[key];
      const text = typeof value === 'string' ? value : '';
      this.#chars += text.length;
      return text;
    };
    switch (delta['type']) {
      case 'text_delta': {
        const text = piece('text');
        part.text += text;
        return text === '' ? null : { type: 'text', delta: text };
      }
      case 'thinking_delta': {
        const text = piece('thinking');
        part.text += text;
        return text === '' ? null : { type: 'thinking', delta: text };
      }
      case 'input_json_delta':
        part.json += piece('partial_json');
        return null;
      case 'signature_delta':
        part.signature += piece('signature');
        return null;
      default:
        return null;
    }
  }

  #idOf(given: unknown): CallId {
    const id = typeof given === 'string' ? given : '';
    const fits = /^toolu_[A-Za-z0-9_-]{8,34}$/.test(id) && !this.#ids.has(id);
    const chosen = fits ? asCallId(id) : this.#options.callId();
    this.#ids.add(chosen);
    return chosen;
  }

  /** Figures are totals so far: a later one stands, one that is missing does not. */
  #count(usage: unknown): void {
    if (typeof usage !== 'object' || usage === null) return;
    const figures = new Map<string, unknown>(Object.entries(usage));
    const read = (key: string, before: number | undefined): number => {
      const value = figures.get(key);
      return typeof value === 'number' ? value : (before ?? 0);
    };
    this.#tokens = {
      input: read('input_tokens', this.#tokens?.input),
      output: read('output_tokens', this.#tokens?.output),
      cacheRead: read('cache_read_input_tokens', this.#tokens?.cacheRead),
      cacheWrite: read('cache_creation_input_tokens', this.#tokens?.cacheWrite),
    };
  }
}

function stopOf(stop: WireStop | null, content: readonly ContentBlock[]): StopReason {
  if (stop === 'refusal') return 'refusal';
  if (stop === 'max_tokens') return 'length';
  return content.some((block) => block.type === 'call') ? 'calls' : 'end';
}

function textIn(start: Part['start']): string {
  const text = start.type === 'thinking' ? start['thinking'] : start['text'];
  return typeof text === 'string' ? text : '';
}

/** The API takes back no thought that was cut, and none that stands last. */
function sendable(kept: readonly KeptBlock[], content: readonly ContentBlock[]): KeptBlock[] {
  const signed = kept.filter(({ block }) => block.type !== 'thinking' || block['signature'] !== '');
  return content.length === 0 ? [] : signed.filter(({ at }) => at < content.length);
}

function nameIn(start: Part['start']): string {
  const { name } = start;
  return typeof name === 'string' ? name : '';
}

/** Servers that do not stream parameters give them at the beginning. */
function startInput(part: Part, cut: boolean): unknown {
  const { input } = part.start;
  const given = typeof input === 'object' && input !== null && Object.keys(input).length > 0;
  return given ? input : readInput('', cut);
}

function wholeBlock(part: Part): KeptBlock['block'] {
  const { start } = part;
  if (start.type === 'thinking') {
    const signature = part.signature === '' ? (start['signature'] ?? '') : part.signature;
    return { ...start, thinking: part.text, signature };
  }
  if (part.json === '') return start;
  return { ...start, input: readInput(part.json, false) };
}

function sum(a: Tokens | null, b: Tokens): Tokens {
  if (a === null) return b;
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}
