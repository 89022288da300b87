/** `troupe plans`: plans that wait for a decision, whole, and what became of the others. */
import { plansOf, viewAsked } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { PlanRow } from '../../protocol/shapes.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { noRunYet } from '../no-run.ts';
import { text } from '../options.ts';
import { safeLine, safeText } from '../text/safe.ts';
import { type Column, renderTable } from '../text/table.ts';

const COLUMNS: readonly Column<PlanRow>[] = [
  { head: 'ID', cell: (row) => row.id },
  { head: 'BY', cell: (row) => row.by },
  { head: 'TASK', cell: (row) => row.task ?? '-' },
  { head: 'STATE', cell: (row) => row.state },
  { head: 'FOR', cell: (row) => row.decidedBy ?? row.to },
  { head: 'AT', cell: (row) => row.at },
  { head: 'FEEDBACK', cell: (row) => safeLine(row.feedback) || '-', shrinkTo: 16 },
];

export async function run(
  context: Context,
  _args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const workspace = await context.workspace();
  const id = text(options, 'run');
  const view = await viewAsked(workspace, id, 'plans');
  const rows = view === null ? [] : await plansOf(workspace, view);
  if (context.json) {
    context.printJson(rows);
    return EXIT.ok;
  }
  if (view === null) context.print(noRunYet(context));
  if (rows.length === 0) {
    if (view !== null) context.print('There are no plans.\n');
    return EXIT.ok;
  }
  context.print(renderTable(COLUMNS, rows, context));
  for (const row of rows.filter((one) => one.state === 'proposed')) {
    const about = row.task === null ? '' : ` for task ${row.task}`;
    context.print(`\n${row.id} of ${row.by}${about}:\n\n${safeText(row.text)}\n\n`);
    context.print(`troupe plan approve ${row.id} · troupe plan reject ${row.id} --feedback TEXT\n`);
  }
  return EXIT.ok;
}
