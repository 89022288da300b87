/** `troupe rules [revoke ID]`: what people have granted. */
import { listGrants } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import { nearMatches } from '../../kernel/ids.ts';
import type { GrantRow } from '../../protocol/ask.ts';
import type { OptionValues } from '../command.ts';
import { connectTo } from '../connect.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { revokeAlone } from '../revoke.ts';
import { safeLine } from '../text/safe.ts';
import { type Column, renderTable } from '../text/table.ts';

const COLUMNS: readonly Column<GrantRow>[] = [
  { head: 'ID', cell: (row) => row.id },
  { head: 'SCOPE', cell: (row) => row.scope },
  { head: 'ALLOWS', cell: (row) => safeLine(row.pattern), shrinkTo: 16 },
  { head: 'FOR', cell: (row) => row.profile ?? 'everybody' },
  { head: 'STATE', cell: (row) => row.state },
  { head: 'UNTIL', cell: (row) => row.expiresAt ?? `the end of ${row.run ?? 'the run'}` },
  { head: 'LAST USED', cell: (row) => row.lastUsedAt ?? 'never' },
  { head: 'WHILE UNCHANGED', cell: (row) => row.pins.join(', ') || '-' },
];

export async function run(
  context: Context,
  args: readonly string[],
  _options: OptionValues,
): Promise<ExitCode> {
  const [action, id] = args;
  if (action === undefined) return list(context);
  if (action !== 'revoke') {
    const near = nearMatches(action, ['revoke']);
    const hint = near.length > 0 ? 'Did you mean revoke?' : 'There is `troupe rules revoke ID`.';
    throw usageError(`rules knows no ${JSON.stringify(action)}`, hint);
  }
  if (id === undefined) throw usageError('which rule?', 'See `troupe rules` for their ids.');
  return revoke(context, id);
}

async function list(context: Context): Promise<ExitCode> {
  const rows = await listGrants(await context.workspace());
  if (context.json) context.printJson(rows);
  else if (rows.length === 0) {
    context.print(
      'Nothing was granted. `troupe approve ID --scope workspace` grants; `troupe policy explain` lists the rules of policies.\n',
    );
  } else context.print(renderTable(COLUMNS, rows, context));
  return EXIT.ok;
}

async function revoke(context: Context, id: string): Promise<ExitCode> {
  const workspace = await context.workspace();
  const client = await connectTo(workspace);
  if (client === null) await revokeAlone(context, workspace, id);
  else {
    try {
      await client.call('rules.revoke', { id, by: 'user' });
    } finally {
      client.close();
    }
  }
  if (context.json) context.printJson({ id });
  else context.print(`Revoked ${id}: from now on it is asked about again.\n`);
  return EXIT.ok;
}
