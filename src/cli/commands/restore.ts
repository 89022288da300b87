/** `troupe restore [WHAT]`. */
import { restoreWork, type SavedRow, savedWork } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { text } from '../options.ts';
import { type Column, renderTable, TITLE_MAX } from '../text/table.ts';

const COLUMNS: readonly Column<SavedRow>[] = [
  { head: 'SAVED', cell: ({ run, task, n }) => `${run}/${task}/${n}` },
  { head: 'AT', cell: (row) => row.at },
  { head: 'COMMIT', cell: (row) => row.commit.slice(0, 12) },
  { head: 'WHY', cell: (row) => row.subject, shrinkTo: 16, max: TITLE_MAX },
];

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const workspace = await context.workspace();
  const [what] = args;
  if (what === undefined) {
    const rows = await savedWork(workspace, text(options, 'run'));
    if (context.json) context.printJson(rows);
    else if (rows.length === 0) context.print('No work is saved.\n');
    else context.print(renderTable(COLUMNS, rows, context));
    return EXIT.ok;
  }
  const restored = await restoreWork(workspace, { what, run: text(options, 'run') });
  if (context.json) context.printJson(restored);
  else {
    const { ref, branch } = restored;
    context.print(`${ref} is now the branch ${branch}.\nLook at it: git log -p -1 ${branch}\n`);
  }
  return EXIT.ok;
}
