/** `troupe deny ID`: refuses what waits; the reason is told to the model. */
import type { ExitCode } from '../../kernel/errors.ts';
import { answer } from '../answer.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { text } from '../options.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  return answer(context, args[0] ?? '', {
    run: text(options, 'run'),
    effect: 'deny',
    scope: 'once',
    reason: text(options, 'reason'),
    digest: text(options, 'digest'),
  });
}
