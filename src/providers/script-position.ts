/**
 * Which answer of a script comes now. Pure, and a function of the request alone: each answer that was committed carries
 * where it came from (`meta.script`), so that the position survives a restart.
 *
 * Invariants
 * - L4 The position is the number of committed answers from the turns of this section. What was not committed is
 *   offered again; calls that a crash cut are offered again too, and the script does not notice the crash. With interrupt
 *   mail beside them they are not: it would have cut them without the crash.
 * - L5 A turn that nobody wrote is an error that says whose turn it was; never a silent end.
 */
import type { MailMark, Message, ProviderRequest, UserBlock } from '../protocol/index.ts';
import { QUOTE_CHARS } from './limits.ts';
import type { Script } from './parse-script.ts';
import type { Condition, ScriptAnswer, ScriptCall, ScriptSection } from './script.ts';

/** Where an answer came from; one of `turn`, `on`, `otherwise`. `again`: repeats cut calls of the answer before. */
export interface ScriptMark {
  readonly section: number;
  readonly turn?: number;
  readonly on?: number;
  readonly otherwise?: true;
  readonly again?: true;
}

export type Choice =
  | { readonly kind: 'answer'; readonly answer: ScriptAnswer; readonly mark: ScriptMark }
  | { readonly kind: 'none'; readonly message: string; readonly hint: string };

export function chooseAnswer(script: Script, request: ProviderRequest): Choice {
  const index = script.sections.findIndex((section) => sectionFits(section, request));
  const section = script.sections[index];
  if (section === undefined) {
    return {
      kind: 'none',
      message: `${script.path}: no section for ${describeConversation(request)}`,
      hint: 'Add a section whose `actor`, `profile` and `task` match, or leave these keys out.',
    };
  }
  const marks = marksOf(request.messages);
  const again = cutCalls(request.messages, index);
  if (again !== null) return again;
  const blocks = newsSince(request.messages);
  const reaction = (section.on ?? []).findIndex(
    (candidate, on) =>
      !(
        candidate.once === true && marks.some((mark) => mark.section === index && mark.on === on)
      ) && holds(candidate.when, blocks),
  );
  const reacted = section.on?.[reaction];
  if (reacted !== undefined) {
    return { kind: 'answer', answer: reacted.answer, mark: { section: index, on: reaction } };
  }
  const turn = marks.filter((mark) => isTurnOf(mark, index)).length;
  const answer = answerOfTurn(section, turn, blocks);
  if (answer !== null) return { kind: 'answer', answer, mark: { section: index, turn } };
  if (section.otherwise !== undefined) {
    return { kind: 'answer', answer: section.otherwise, mark: { section: index, otherwise: true } };
  }
  return unmatched({ script, request, index, turn, blocks });
}

function answerOfTurn(
  section: ScriptSection,
  index: number,
  blocks: readonly UserBlock[],
): ScriptAnswer | null {
  const turn = section.turns[index];
  if (turn === undefined) return null;
  if (turn.any === undefined) return turn;
  return turn.any.find(({ when }) => when === undefined || holds(when, blocks)) ?? null;
}

function sectionFits(section: ScriptSection, request: ProviderRequest): boolean {
  const fits = (wanted: string | undefined, actual: string): boolean =>
    wanted === undefined || wanted === actual;
  if (!fits(section.actor, request.actor) || !fits(section.profile, request.profile)) return false;
  if (!fits(section.task, request.task ?? 'none')) return false;
  if (section.when === undefined) return true;
  const [first] = request.messages;
  return first?.role === 'user' && holds(section.when, first.content);
}

/** The marks of all answers that were committed in this conversation, in order; also of those that a summary stands for. */
function marksOf(messages: readonly Message[]): ScriptMark[] {
  return messages.flatMap((message) => {
    if (message.role === 'assistant') return markOf(message) ?? [];
    return message.content.flatMap((block) =>
      block.type === 'text' ? (block.answers ?? []).flatMap((meta) => readMark(meta) ?? []) : [],
    );
  });
}

function markOf(message: Message): ScriptMark | null {
  return message.role === 'assistant' ? readMark(message.meta) : null;
}

function readMark(meta: Readonly<Record<string, unknown>> | undefined): ScriptMark | null {
  const mark = meta?.['script'];
  if (typeof mark !== 'object' || mark === null || !('section' in mark)) return null;
  return typeof mark.section === 'number' ? (mark as ScriptMark) : null;
}

