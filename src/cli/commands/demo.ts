/** `troupe demo [DIR]`: a small repository, a whole team on it with scripted answers, and a tour of what happened. */
import {
  prepareRun,
  type RunView,
  rowOf,
  tasksOf,
  viewNewest,
  type Workspace,
} from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import { shellWord } from '../../kernel/shell-word.ts';
import type { Context } from '../context.ts';
import { openFolder, TEAM_FILE } from '../demo/folder.ts';
import { tellTour } from '../demo/tell.ts';
import { hostRun } from '../host-run.ts';
import { tidyUp } from '../tidy.ts';
import { exitOf } from '../view/summary.ts';

const DEFAULT_FOLDER = 'troupe-demo';

export async function run(context: Context, args: readonly string[]): Promise<ExitCode> {
  const wanted = args[0] ?? DEFAULT_FOLDER;
  const folder = await openFolder(context, wanted);
  // Commands that a person copies have to work for the folder that they stand in, too.
  const name = /^[./]*$/.test(wanted) ? folder : wanted;
  const workspace = await (await context.machine()).openWorkspace(folder);
  const before = await viewNewest(workspace);
  if (before?.state.run.ended != null) return explain(context, { workspace, name, view: before });
  const exit = await (before === null
    ? start(context, workspace, folder)
    : hostRun(context, { workspace, file: before.file, notes: [], mode: 'resume' }));
  const view = await viewNewest(workspace);
  if (context.json || view === null) return exit;
  if (view.state.run.ended === null) {
    context.print(`\nGo on with it: troupe demo ${shellWord(name)}\n`);
    return exit;
  }
  await tellTour(context, { workspace, name, view });
  return exit;
}

async function start(context: Context, workspace: Workspace, folder: string): Promise<ExitCode> {
  const { file, beside, notes } = await prepareRun(workspace, {
    teamFile: TEAM_FILE,
    cwd: folder,
    attended: true,
  });
  return hostRun(context, { workspace, file, beside, notes, mode: 'start' });
}

interface Finished {
  readonly workspace: Workspace;
  readonly name: string;
  readonly view: RunView;
}

/** It has ended before: told once more, nothing is done. */
async function explain(context: Context, finished: Finished): Promise<ExitCode> {
  const row = rowOf(finished.view);
  await tidyUp(context, finished.workspace);
  if (context.json) context.printJson({ ...row, tasks: tasksOf(finished.view) });
  else {
    context.print(`This demo has run before: ${row.id} is ${row.state}.\n`);
    await tellTour(context, finished);
  }
  return row.endedAt === null ? EXIT.unfinished : exitOf(row.state);
}
