/** `troupe memory [QUERY]`. */
import { examineMemory, memoryRows, recalled } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { Context } from '../context.ts';
import { safeLine, safeText } from '../text/safe.ts';

export async function run(context: Context, args: readonly string[]): Promise<ExitCode> {
  const workspace = await context.workspace();
  for (const { detail, repair } of await examineMemory(workspace.deps, workspace.places)) {
    context.io.err.write(`troupe: ${safeText(detail)}\n  ${repair}\n`);
  }
  const rows = await memoryRows(workspace);
  if (context.json) {
    context.printJson(rows);
    return EXIT.ok;
  }
  const [query = ''] = args;
  const lines = recalled(rows, query);
  const none = query === '' ? 'Nothing is remembered yet.' : 'Nothing fits that.';
  const shown = lines.flatMap((line) => line.split('\n').map(safeLine));
  context.print(`${shown.length === 0 ? none : shown.join('\n')}\n`);
  return EXIT.ok;
}
