/** `troupe trust`: a person's word that files of the repository may do what they say. */
import {
  chooseTrustable,
  listTrustable,
  type Trustable,
  trustWords,
  untrustable,
  type Workspace,
} from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { TrustRecord } from '../../protocol/index.ts';
import type { OptionValues } from '../command.ts';
import { connectTo } from '../connect.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { flag } from '../options.ts';
import { safeLine } from '../text/safe.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const revoke = flag(options, 'revoke');
  if (revoke && flag(options, 'list')) {
    throw usageError('--list and --revoke do not go together', 'Choose one of them.');
  }
  const workspace = await context.workspace();
  const paths = args.map((path) => relativeTo(workspace, context.io.cwd, path));
  for (const line of await untrustable(workspace)) {
    context.io.err.write(`troupe: not used and not trusted: ${safeLine(line)}\n`);
  }
  const rows = chooseTrustable(await listTrustable(workspace), paths);
  if (flag(options, 'list')) {
    tell(context, rows, 'nothing here to trust\n');
    return EXIT.ok;
  }
  const words = trustWords(rows, revoke ? 'revoked' : 'trusted');
  if (words.length > 0) await record(context, workspace, words);
  const changed = new Set(words.map((word) => word.path));
  const now = rows.map((row) => (changed.has(row.path) ? { ...row, trusted: !revoke } : row));
  tell(context, now, 'nothing here to trust\n');
  if (!context.json && rows.length > 0) {
    const what = revoke ? 'no longer trusted' : 'trusted';
    const count = words.length === 1 ? '1 file is' : `${words.length} files are`;
    context.print(
      words.length === 0
        ? `Nothing changed.\n`
        : `${count} ${what}, as ${words.length === 1 ? 'it is' : 'they are'} now; a change has to be trusted again.\n`,
    );
  }
  return EXIT.ok;
}

/** By the supervisor that holds the repository, else by one that is opened for it. */
async function record(
  context: Context,
  workspace: Workspace,
  words: readonly Omit<TrustRecord, 'at'>[],
): Promise<void> {
  const client = await connectTo(workspace);
  if (client !== null) {
    try {
      await client.call('trust.set', { words });
    } finally {
      client.close();
    }
    return;
  }
  const { hosting } = await context.machine();
  const host = await hosting.open(workspace, { log: () => undefined });
  try {
    await host.supervisor.trust(words);
  } finally {
    await host.close();
  }
}

function relativeTo(workspace: Workspace, cwd: string, path: string): string {
  const root = `${workspace.places.workspace}/`;
  const whole = path.startsWith('/') ? path : `${cwd}/${path}`;
  const names: string[] = [];
  for (const name of whole.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  const plain = `/${names.join('/')}`;
  return plain.startsWith(root) ? plain.slice(root.length) : path;
}

function tell(context: Context, rows: readonly Trustable[], none: string): void {
  if (context.json) {
    context.printJson(rows);
    return;
  }
  if (rows.length === 0) context.print(none);
  for (const { path, hash, trusted, allows } of rows) {
    const state = trusted ? 'trusted    ' : 'not trusted';
    context.print(`${state}  ${hash.slice(0, 12)}  ${safeLine(path)}\n`);
    for (const line of allows) context.print(`             ${safeLine(line)}\n`);
  }
}
