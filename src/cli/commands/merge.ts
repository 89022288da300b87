/** `troupe merge RUN`. */
import { type MergeAnswer, mergeRun } from '../../control/index.ts';
import { counted } from '../../kernel/counted.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { flag, text } from '../options.ts';
import { safeLine } from '../text/safe.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const answer = await mergeRun(await context.workspace(), {
    run: args[0] ?? '',
    into: text(options, 'into'),
    squash: flag(options, 'squash'),
    dryRun: flag(options, 'dryRun'),
  });
  if (answer.warning !== null) {
    context.io.err.write(`troupe: warning: ${safeLine(answer.warning)}\n`);
  }
  if (context.json) context.printJson(answer);
  else context.print(tell(answer));
  return EXIT.ok;
}

function tell(answer: MergeAnswer): string {
  const { run, branch, files } = answer;
  if (answer.state === 'up-to-date') {
    const what = answer.warning === null ? `all of ${run}` : `all that ${run} has done`;
    return `${branch} has ${what} already.\n`;
  }
  const how = answer.fastForward ? ', as a fast-forward' : '';
  const verb = answer.state === 'merged' ? 'Merged' : 'Would merge';
  const list = files.map((file) => `  ${safeLine(file)}\n`).join('');
  return `${verb} ${run} into ${branch}${how}: ${counted(files.length, 'file')}.\n${list}`;
}
