/** `troupe worktrees [gc]`. */
import { cleanWorktrees, listWorktrees, type Removed } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import { nearMatches } from '../../kernel/ids.ts';
import type { TreeRow } from '../../protocol/shapes.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { safeLine } from '../text/safe.ts';
import { type Column, renderTable } from '../text/table.ts';

const COLUMNS: readonly Column<TreeRow>[] = [
  { head: 'RUN', cell: (row) => row.run || '-' },
  { head: 'TASK', cell: (row) => row.task ?? '-' },
  { head: 'STATE', cell: (row) => row.state },
  { head: 'OWNER', cell: (row) => row.owner ?? '-' },
  { head: 'KEPT', cell: (row) => row.kept ?? '-', shrinkTo: 16 },
  { head: 'PATH', cell: (row) => row.path },
];

export async function run(context: Context, args: readonly string[]): Promise<ExitCode> {
  const [action] = args;
  if (action !== undefined && action !== 'gc') {
    const near = nearMatches(action, ['gc']).length > 0 ? 'Did you mean gc?' : 'There is `gc`.';
    throw usageError(`worktrees knows no ${JSON.stringify(action)}`, near);
  }
  const workspace = await context.workspace();
  if (action === undefined) {
    const rows = await listWorktrees(workspace);
    if (context.json) context.printJson(rows);
    else if (rows.length === 0) context.print('No run has a worktree.\n');
    else context.print(renderTable(COLUMNS, rows, context));
    return EXIT.ok;
  }
  const { removed, kept } = await cleanWorktrees(workspace);
  if (context.json) {
    context.printJson({ removed, kept });
    return EXIT.ok;
  }
  for (const tree of removed) {
    context.print(`removed ${safeLine(tree.path)}${whereKept(tree)}\n`);
  }
  for (const row of kept)
    context.print(`kept    ${safeLine(row.path)}: ${safeLine(row.kept ?? '')}\n`);
  if (removed.length === 0 && kept.length === 0) context.print('No run has a worktree.\n');
  return EXIT.ok;
}

function whereKept({ saved, branch }: Removed): string {
  if (saved !== null) return `, its work is saved as ${saved}`;
  return branch === null ? '' : `, what it committed is on the branch ${branch}`;
}
