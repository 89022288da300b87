/** What a run came to: done, not done and why, the branch, what to type next. Pure. */
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { RunRow, RunStatus, TaskRow } from '../../protocol/shapes.ts';
import { safeLine, safeText } from '../text/safe.ts';
import { stateStyle, taskMark } from '../text/states.ts';
import type { Styles } from '../text/style.ts';
import { duration, money, tokens } from '../text/time.ts';

export interface SummaryInput {
  readonly run: RunRow;
  readonly tasks: readonly TaskRow[];
  /** Null: nothing was merged. */
  readonly changes: { readonly commit: string; readonly files: number } | null;
  readonly elapsedMs: number;
  /** The last mail to the person. */
  readonly word: { readonly from: string; readonly text: string } | null;
}

export function renderSummary(input: SummaryInput, styles: Styles): string {
  const { run, tasks } = input;
  const done = tasks.filter((task) => task.state === 'done');
  const rest = tasks.filter((task) => task.state !== 'done');
  const reason = run.reason === null ? '' : `: ${safeLine(run.reason.text)}`;
  const lines = [
    '',
    `${styles.bold(run.id)} ${stateStyle(run.state, styles)(run.state)}${reason}`,
    `  ${done.length} of ${tasks.length} tasks done in ${duration(input.elapsedMs)}, ` +
      `cost ${money(run.usage)}, ${tokens(run.usage)} tokens`,
    ...done.map((task) => taskText(task, styles)),
    ...rest.map((task) => taskText(task, styles)),
    '',
    ...wordText(input),
    branchText(input),
    '',
    'Next:',
    ...next(input).map((command) => `  ${command}`),
  ];
  return `${lines.join('\n')}\n`;
}

function taskText(task: TaskRow, styles: Styles): string {
  const style = stateStyle(task.state, styles);
  const why = task.reason === null ? '' : `: ${safeLine(task.reason.text)}`;
  const state = task.state === 'done' ? '' : ` (${task.state}${why})`;
  return `  ${style(taskMark(task.state))} ${task.id}  ${safeLine(task.title)}${style(state)}`;
}

function wordText({ word }: SummaryInput): string[] {
  if (word === null) return [];
  return [`${word.from} says: ${safeText(word.text).trim().replaceAll('\n', '\n  ')}`, ''];
}

function branchText({ run, changes }: SummaryInput): string {
  if (changes === null) return `Branch ${run.branch}: nothing was changed.`;
  return `Branch ${run.branch}: ${changes.files} ${changes.files === 1 ? 'file' : 'files'} changed, at ${changes.commit.slice(0, 12)}.`;
}

function next({ run, tasks, changes }: SummaryInput): string[] {
  const commands: string[] = [];
  if (run.state === 'interrupted') commands.push(`troupe resume ${run.id}`);
  const [failed] = tasks.filter((task) => task.state === 'failed');
  if (failed !== undefined) commands.push(`troupe tasks ${failed.id} --run ${run.id}`);
  if (changes !== null) {
    commands.push(`troupe diff ${run.id} --stat`);
    if (run.state !== 'interrupted') commands.push(`troupe merge ${run.id}`);
  }
  commands.push(`troupe tail --run ${run.id}`);
  return commands;
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
