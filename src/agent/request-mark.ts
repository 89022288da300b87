/** What an answer carries of its request, so that a replay can hold its own against it. */
import type {
  Message,
  PlacedEntry,
  ProviderRequest,
  RequestMark,
  ToolSpec,
} from '../protocol/index.ts';
import { normalMessages, normalText, type RunPlaces } from '../sessions/index.ts';
import { MARK_CHARS, MARKED_SYSTEM_CHARS_MAX } from './limits.ts';

export type Digest = (text: string) => string;

/** Remembers what it has digested: prompt and tools are the same for most requests. */
export class RequestMarks {
  readonly #digest: Digest;
  readonly #places: RunPlaces;
  #prompt: {
    readonly system: string;
    readonly tools: readonly ToolSpec[];
    readonly of: string;
  } | null = null;

  constructor(digest: Digest, places: RunPlaces) {
    this.#digest = digest;
    this.#places = places;
  }

  /** `entries`: the transcript before the answer. */
  of(request: ProviderRequest, entries: readonly PlacedEntry[]): RequestMark {
    const { system, tools } = request;
    const prompt = this.promptOf(request);
    const last = entries.findLast(({ entry }) => entry.type === 'answer')?.entry;
    const known = last?.type === 'answer' ? last.request?.prompt : undefined;
    const shown =
      known === prompt || system.length > MARKED_SYSTEM_CHARS_MAX
        ? {}
        : { system, tools: tools.map((tool) => tool.name) };
    return { digest: this.newsOf(request), prompt, ...shown };
  }

  promptOf({ system, tools }: Pick<ProviderRequest, 'system' | 'tools'>): string {
    if (this.#prompt === null || this.#prompt.system !== system || this.#prompt.tools !== tools) {
      const text = `${normalText(system, this.#places)}\n${JSON.stringify(tools)}`;
      this.#prompt = { system, tools, of: this.#short(text) };
    }
    return this.#prompt.of;
  }

  /** What came since the answer before; what stood there already was digested with that one. */
  newsOf({ messages, task }: Pick<ProviderRequest, 'messages' | 'task'>): string {
    const options = { places: this.#places, inTask: task !== null };
    return this.#short(`${messages.length}\n${normalMessages(newsIn(messages), options)}`);
  }

  #short(text: string): string {
    return this.#digest(text).slice(0, MARK_CHARS);
  }
}

function newsIn(messages: readonly Message[]): readonly Message[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
}
