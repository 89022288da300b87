/** `troupe why [NAME]`: what does not move, why, and the command that unblocks it. */
import { viewAsked, viewRun, whyOf } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { WhyRow } from '../../protocol/shapes.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { noRunYet } from '../no-run.ts';
import { text } from '../options.ts';
import { type Column, REASON_MAX, renderTable } from '../text/table.ts';

function columns(context: Context): readonly Column<WhyRow>[] {
  return [
    { head: 'WHAT', cell: (row) => row.about },
    { head: 'WHY', cell: (row) => row.reason.kind },
    { head: 'TYPE THIS', cell: (row) => context.command(row.action) },
    { head: 'REASON', cell: (row) => row.reason.text, shrinkTo: 16, max: REASON_MAX },
  ];
}

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const workspace = await context.workspace();
  const wanted = text(options, 'run');
  const [about] = args;
  const view =
    about === undefined
      ? await viewAsked(workspace, wanted, 'why')
      : await viewRun(workspace, wanted, 'why');
  const rows = view === null ? [] : whyOf(view, about);
  if (context.json) context.printJson(rows);
  else if (view === null) context.print(noRunYet(context));
  else if (rows.length === 0) {
    const what =
      about === undefined ? `Nothing waits in the run ${view.run}` : `${about} does not wait`;
    context.print(`${what}.\n`);
  } else context.print(renderTable(columns(context), rows, context));
  return EXIT.ok;
}
