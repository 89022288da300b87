/**
 * From a request on the wire back to what an agent asked, as far as it shows: who it is, on which task, what came by
 * mail, and which answer of a script each answer was. So one script can be played by a server that knows nothing else.
 */
import { asActorName, asCallId, asTaskId } from '../../../src/kernel/index.ts';
import type {
  ContentBlock,
  MailMark,
  Message,
  ProviderRequest,
  UserBlock,
} from '../../../src/protocol/index.ts';
import type { Script } from '../../../src/providers/index.ts';
import { chooseAnswer } from '../../../src/providers/script-position.ts';
import { isJson, type Json, type ModelAnswer } from './answer.ts';
import { messagesOf } from './anthropic-rules.ts';
import { openAiMessages } from './openai-rules.ts';

export interface Played {
  readonly script: Script;
  /** Profile of each actor; others are named after theirs (`implementer-2`). */
  readonly profiles: Readonly<Record<string, string>>;
}

export function playScript(
  played: Played,
  system: string,
  messages: readonly Message[],
): ModelAnswer {
  const { script } = played;
  const actor = actorIn(system);
  const profile = played.profiles[actor] ?? actor.replace(/-\d+$/, '');
  const known: Message[] = [];
  const ask = (): ReturnType<typeof chooseAnswer> => {
    const request: ProviderRequest = {
      model: '',
      system,
      tools: [],
      messages: known,
      maxTokens: 1,
      actor: asActorName(actor),
      profile,
      task: taskOf(known),
    };
    return chooseAnswer(script, request);
  };
  for (const message of messages) {
    if (message.role === 'user') known.push(message);
    else {
      const choice = ask();
      const meta = choice.kind === 'answer' ? { script: choice.mark } : {};
      known.push({ ...message, meta });
    }
  }
  const choice = ask();
  if (choice.kind === 'none') throw new Error(choice.message);
  const { text, calls, stop, delay } = choice.answer;
  return { text, calls, stop, delayMs: delay };
}

/** Whose request it is: what is the actor's own follows what all of its profile share. */
export function actorIn(system: string): string {
  return /^You are ([^\s,]+), (?:the|a) /m.exec(system)?.[1] ?? 'lead';
}

/** The task that was assigned last and is not ended. */
function taskOf(messages: readonly Message[]): ProviderRequest['task'] {
  let task: ProviderRequest['task'] = null;
  for (const message of messages) {
    if (message.role === 'assistant') continue;
    for (const block of message.content) {
      const ends = block.type === 'result' && ['complete_task', 'fail_task'].includes(block.tool);
      if (ends && block.ok) task = null;
      const marks = block.type === 'text' ? (block.mail ?? []) : [];
      const given = marks.findLast((one) => ['task.assign', 'task.rework'].includes(one.type));
      if (given?.task !== undefined) task = given.task;
    }
  }
  return task;
}

export function fromAnthropic(body: Json): { system: string; messages: Message[] } {
  const { system } = body;
  const texts = Array.isArray(system)
    ? system.filter(isJson).map((one) => String(one['text']))
    : [];
  const names = new Map<string, string>();
  const messages = messagesOf(body).map(({ role, content }): Message => {
    if (role === 'assistant') return { role, content: content.flatMap((one) => said(one, names)) };
    return { role: 'user', content: content.flatMap((one) => heard(one, names)) };
  });
  return { system: typeof system === 'string' ? system : texts.join(''), messages };
}

function said(block: Json, names: Map<string, string>): ContentBlock[] {
  if (block['type'] === 'text') return [{ type: 'text', text: String(block['text']) }];
  if (block['type'] !== 'tool_use') return [];
  const id = asCallId(String(block['id']));
  const name = String(block['name']);
  names.set(id, name);
  return [{ type: 'call', id, name, input: block['input'] }];
}

function heard(block: Json, names: ReadonlyMap<string, string>): UserBlock[] {
  if (block['type'] === 'text') return mailIn(String(block['text']));
  const id = String(block['tool_use_id']);
  const ok = block['is_error'] !== true;
  return [result({ id, tool: names.get(id) ?? '', ok, text: String(block['content']) })];
}

export function fromOpenAi(body: Json): { system: string; messages: Message[] } {
  const messages: Message[] = [];
  const names = new Map<string, string>();
  let system = '';
  const hear = (blocks: UserBlock[]): void => {
    const last = messages.at(-1);
    if (last?.role === 'user')
      messages.splice(-1, 1, { role: 'user', content: [...last.content, ...blocks] });
    else messages.push({ role: 'user', content: blocks });
  };
  for (const message of openAiMessages(body)) {
    const text = typeof message['content'] === 'string' ? message['content'] : '';
    if (message['role'] === 'system') system = text;
    else if (message['role'] === 'user') hear(mailIn(text));
    else if (message['role'] === 'tool') {
      const id = String(message['tool_call_id']);
      const failed = text.startsWith('[failed] ');
      const shown = failed ? text.slice('[failed] '.length) : text;
      hear([result({ id, tool: names.get(id) ?? '', ok: !failed, text: shown })]);
    } else {
      const calls: readonly unknown[] = Array.isArray(message['tool_calls'])
        ? message['tool_calls']
        : [];
      const content: ContentBlock[] = text === '' ? [] : [{ type: 'text', text }];
      for (const call of calls.filter(isJson)) {
        const fn = isJson(call['function']) ? call['function'] : {};
        const id = asCallId(String(call['id']));
        const name = String(fn['name']);
        names.set(id, name);
        content.push({ type: 'call', id, name, input: JSON.parse(String(fn['arguments'])) });
      }
      messages.push({ role: 'assistant', content });
    }
  }
  return { system, messages };
}

function result(parts: { id: string; tool: string; ok: boolean; text: string }): UserBlock {
  const { id, tool, ok, text } = parts;
  const cut = ok ? null : /^interrupted(?: (before)|(;)| (by mail))/.exec(text);
  const interrupted =
    cut === null
      ? {}
      : { interrupted: cut[3] === undefined ? ('crash' as const) : ('mail' as const) };
  return { type: 'result', call: asCallId(id), tool, ok, text, ...interrupted };
}

const HEADER = /^\[mail #\d+ from (\S+) · (\S+?)(?: · task (\S+))?\]\n/gm;

/** Letters by their headers; only the runtime writes those. */
function mailIn(text: string): UserBlock[] {
  const heads = [...text.matchAll(HEADER)];
  const first = heads[0]?.index ?? text.length;
  const blocks: UserBlock[] =
    text.slice(0, first).trim() === '' ? [] : [{ type: 'text', text: text.slice(0, first) }];
  for (const [index, head] of heads.entries()) {
    const end = heads[index + 1]?.index ?? text.length;
    const body = text.slice(head.index + head[0].length, end).trimEnd();
    const [, from = '', type = '', task] = head;
    const mark: MailMark = {
      from: asActorName(from),
      type,
      ...(task === undefined ? {} : { task: asTaskId(task) }),
      text: body,
    };
    blocks.push({ type: 'text', text: `${head[0]}${body}`, mail: [mark] });
  }
  return blocks;
}
