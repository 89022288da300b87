/** `troupe ps`: the actors of a run. */
import { actorsOf, viewAsked } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { ActorRow } from '../../protocol/shapes.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { noRunYet } from '../no-run.ts';
import { text } from '../options.ts';
import { stateStyle } from '../text/states.ts';
import { type Column, REASON_MAX, renderTable } from '../text/table.ts';
import { money, tokens } from '../text/time.ts';

const COLUMNS: readonly Column<ActorRow>[] = [
  { head: 'NAME', cell: (row) => row.name },
  { head: 'KIND', cell: (row) => row.kind },
  { head: 'INC', cell: (row) => String(row.incarnation), align: 'right' },
  {
    head: 'STATE',
    cell: (row) => row.state,
    style: (row, styles) => stateStyle(row.state, styles),
  },
  { head: 'TASK', cell: (row) => row.task ?? '-' },
  { head: 'SINCE', cell: (row) => row.since },
  { head: 'TOKENS', cell: (row) => tokens(row.usage), align: 'right' },
  { head: 'COST', cell: (row) => money(row.usage), align: 'right' },
  { head: 'REASON', cell: (row) => row.reason?.text ?? '', shrinkTo: 12, max: REASON_MAX },
];

export async function run(
  context: Context,
  _args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const workspace = await context.workspace();
  const wanted = text(options, 'run');
  const view = await viewAsked(workspace, wanted, 'ps');
  const rows = view === null ? [] : actorsOf(view);
  if (context.json) {
    context.printJson(rows);
  } else if (view === null) {
    context.print(noRunYet(context));
  } else if (rows.length === 0) {
    context.print(`The run ${view.run} has no actors.\n`);
  } else {
    context.print(renderTable(COLUMNS, rows, context));
  }
  return EXIT.ok;
}
