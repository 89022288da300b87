/** `troupe tasks [TASK]`: the tasks of a run, or all that is known of one. */
import { findTask, tasksOf, viewNewest, viewRun } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { TaskRow } from '../../protocol/shapes.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { text } from '../options.ts';
import { stateStyle } from '../text/states.ts';
import { type Column, renderPairs, renderTable } from '../text/table.ts';
import { money, tokens } from '../text/time.ts';

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
  { head: 'TITLE', cell: (row) => row.title, shrinkTo: 16 },
  { head: 'REASON', cell: (row) => row.reason?.text ?? '', shrinkTo: 16 },
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
    wanted === undefined && task === undefined
      ? await viewNewest(workspace)
      : await viewRun(workspace, wanted, 'tasks');
  const rows = view === null ? [] : tasksOf(view);
  if (view !== null && task !== undefined) {
    const row = findTask(view, task);
    if (context.json) context.printJson([row]);
    else context.print(renderTask(row));
  } else if (context.json) {
    context.printJson(rows);
  } else if (view === null) {
    context.print('There is no run in this repository yet. Start one: troupe run TEAM\n');
  } else if (rows.length === 0) {
    context.print(`The run ${view.run} has no tasks yet.\n`);
  } else {
    context.print(renderTable(COLUMNS, rows, context));
  }
  return EXIT.ok;
}

function renderTask(row: TaskRow): string {
  return renderPairs([
    ['task', row.id],
    ['title', row.title],
    ['state', row.state],
    ['reason', row.reason?.text ?? '-'],
    ['owner', row.owner ?? '-'],
    ['attempt', String(row.attempt)],
    ['needs', row.needs.join(', ') || '-'],
    ['branch', row.branch ?? '-'],
    ['commit', row.commit ?? '-'],
    ['worktree', row.worktree ?? '-'],
    ['tokens', tokens(row.usage)],
    ['cost', money(row.usage)],
  ]);
}
