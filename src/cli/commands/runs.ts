/** `troupe runs`: all runs, newest first. */
import { listRuns } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { RunRow } from '../../protocol/shapes.ts';
import type { Context } from '../context.ts';
import { tellWarning } from '../failure.ts';
import { noRunYet } from '../no-run.ts';
import { stateStyle } from '../text/states.ts';
import { type Column, REASON_MAX, renderTable } from '../text/table.ts';
import { money } from '../text/time.ts';

const COLUMNS: readonly Column<RunRow>[] = [
  { head: 'RUN', cell: (row) => row.id },
  {
    head: 'STATE',
    cell: (row) => row.state,
    style: (row, styles) => stateStyle(row.state, styles),
  },
  { head: 'STARTED', cell: (row) => row.startedAt },
  { head: 'ENDED', cell: (row) => row.endedAt ?? '-' },
  { head: 'COST', cell: (row) => money(row.usage), align: 'right' },
  { head: 'BRANCH', cell: (row) => row.branch, shrinkTo: 16 },
  { head: 'REASON', cell: (row) => row.reason?.text ?? '', shrinkTo: 12, max: REASON_MAX },
];

export async function run(context: Context): Promise<ExitCode> {
  const { rows, damaged } = await listRuns(await context.workspace());
  for (const error of damaged) tellWarning(context.io, error);
  if (context.json) {
    context.printJson(rows);
  } else if (rows.length === 0) {
    if (damaged.length === 0) context.print(noRunYet(context));
  } else {
    context.print(renderTable(COLUMNS, rows, context));
  }
  return EXIT.ok;
}
