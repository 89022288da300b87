/** `troupe run TEAM`: everything is checked first; then the run is made and hosted in this process. */
import { prepareRun } from '../../control/index.ts';
import type { ExitCode } from '../../kernel/errors.ts';
import { POLICY_MODES, type PolicyMode } from '../../protocol/index.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { hostRun } from '../host-run.ts';
import { amount, flag, text } from '../options.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  if (flag(options, 'detach')) {
    throw usageError('--detach is not available in this version', 'Run it in the foreground.');
  }
  const budgetUsd = amount(options, 'budgetUsd', '--budget-usd');
  const workspace = await context.workspace();
  const { file, beside, notes } = await prepareRun(workspace, {
    teamFile: args[0] ?? '',
    cwd: context.io.cwd,
    model: text(options, 'model'),
    budgetUsd,
    runId: text(options, 'runId'),
    mode: modeOf(text(options, 'mode')),
    attended: !flag(options, 'headless'),
  });
  return hostRun(context, { workspace, file, beside, notes, mode: 'start' });
}

function modeOf(given: string | undefined): PolicyMode | undefined {
  if (given === undefined) return undefined;
  const found = POLICY_MODES.find((mode) => mode === given);
  if (found !== undefined) return found;
  throw usageError(
    `there is no mode ${JSON.stringify(given)}`,
    `There is: ${POLICY_MODES.join(', ')}.`,
  );
}
