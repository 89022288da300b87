/** `troupe resume RUN`: goes on with an interrupted run from its journal. */
import {
  checkRunModels,
  controlErrors,
  recordingBeside,
  userConfigFolder,
  viewRun,
} from '../../control/index.ts';
import type { ExitCode } from '../../kernel/errors.ts';
import type { Context } from '../context.ts';
import { hostRun } from '../host-run.ts';
import { tidyUp } from '../tidy.ts';
import { attendance } from './replay.ts';

export async function run(context: Context, args: readonly string[]): Promise<ExitCode> {
  const workspace = await context.workspace();
  const { file, state } = await viewRun(workspace, args[0] ?? '', 'resume');
  if (state.run.ended !== null) {
    await tidyUp(context, workspace);
    throw controlErrors.ended(file.id, state.run.ended.state);
  }
  if (file.replay !== undefined) {
    const header = await recordingBeside(workspace, file);
    const attend = await attendance(context, { workspace, file, header, keep: false }, 'resume');
    return hostRun(context, { workspace, file, notes: [], mode: 'resume', attend });
  }
  const { workspace: folder } = workspace.places;
  const userConfig = userConfigFolder(workspace.deps.env);
  await checkRunModels(workspace.deps, { workspace: folder, userConfig }, file.team);
  return hostRun(context, { workspace, file, notes: [], mode: 'resume' });
}