function isTurnOf(mark: ScriptMark, section: number): boolean {
  return mark.section === section && mark.turn !== undefined && mark.again !== true;
}

/** The calls of the last answer that a crash cut: the same step once more. */
function cutCalls(messages: readonly Message[], section: number): Choice | null {
  const newest = messages.at(-1);
  const before = messages.at(-2);
  if (newest?.role !== 'user' || before?.role !== 'assistant') return null;
  if (mailIn(newest.content).some((mail) => mail.lane === 'interrupt')) return null;
  const mark = markOf(before);
  if (mark === null || mark.section !== section) return null;
  const cut = new Set<string>();
  for (const block of newest.content) {
    if (block.type === 'result' && block.interrupted === 'crash') cut.add(block.call);
  }
  const calls: ScriptCall[] = before.content.flatMap((block) =>
    block.type === 'call' && cut.has(block.id) ? [{ tool: block.name, input: block.input }] : [],
  );
  if (calls.length === 0) return null;
  return { kind: 'answer', answer: { calls }, mark: { ...mark, again: true } };
}

/** What came since the last answer that was not a repetition, without the results that were repeated. */
function newsSince(messages: readonly Message[]): UserBlock[] {
  const last = messages.findLastIndex(
    (message) => message.role === 'assistant' && markOf(message)?.again !== true,
  );
  return messages
    .slice(last + 1)
    .flatMap((message) => (message.role === 'user' ? message.content : []))
    .filter((block) => block.type !== 'result' || block.interrupted !== 'crash');
}

function holds(condition: Condition, blocks: readonly UserBlock[]): boolean {
  const { mail, result, text } = condition;
  const fits = (wanted: string | boolean | undefined, actual: string | boolean): boolean =>
    wanted === undefined || wanted === actual;
  const contains = (wanted: string | undefined, actual: string): boolean =>
    wanted === undefined || actual.includes(wanted);
  const mailHolds =
    mail === undefined ||
    mailIn(blocks).some(
      (mark) =>
        fits(mail.type, mark.type) &&
        fits(mail.from, mark.from) &&
        fits(mail.task, mark.task ?? 'none') &&
        contains(mail.contains, mark.text),
    );
  const resultHolds =
    result === undefined ||
    blocks.some(
      (block) =>
        block.type === 'result' &&
        fits(result.tool, block.tool) &&
        fits(result.ok, block.ok) &&
        contains(result.contains, block.text),
    );
  const textHolds =
    text === undefined ||
    blocks.some((block) => block.type === 'text' && block.text.includes(text.contains));
  return mailHolds && resultHolds && textHolds;
}

function mailIn(blocks: readonly UserBlock[]): MailMark[] {
  return blocks.flatMap((block) => (block.type === 'text' ? [...(block.mail ?? [])] : []));
}

interface Unmatched {
  readonly script: Script;
  readonly request: ProviderRequest;
  readonly index: number;
  readonly turn: number;
  readonly blocks: readonly UserBlock[];
}

function unmatched({ script, request, index, turn, blocks }: Unmatched): Choice {
  const section = script.sections[index];
  const turns = section?.turns.length ?? 0;
  const what =
    turn < turns
      ? `no alternative of turn ${turn + 1} matches`
      : `turn ${turn + 1} was asked for, it has ${turns}`;
  return {
    kind: 'none',
    message:
      `${script.path}: ${describeConversation(request)}, section ${index + 1} ` +
      `(line ${script.lines[index] ?? 1}): ${what}; what came: ${describeNews(blocks)}`,
    hint: 'Add the turn, an alternative without `when`, or `otherwise` to that section.',
  };
}

function describeConversation(request: ProviderRequest): string {
  const task = request.task === null ? 'outside a task' : `on task ${request.task}`;
  return `actor ${request.actor} (profile ${request.profile}) ${task}`;
}

function describeNews(blocks: readonly UserBlock[]): string {
  const parts = blocks.flatMap((block) => {
    if (block.type === 'result') {
      return [`${block.ok ? 'result' : 'failed result'} of ${block.tool}: ${quote(block.text)}`];
    }
    if (block.mail === undefined) return [`text ${quote(block.text)}`];
    return block.mail.map((mark) => `mail ${mark.type} from ${mark.from}: ${quote(mark.text)}`);
  });
  return parts.length === 0 ? 'nothing' : parts.join('; ');
}

function quote(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ').trim();
  return JSON.stringify(flat.length > QUOTE_CHARS ? `${flat.slice(0, QUOTE_CHARS)}…` : flat);
}
