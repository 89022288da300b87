/** What becomes of a replay: its tree beside the recorded one, its traces away, its recording as a file. */
import { readJournal } from '../journal/index.ts';
import type { StoredRunRecord } from '../protocol/index.ts';
import { dropRunBranches, readIntegration, treeOf } from '../worktree/index.ts';
import { readText, writeWhole } from './files.ts';
import { outputPath } from './outputs.ts';
import { journalFolder } from './places.ts';
import { isRunRecord } from './queries.ts';
import { forgetRun } from './run-store.ts';
import { cleanWorktrees } from './trees.ts';
import type { Workspace } from './workspace.ts';

/** Null: there is nothing to compare with. */
export async function compareTrees(
  workspace: Workspace,
  run: string,
  recorded: string | null,
): Promise<boolean | null> {
  if (recorded === null) return null;
  const { repository } = workspace;
  return (await treeOf(repository, await readIntegration(repository, run))) === recorded;
}

/** All of a replay that has ended: trees, branches and folder. What its agents made is in the recorded run. */
export async function removeReplay(workspace: Workspace, run: string): Promise<void> {
  await cleanWorktrees(workspace, (row) => (row.run === run ? null : 'it is another run'));
  await dropRunBranches(workspace.repository, run);
  await forgetRun(workspace, run);
}

export async function readRecords(workspace: Workspace, run: string): Promise<StoredRunRecord[]> {
  const { files } = workspace.deps;
  const records: StoredRunRecord[] = [];
  for await (const record of readJournal({
    files,
    directory: journalFolder(workspace.places, run),
  })) {
    if (isRunRecord(record)) records.push(record);
  }
  return records;
}

export async function runOutput(
  workspace: Workspace,
  run: string,
  id: string,
): Promise<string | null> {
  return readText(workspace.deps.files, outputPath(workspace.places, run, id));
}

export async function writeCassette(
  workspace: Workspace,
  path: string,
  text: string,
): Promise<void> {
  const { files, random } = workspace.deps;
  await writeWhole(files, path, { text, temporary: `${path}.${random.id(6)}` });
}
