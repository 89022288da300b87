/** The tour at the end of the demo: what happened and why, and what to type to look further. Pure. */

import { shellWord } from '../../kernel/shell-word.ts';
import type { MailRow, RunRow } from '../../protocol/shapes.ts';
import { safeLine, safeText } from '../text/safe.ts';
import type { Styles } from '../text/style.ts';
import { fit, pad, widthOf } from '../text/width.ts';

export interface TourTask {
  readonly id: string;
  readonly owner: string | null;
  readonly attempt: number;
  /** How often its merge was in conflict. */
  readonly conflicts: number;
  /** Its owner got interrupt mail while it worked on it. */
  readonly interrupted: boolean;
  /** Of a command task. */
  readonly command: string | null;
  readonly gates: readonly string[];
}

export interface TourInput {
  readonly run: RunRow;
  /** As the person named it. */
  readonly folder: string;
  readonly tasks: readonly TourTask[];
  readonly mail: readonly MailRow[];
  /** Lines of `git log --graph`. */
  readonly graph: readonly string[];
  /** Text of `git diff --stat`. */
  readonly stat: string;
}

/** Of a text of mail. */
const LINE_COLUMNS = 96;
const LINES_MAX = 2;

export function renderTour(tour: TourInput, styles: Styles): string {
  const { run } = tour;
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['How it went', tour.tasks.map((task) => taskLine(task, tour.tasks, styles))],
    [
      'The mail that mattered',
      mailThatMattered(tour.mail).flatMap((row) => mailLines(row, styles)),
    ],
    [`The branches: git log --graph main..${run.branch}`, tour.graph.map(safeText)],
    [`What it changed: troupe diff ${run.id} --stat`, safeText(tour.stat).trimEnd().split('\n')],
    ['Look further', lookFurther(tour)],
  ];
  const text = sections
    .filter(([, lines]) => lines.length > 0)
    .map(
      ([title, lines]) => `\n${styles.bold(title)}\n${lines.map((line) => `  ${line}\n`).join('')}`,
    );
  return text.join('');
}

function taskLine(task: TourTask, all: readonly TourTask[], styles: Styles): string {
  const wide = (part: (one: TourTask) => string): number =>
    Math.max(...all.map((one) => widthOf(part(one))));
  const id = pad(
    task.id,
    wide((one) => one.id),
  );
  const owner = pad(
    who(task),
    wide((one) => who(one)),
  );
  return `${id}  ${styles.dim(owner)}  ${whatHappened(task)}`.trimEnd();
}

const who = (task: TourTask): string => (task.command === null ? (task.owner ?? '-') : 'command');

function whatHappened(task: TourTask): string {
  if (task.command !== null) return `a command task, without a model: ${safeLine(task.command)}`;
  const parts: string[] = [];
  if (task.attempt > 1) {
    parts.push(
      `its first work did not pass the gate \`${safeLine(task.gates[0] ?? '')}\`: reworked`,
    );
  }
  if (task.interrupted) parts.push('told by mail to change course, in the middle of a command');
  if (task.conflicts > 0) parts.push('its merge was in conflict with one before it: reworked');
  return parts.length === 0 ? 'done at the first try' : parts.join('; ');
}

/** Without the routine: assignments, and what the lead is told of each end. */
export function mailThatMattered(mail: readonly MailRow[]): MailRow[] {
  return mail.filter((row) => {
    if (row.type === 'task.rework' || row.lane === 'interrupt') return true;
    return row.type === 'chat.message' && row.from !== 'user' && row.from !== 'supervisor';
  });
}

function mailLines(row: MailRow, styles: Styles): string[] {
  const lane = row.lane === 'interrupt' ? ', in the middle of its turn' : '';
  const about = row.task === undefined ? '' : ` about ${row.task}`;
  const what = row.type === 'chat.message' ? '' : ` ${row.type}${about}`;
  const head = `${row.from} → ${row.to}${what}${lane}`;
  return [styles.cyan(head), ...fewLines(safeLine(reasonOf(row))).map((line) => `  ${line}`)];
}

/** Broken between words; what is too much for the last line is cut. */
function fewLines(text: string): string[] {
  const lines: string[] = [];
  let rest = text;
  while (lines.length < LINES_MAX - 1 && widthOf(rest) > LINE_COLUMNS) {
    const end = rest.lastIndexOf(' ', LINE_COLUMNS);
    if (end <= 0) break;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end + 1);
  }
  return [...lines, fit(rest, LINE_COLUMNS)];
}

/** Of a rework the reason; its first paragraph only says which task it is. */
function reasonOf(row: MailRow): string {
  const { text } = row.body;
  if (row.type !== 'task.rework') return text;
  return text.split('\n\n').find((part) => part.startsWith('Why ')) ?? text;
}

function lookFurther({ run, folder, tasks }: TourInput): string[] {
  const reworked = tasks.find((task) => task.attempt > 1 || task.conflicts > 0) ?? tasks[0];
  const merged =
    run.state === 'done'
      ? [
          [`troupe merge ${run.id} --dry-run`, 'what a merge into your branch would do'],
          [`troupe merge ${run.id} && npm test`, 'have it, and see the tests pass'],
        ]
      : [[`troupe worktrees`, 'what was kept of the work that failed']];
  const commands = [
    [`cd ${shellWord(folder)}`, ''],
    ['troupe tasks', 'every task with its state, owner and tries'],
    ['troupe tail', 'all mail; `troupe tail cy` is one mailbox'],
    [`troupe diff ${reworked?.id ?? run.id}`, 'what one task changed'],
    [`troupe diff ${run.id}`, 'what the whole run changed'],
    ...merged,
  ];
  const width = Math.max(...commands.map(([command = '']) => widthOf(command)));
  return commands.map(([command = '', why = '']) => `${pad(command, width)}   ${why}`.trimEnd());
}

/** As a shell takes it. */
