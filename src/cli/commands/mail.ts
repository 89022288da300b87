/** `troupe mail dead|retry|drop`: what could not be delivered, and what becomes of it. */
import { controlErrors, deadMail, viewRun } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import { nearMatches } from '../../kernel/ids.ts';
import type { MailRow } from '../../protocol/shapes.ts';
import type { OptionValues } from '../command.ts';
import { connectTo } from '../connect.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { text } from '../options.ts';
import { safeLine } from '../text/safe.ts';
import { type Column, renderTable } from '../text/table.ts';

const COLUMNS: readonly Column<MailRow>[] = [
  { head: 'ID', cell: (row) => row.id },
  { head: 'FROM', cell: (row) => row.from },
  { head: 'TO', cell: (row) => row.to },
  { head: 'AT', cell: (row) => row.at },
  { head: 'WHY', cell: (row) => row.reason ?? '-', shrinkTo: 16 },
  { head: 'TEXT', cell: (row) => safeLine(row.body.text), shrinkTo: 16 },
];

const WHAT = { retry: 'retried', drop: 'dropped' } as const;

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const [action = '', id] = args;
  if (action === 'dead') return listDead(context, options);
  if (action !== 'retry' && action !== 'drop') {
    const near = nearMatches(action, ['dead', 'retry', 'drop']);
    const hint =
      near.length > 0
        ? `Did you mean ${near.join(' or ')}?`
        : 'There is `dead`, `retry` and `drop`.';
    throw usageError(`mail knows no ${JSON.stringify(action)}`, hint);
  }
  if (id === undefined) throw usageError('which letter?', 'See `troupe mail dead` for their ids.');
  const workspace = await context.workspace();
  const view = await viewRun(workspace, text(options, 'run'), 'mail');
  const client = await connectTo(workspace);
  if (client === null) throw controlErrors.notHeld(view.run);
  try {
    const settled = await client.call('mail.settle', { run: view.run, id, what: WHAT[action] });
    if (context.json) context.printJson({ ...settled, what: WHAT[action] });
    else context.print(`${settled.id} to ${settled.to} is ${WHAT[action]}.\n`);
  } finally {
    client.close();
  }
  return EXIT.ok;
}

async function listDead(context: Context, options: OptionValues): Promise<ExitCode> {
  const workspace = await context.workspace();
  const view = await viewRun(workspace, text(options, 'run'), 'mail');
  const rows = await deadMail(workspace, view);
  if (context.json) context.printJson(rows);
  else if (rows.length === 0) context.print('There are no dead letters.\n');
  else context.print(renderTable(COLUMNS, rows, context));
  return EXIT.ok;
}
