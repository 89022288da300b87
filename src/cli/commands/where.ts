/** `troupe where`: all places. */
import { whereIs } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { Context } from '../context.ts';
import { renderPairs } from '../text/table.ts';

export async function run(context: Context): Promise<ExitCode> {
  const places = await whereIs(await context.workspace());
  if (context.json) context.printJson(places);
  else context.print(renderPairs(Object.entries(places)));
  return EXIT.ok;
}
