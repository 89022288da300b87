/** `troupe merge RUN`. */
import { type MergeAnswer, mergeRun, prepareContinue } from '../../control/index.ts';
import { counted } from '../../kernel/counted.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { handOver } from '../hand-over.ts';
import { hostRun } from '../host-run.ts';
import { flag, text } from '../options.ts';
import { safeLine } from '../text/safe.ts';
import { findUp } from '../up.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const task = text(options, 'continue');
  if (task !== undefined) return goOn(context, { run: args[0] ?? '', task }, options);
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

/** A failed task that a person has put in order, here or in the supervisor that is up. */
async function goOn(
  context: Context,
  what: { readonly run: string; readonly task: string },
  options: OptionValues,
): Promise<ExitCode> {
  const others = ['into', 'squash', 'dryRun'].filter((name) => options[name] !== undefined);
  if (others.length > 0) {
    throw usageError('--continue lands a task in its run, so no other option goes with it');
  }
  const workspace = await context.workspace();
  const { view } = await prepareContinue(workspace, what);
  const { file } = view;
  const up = await findUp(workspace);
  const reopen = what.task;
  if (up === null) {
    return hostRun(context, { workspace, file, notes: [], mode: 'resume', reopen });
  }
  const params = { run: file.id, reopen };
  return handOver(context, {
    workspace,
    up,
    what: { method: 'run.resume', params },
    detach: false,
  });
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
