/** `troupe resume RUN`: goes on with an interrupted run from its journal. */
import {
  budgetToResume,
  checkRunModels,
  controlErrors,
  recordingBeside,
  requirePolicy,
  userConfigFolder,
  viewRun,
} from '../../control/index.ts';
import type { ExitCode } from '../../kernel/errors.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { hostRun } from '../host-run.ts';
import { amount, positive, time } from '../options.ts';
import { tidyUp } from '../tidy.ts';
import { attendance } from './replay.ts';

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const more = {
    usd: amount(options, 'budgetUsd', '--budget-usd'),
    tokens: positive(options, 'budgetTokens', '--budget-tokens'),
    wallMs: time(options, 'budgetWall', '--budget-wall'),
    turns: positive(options, 'budgetTurns', '--budget-turns'),
  };
  const workspace = await context.workspace();
  const view = await viewRun(workspace, args[0] ?? '', 'resume');
  const { file, state } = view;
  const { ended } = state.run;
  if (ended !== null && ended.state !== 'budget') {
    await tidyUp(context, workspace);
    throw controlErrors.ended(file.id, ended.state);
  }
  const budget = budgetToResume(view, more);
  if (file.replay !== undefined) {
    const header = await recordingBeside(workspace, file);
    const attend = await attendance(context, { workspace, file, header, keep: false }, 'resume');
    return hostRun(context, { workspace, file, notes: [], mode: 'resume', attend });
  }
  const { workspace: folder } = workspace.places;
  const userConfig = userConfigFolder(workspace.deps.env);
  const team = { ...file.team, budget: { ...state.spending.budget, ...budget } };
  await checkRunModels(workspace.deps, { workspace: folder, userConfig }, team);
  await requirePolicy(workspace.deps, workspace.places);
  return hostRun(context, { workspace, file, notes: [], mode: 'resume', budget });
}
