/** `troupe approvals`: what waits for a person, and how to answer. */
import { listApprovals } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { text } from '../options.ts';
import { askText, shortId } from '../text/ask.ts';

export async function run(
  context: Context,
  _args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const workspace = await context.workspace();
  const rows = await listApprovals(workspace, text(options, 'run'));
  if (context.json) {
    context.printJson(rows);
    return EXIT.ok;
  }
  const [first] = rows;
  if (first === undefined) {
    context.print('Nothing waits for you.\n');
    return EXIT.ok;
  }
  const now = workspace.deps.clock.now();
  for (const row of rows) context.print(`${askText(row, now, context.styles)}\n`);
  const id = shortId(first.id);
  const more = first.offer === null ? '' : ', or from now on with --scope run or --scope workspace';
  context.print(
    `Allow it: ${context.command(`troupe approve ${id}`)}${more}\n` +
      `Refuse it: ${context.command(`troupe deny ${id} --reason 'what to do instead'`)}\n`,
  );
  return EXIT.ok;
}
