/** What lies in the folder of a run: its file, and where its parts are. */
import { EXIT, ensureError, TroupeError } from '../kernel/index.ts';
import type { RunFile } from '../protocol/index.ts';
import { ignoreFiles } from '../worktree/index.ts';
import type { SupervisorDeps } from './contract.ts';
import type { ExecutorDeps } from './effects/executor.ts';

export async function readRunFile(
  { directory, files }: Pick<SupervisorDeps, 'directory' | 'files'>,
  run: string,
): Promise<RunFile> {
  const path = `${directory}/runs/${run}/run.json`;
  try {
    return JSON.parse(new TextDecoder().decode(await files.readFile(path))) as RunFile;
  } catch (thrown) {
    throw new TroupeError({
      code: 'run/unknown',
      message: `There is no run "${run}" that could be resumed: ${ensureError(thrown).message}`,
      exit: EXIT.notFound,
      cause: thrown,
    });
  }
}

/** Makes the one that must be there before anything runs. */
export async function foldersOf(
  { files, repository }: Pick<SupervisorDeps, 'files' | 'repository'>,
  folder: string,
  notes: string,
): Promise<ExecutorDeps['directories']> {
  const outputs = `${folder}/outputs`;
  await files.makeDirectory(outputs);
  return { journal: `${folder}/journal`, outputs, notes, ignores: ignoreFiles(repository) };
}
