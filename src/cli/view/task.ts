/** All that is known of one task, for people. Pure. */
import type { CommandRun, TaskDetail } from '../../control/index.ts';
import { counted } from '../../kernel/counted.ts';
import { totalTokens } from '../../protocol/usage.ts';
import { safeLine, safeText } from '../text/safe.ts';
import type { Styles } from '../text/style.ts';
import { renderPairs } from '../text/table.ts';
import { money, tokens } from '../text/time.ts';
import { fit } from '../text/width.ts';

/** Commands of agents are many; the last ones tell how it stands. */
const AGENT_COMMANDS_SHOWN = 5;
/** The whole of it is in the output of the gate, which is named. */
const REASON_MAX = 240;
const COMMAND_MAX = 100;

export interface OutputTail {
  readonly lines: readonly string[];
  readonly cut: boolean;
}

/** The command whose output is shown: of a command task its own last one. */
export function outputOf(task: TaskDetail): CommandRun | null {
  if (task.command === null) return null;
  return task.commands.findLast((one) => one.command === task.command) ?? null;
}

export function renderTask(task: TaskDetail, tail: OutputTail | null, styles: Styles): string {
  const parts = [
    renderPairs(pairsOf(task)),
    block(styles, task.command === null ? 'prompt' : 'command', task.command ?? task.prompt ?? ''),
    block(styles, 'summary', task.summary ?? ''),
    list(
      styles,
      'todo list',
      task.todo.map(({ text, state }) => `[${TODO_MARKS[state]}] ${text}`),
    ),
    list(styles, 'what went wrong', task.setbacks.map(setbackLine)),
    list(styles, 'gates', task.gates.map(gateLine)),
    list(styles, 'commands', commandsShown(task).map(commandLine)),
    tail === null ? '' : block(styles, tail.cut ? 'output (its end)' : 'output', outputText(tail)),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

export const TODO_MARKS = { open: ' ', doing: '~', done: 'x' } as const;

const outputText = (tail: OutputTail): string => tail.lines.join('\n') || '(nothing)';

function pairsOf(task: TaskDetail): [string, string][] {
  const used = totalTokens(task.usage) === 0 ? '-' : `${tokens(task.usage)} tokens`;
  const tree = task.worktree ?? task.saved.at(-1);
  return [
    ['task', task.id],
    ['title', task.title],
    ['state', task.state],
    ['reason', fit(safeLine(task.reason?.text ?? '-'), REASON_MAX)],
    ['owner', task.owner ?? '-'],
    ['attempt', `${task.attempt} of ${task.attempts}`],
    ...optional('profile', task.agent ?? ''),
    ['needs', task.needs.join(', ') || '-'],
    ['touches', task.touches.join(', ') || '-'],
    ['verify', task.verify.map((gate) => fit(safeLine(gate), COMMAND_MAX)).join(' · ') || '-'],
    ['branch', task.branch ?? '-'],
    ['commit', task.commit ?? '-'],
    ['merged as', task.mergedCommit ?? '-'],
    [task.worktree === null && tree !== undefined ? 'saved as' : 'worktree', tree ?? '-'],
    ['started', task.startedAt ?? '-'],
    ['ended', task.endedAt ?? '-'],
    ['used', `${used}${task.usage.costUsd === 0 ? '' : `, ${money(task.usage)}`}`],
  ];
}

const optional = (key: string, value: string): [string, string][] =>
  value === '' ? [] : [[key, value]];

function block(styles: Styles, head: string, body: string): string {
  const shown = safeText(body).trimEnd();
  if (shown === '') return '';
  return `${styles.bold(head)}\n  ${shown.replaceAll('\n', '\n  ')}\n`;
}

function list(styles: Styles, head: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : block(styles, head, lines.join('\n'));
}

const CHARGED: Readonly<Record<TaskDetail['setbacks'][number]['kind'], string>> = {
  attempt: 'counts as an attempt',
  conflict: 'merge conflict, reworked',
  interruption: 'cut off',
  nothing: 'goes back',
  end: 'ended',
};

function setbackLine({ at, attempt, by, kind, reason }: TaskDetail['setbacks'][number]): string {
  const who = by === null || by === 'supervisor' ? '' : ` ${by}`;
  const claim = attempt === 0 ? '' : ` try ${attempt}${who}`;
  return `${at}${claim} (${CHARGED[kind]}): ${fit(safeLine(reason.text), REASON_MAX)}`;
}

function gateLine({
  gate,
  stage,
  ok,
  exit,
  tries,
  commit,
  output,
  text,
}: TaskDetail['gates'][number]): string {
  const no =
    text === undefined
      ? `failed (${exit === null ? 'no exit code' : `exit ${exit}`})`
      : 'not approved';
  const verdict = ok ? 'passed' : no;
  const said = text === undefined ? '' : `\n  ${fit(safeLine(text), REASON_MAX)}`;
  const on = commit === null ? '' : ` on ${commit.slice(0, 12)}`;
  const again = tries > 1 ? ` after ${counted(tries, 'try', 'tries')}` : '';
  const when = stage === 'merge' ? ' (merged commit)' : '';
  return `${fit(safeLine(gate), COMMAND_MAX)}${when}: ${verdict}${on}${again}${output === null ? '' : `\n  ${output}`}${said}`;
}

function commandsShown(task: TaskDetail): CommandRun[] {
  const gates = new Set(task.gates.map((gate) => gate.output));
  const own = task.commands.filter((one) => one.actor === null && !gates.has(one.output));
  const agents = task.commands.filter((one) => one.actor !== null);
  return [...own, ...agents.slice(-AGENT_COMMANDS_SHOWN)];
}

function commandLine({ command, actor, code, why, endedAt, output }: CommandRun): string {
  const how =
    endedAt === null
      ? 'not ended'
      : why === 'exit'
        ? `exit ${code ?? 'unknown'}`
        : (why ?? 'ended');
  return `${actor === null ? '' : `${actor}: `}${fit(safeLine(command), COMMAND_MAX)} (${how})\n  ${output}`;
}
