/** `troupe run TEAM`: in the supervisor that is up; else all is checked first, and it is hosted in this process. */
import { prepareRun } from '../../control/index.ts';
import type { ExitCode } from '../../kernel/errors.ts';
import { POLICY_MODES, type PolicyMode } from '../../protocol/index.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { handOver } from '../hand-over.ts';
import { hostRun } from '../host-run.ts';
import { amount, flag, text } from '../options.ts';
import { ensureUp, findUp } from '../up.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const detach = flag(options, 'detach');
  const given = {
    teamFile: args[0] ?? '',
    cwd: context.io.cwd,
    model: text(options, 'model'),
    budgetUsd: amount(options, 'budgetUsd', '--budget-usd'),
    runId: text(options, 'runId'),
    mode: modeOf(text(options, 'mode')),
    attended: !flag(options, 'headless'),
  };
  const workspace = await context.workspace();
  // What can't be used starts no daemon.
  if (detach) await prepareRun(workspace, given);
  const up = detach ? await ensureUp(context, workspace) : await findUp(workspace);
  if (up !== null) {
    const what = { method: 'run.start' as const, params: given };
    return handOver(context, { workspace, up, what, detach });
  }
  const { file, beside, notes } = await prepareRun(workspace, given);
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
