/** `troupe tasks [TASK]`: the tasks of a run, or all that is known of one. */
import {
  outputTail,
  type RunView,
  rowOf,
  taskDetail,
  tasksOf,
  viewAsked,
  viewRun,
} from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { TaskRow } from '../../protocol/shapes.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { noRunYet } from '../no-run.ts';
import { text } from '../options.ts';
import { stateStyle } from '../text/states.ts';
import { type Column, REASON_MAX, renderTable, TITLE_MAX } from '../text/table.ts';
import { outputOf, renderTask } from '../view/task.ts';

const COLUMNS: readonly Column<TaskRow>[] = [
  { head: 'TASK', cell: (row) => row.id },
  {
    head: 'STATE',
    cell: (row) => row.state,
    style: (row, styles) => stateStyle(row.state, styles),
  },
  { head: 'OWNER', cell: (row) => row.owner ?? '-' },
  { head: 'TRY', cell: (row) => String(row.attempt), align: 'right' },
  { head: 'NEEDS', cell: (row) => row.needs.join(',') || '-', shrinkTo: 10 },
  { head: 'TITLE', cell: (row) => row.title, shrinkTo: 16, max: TITLE_MAX },
  { head: 'REASON', cell: (row) => row.reason?.text ?? '', shrinkTo: 16, max: REASON_MAX },
];

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const workspace = await context.workspace();
  const wanted = text(options, 'run');
  const [task] = args;
  const view =
    task === undefined
      ? await viewAsked(workspace, wanted, 'tasks')
      : await viewRun(workspace, wanted, 'tasks');
  if (view !== null && task !== undefined) {
    const detail = await taskDetail(workspace, view, task);
    if (context.json) {
      context.printJson([detail]);
      return EXIT.ok;
    }
    const shown = outputOf(detail);
    const tail = shown === null ? null : await outputTail(workspace, shown.output);
    context.print(renderTask(detail, tail, context.styles));
    return EXIT.ok;
  }
  const rows = view === null ? [] : tasksOf(view);
  if (context.json) {
    context.printJson(rows);
  } else if (view === null) {
    context.print(noRunYet(context));
  } else if (rows.length === 0) {
    context.print(`The run ${view.run} has no tasks yet.\n`);
  } else {
    context.print(renderTable(COLUMNS, rows, context));
    context.print(resumeHint(context, view));
  }
  return EXIT.ok;
}

/** Once, and not as the reason of each task. */
function resumeHint(context: Context, view: RunView): string {
  if (rowOf(view).state !== 'interrupted') return '';
  return `\nThe run is interrupted. Go on with: ${context.command(`troupe resume ${view.run}`)}\n`;
}
