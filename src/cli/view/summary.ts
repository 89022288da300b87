/** What a run came to: done, not done and why, the branch, what to type next. Pure. */

import { counted } from '../../kernel/counted.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { RunRow, RunStatus, TaskRow } from '../../protocol/shapes.ts';
import { totalTokens } from '../../protocol/usage.ts';
import { safeLine, safeText } from '../text/safe.ts';
import { stateStyle, taskMark } from '../text/states.ts';
import type { Styles } from '../text/style.ts';
import { duration, money, tokens } from '../text/time.ts';
import { fit } from '../text/width.ts';

export interface SummaryInput {
  readonly run: RunRow;
  readonly tasks: readonly TaskRow[];
  /** Null: nothing was merged. */
  readonly changes: { readonly commit: string; readonly files: number } | null;
  readonly elapsedMs: number;
  /** The last mail to the person. */
  readonly word: { readonly from: string; readonly text: string } | null;
  /** The gate that failed on the finished branch. */
  readonly finalGate: { readonly gate: string; readonly output: string | null } | null;
  /** Absolute paths of what failed tasks printed last, by task. */
  readonly outputs: ReadonlyMap<string, string>;
  /** A command as it can be typed where the person is. */
  readonly command: (line: string) => string;
}

/** Reasons quote output; the whole is where the summary says. */
const REASON_MAX = 160;

export function renderSummary(input: SummaryInput, styles: Styles): string {
  const { run, tasks } = input;
  const done = tasks.filter((task) => task.state === 'done');
  const rest = tasks.filter((task) => task.state !== 'done');
  const reason = run.reason === null ? '' : `: ${fit(safeLine(run.reason.text), REASON_MAX)}`;
  const lines = [
    '',
    `${styles.bold(run.id)} ${stateStyle(run.state, styles)(run.state)}${reason}`,
    `  ${done.length} of ${counted(tasks.length, 'task')} done in ${duration(input.elapsedMs)}${used(run)}`,
    ...done.map((task) => taskText(task, styles)),
    ...rest.flatMap((task) => [taskText(task, styles), ...outputText(input.outputs.get(task.id))]),
    ...finalGateText(input, styles),
    '',
    ...wordText(input),
    branchText(input),
    '',
    'Next:',
    ...next(input).map((line) => `  ${line}`),
  ];
  return `${lines.join('\n')}\n`;
}

function taskText(task: TaskRow, styles: Styles): string {
  const style = stateStyle(task.state, styles);
  const why = task.reason === null ? '' : `: ${fit(safeLine(task.reason.text), REASON_MAX)}`;
  const state = task.state === 'done' ? '' : ` (${task.state}${why})`;
  return `  ${style(taskMark(task.state))} ${task.id}${titleOf(task)}${style(state)}`;
}

/** Nothing when it says no more than the id. */
function titleOf(task: TaskRow): string {
  return task.title === task.id ? '' : `  ${safeLine(task.title)}`;
}

function outputText(path: string | null | undefined): string[] {
  return path === null || path === undefined ? [] : [`      output: ${safeLine(path)}`];
}

function finalGateText({ finalGate }: SummaryInput, styles: Styles): string[] {
  if (finalGate === null) return [];
  const mark = styles.red(taskMark('failed'));
  return [`  ${mark} final gate ${safeLine(finalGate.gate)}`, ...outputText(finalGate.output)];
}

/** Nothing where no model was used. */
function used({ usage }: RunRow): string {
  const parts = [
    ...(usage.costUsd === 0 ? [] : [`cost ${money(usage)}`]),
    ...(totalTokens(usage) === 0 ? [] : [`${tokens(usage)} tokens`]),
  ];
  return parts.map((part) => `, ${part}`).join('');
}

function wordText({ word }: SummaryInput): string[] {
  if (word === null) return [];
  return [`${word.from} says: ${safeText(word.text).trim().replaceAll('\n', '\n  ')}`, ''];
}

function branchText({ run, changes }: SummaryInput): string {
  if (changes === null) return `Branch ${run.branch}: nothing was changed.`;
  return `Branch ${run.branch}: ${counted(changes.files, 'file')} changed, at ${changes.commit.slice(0, 12)}.`;
}

function next(input: SummaryInput): string[] {
  const { run, tasks, changes, command } = input;
  const commands: string[] = [];
  if (run.state === 'interrupted') commands.push(command(`troupe resume ${run.id}`));
  if (run.state === 'budget') {
    commands.push(`${command(`troupe resume ${run.id}`)} --budget-usd N   # N: in all`);
  }
  const [failed] = tasks.filter((task) => task.state === 'failed');
  if (failed !== undefined) commands.push(command(`troupe tasks ${failed.id} --run ${run.id}`));
  if (changes !== null) {
    commands.push(command(`troupe diff ${run.id} --stat`));
    if (run.state !== 'interrupted') commands.push(mergeLine(input));
  }
  const [first] = tasks;
  const isAllCommands = tasks.every((task) => task.owner === 'supervisor');
  // Without agents there is no mail, but the commands have printed something.
  if (first === undefined || !isAllCommands) commands.push(command(`troupe tail --run ${run.id}`));
  else if (failed === undefined) {
    commands.push(`${command(`troupe tasks ${first.id} --run ${run.id}`)}   # what it printed`);
  }
  return commands;
}

/** What is there may be wanted though something failed, but nobody should take it for finished. */
function mergeLine({ run, tasks, finalGate, command }: SummaryInput): string {
  const line = command(`troupe merge ${run.id}`);
  const lacking = tasks.filter((task) => task.state !== 'done').map((task) => task.id);
  if (finalGate !== null) return `${line}   # its final gate failed: ${safeLine(finalGate.gate)}`;
  if (lacking.length === 0) return line;
  const more = lacking.length > 3 ? ` and ${lacking.length - 3} more` : '';
  return `${line}   # without ${lacking.slice(0, 3).join(', ')}${more}`;
}

/** Of a run that is over; 75 comes as an error and not here. */
const EXITS: Readonly<Record<RunStatus, ExitCode>> = {
  running: EXIT.ok,
  done: EXIT.ok,
  failed: EXIT.unfinished,
  cancelled: EXIT.unfinished,
  budget: EXIT.budget,
  interrupted: EXIT.interrupted,
};

export function exitOf(state: RunStatus): ExitCode {
  return EXITS[state];
}
