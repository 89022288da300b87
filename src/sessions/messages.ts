/**
 * From a transcript to the messages of a request. Pure: the transcript is never rewritten, each request is built anew.
 *
 * Invariants
 * - L1 The messages start with a user message, roles alternate, no message is empty.
 * - L2 Each call is answered by exactly one result in the very next message, whatever the transcript was cut at.
 * - L3 What others wrote can't pose as a mail header: headers are made here alone.
 */
import type {
  ActorKind,
  ContentBlock,
  MailItem,
  Message,
  PlacedEntry,
  SessionEntry,
  UserBlock,
} from '../protocol/index.ts';
import { headText, metaOfGone, shownResult, viewOf } from './compaction.ts';
import { beginsChapter } from './notes.ts';

export interface MessagesOptions {
  readonly kind: ActorKind;
  /** A subagent's one task: the first user content. */
  readonly firstPrompt: string | null;
}

export type CallBlock = Extract<ContentBlock, { type: 'call' }>;
type AnswerEntry = Extract<SessionEntry, { type: 'answer' }>;
type ResultEntry = Extract<SessionEntry, { type: 'result' }>;

/** Text of the result that closes a call which nobody saw the end of. */
export const INTERRUPTED_TEXT = 'interrupted; effects unknown';

/** What stands where a conversation has a hole, so that it stays legal. */
const NO_ANSWER = '(no answer)';
const GO_ON = '(go on)';

/**
 * The entries that the next request is built from: a teammate's current chapter (from the last mail that assigned a
 * task), everything for the others.
 */
export function currentChapter(
  entries: readonly PlacedEntry[],
  kind: ActorKind,
): readonly PlacedEntry[] {
  if (kind !== 'teammate') return entries;
  const start = entries.findLastIndex(({ entry }) => beginsChapter(entry));
  return start <= 0 ? entries : entries.slice(start);
}

/** Empty only when there is nothing to say: no entry and no first prompt. */
export function buildMessages(
  entries: readonly PlacedEntry[],
  options: MessagesOptions,
): Message[] {
  const builder = new Builder();
  if (options.firstPrompt !== null) builder.say({ type: 'text', text: options.firstPrompt });
  const view = viewOf(currentChapter(entries, options.kind));
  const { compaction } = view;
  if (compaction !== null) {
    for (const item of view.letters) builder.say(mailBlock(item));
    const answers = metaOfGone(view);
    const text = withoutHeaders(headText(view, compaction));
    builder.say({ type: 'text', text, ...(answers.length === 0 ? {} : { answers }) });
    for (const { entry } of view.kept) {
      builder.take(entry.type === 'result' ? shownResult(entry, compaction) : entry, true);
    }
  }
  for (const { entry } of view.fresh) builder.take(entry, false);
  return builder.finish();
}

/** Calls of the last answer that have no result yet, in their order. */
export function danglingCalls(entries: readonly PlacedEntry[]): CallBlock[] {
  const last = entries.findLastIndex(({ entry }) => entry.type === 'answer');
  const answer = entries[last]?.entry;
  if (answer?.type !== 'answer') return [];
  const closed = new Set<string>();
  for (const { entry } of entries.slice(last + 1)) {
    if (entry.type === 'result') closed.add(entry.call);
  }
  return callsOf(answer).filter((call) => !closed.has(call.id));
}

/** The calls of an answer; of two with one id only the first counts. */
export function callsOf(answer: { readonly content: readonly ContentBlock[] }): CallBlock[] {
  const calls = new Map<string, CallBlock>();
  for (const block of answer.content) {
    if (block.type === 'call' && !calls.has(block.id)) calls.set(block.id, block);
  }
  return [...calls.values()];
}

/** The text of an answer, without its calls. */
export function textOf(answer: { readonly content: readonly ContentBlock[] }): string {
  return answer.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}

function mailBlock(item: MailItem): UserBlock {
  const about = item.task === undefined ? '' : ` · task ${item.task}`;
  const header = `[mail #${item.n} from ${item.from} · ${item.type}${about}]`;
  return {
    type: 'text',
    text: `${header}\n${withoutHeaders(item.text, true)}`,
    mail: [
      {
        from: item.from,
        type: item.type,
        ...(item.task === undefined ? {} : { task: item.task }),
        ...(item.lane === undefined ? {} : { lane: item.lane }),
        text: item.text,
      },
    ],
  };
}

/** L3. `all`: nor as the head of a compacted conversation. */
function withoutHeaders(text: string, all = false): string {
  const header = all ? /^(?=\s*\[(?:mail #|context compacted))/gm : /^(?=\s*\[mail #)/gm;
  return text.replaceAll(header, '> ');
}

class Builder {
  readonly #messages: Message[] = [];
  #open: readonly CallBlock[] = [];
  #results = new Map<string, ResultEntry>();
  #texts: UserBlock[] = [];

  /** `moved`: it stood behind something else when it was said. */
  take(entry: SessionEntry, moved: boolean): void {
    if (entry.type === 'mail') for (const item of entry.items) this.say(mailBlock(item));
    else if (entry.type === 'result') this.close(entry);
    else if (entry.type === 'answer') this.answer(entry, moved);
  }

  say(block: UserBlock): void {
    if (block.type === 'text' && block.text.trim() !== '') this.#texts.push(block);
  }

  /** A result of no open call (late, or from an older chapter) is left out. */
  close(result: ResultEntry): void {
    if (!this.#results.has(result.call)) this.#results.set(result.call, result);
  }

  answer(answer: AnswerEntry, moved: boolean): void {
    this.#flush(GO_ON);
    this.#messages.push({
      role: 'assistant',
      content: legalContent(answer),
      ...(answer.meta === undefined ? {} : { meta: answer.meta }),
      ...(moved ? { moved } : {}),
    });
    this.#open = callsOf(answer);
    this.#results = new Map();
  }

  finish(): Message[] {
    this.#flush(null);
    return this.#messages;
  }

  /** Closes the user's turn: results first, in the order of their calls, then what was said. */
  #flush(filler: string | null): void {
    const results = this.#open.map((call) => resultBlock(call, this.#results.get(call.id)));
    const content = [...results, ...this.#texts];
    if (content.length === 0 && filler !== null) content.push({ type: 'text', text: filler });
    if (content.length > 0) this.#messages.push({ role: 'user', content });
    this.#open = [];
    this.#results = new Map();
    this.#texts = [];
  }
}

function resultBlock(call: CallBlock, result: ResultEntry | undefined): UserBlock {
  const base = { type: 'result' as const, call: call.id, tool: call.name };
  if (result === undefined) {
    return { ...base, ok: false, text: INTERRUPTED_TEXT, interrupted: 'crash' };
  }
  return {
    ...base,
    ok: result.ok,
    text: result.text,
    ...(result.interrupted === undefined ? {} : { interrupted: result.interrupted }),
  };
}

function legalContent(answer: AnswerEntry): ContentBlock[] {
  const calls = new Set<ContentBlock>(callsOf(answer));
  const content = answer.content.filter((block) =>
    block.type === 'text' ? block.text.trim() !== '' : calls.has(block),
  );
  return content.length > 0 ? content : [{ type: 'text', text: NO_ANSWER }];
}
