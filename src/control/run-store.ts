/**
 * The folders of runs: which there are, their `run.json`, and making a new one.
 *
 * Invariant: a run exists from one rename on, which brings its folder with a whole `run.json`; there is no half of one.
 */
import { ensureError, systemCode, type TroupeError } from '../kernel/errors.ts';
import { isName } from '../kernel/ids.ts';
import type { RunFile } from '../protocol/team.ts';
import { errors } from './errors.ts';
import { listFolder, readJson, writeSynced } from './files.ts';
import { runFilePath, runFolder } from './places.ts';
import type { Workspace } from './workspace.ts';

export interface StoredRun {
  readonly run: string;
  readonly file: RunFile;
}

export interface RunList {
  /** Newest first. */
  readonly runs: readonly StoredRun[];
  readonly damaged: readonly TroupeError[];
}

/** Ids of all runs, also damaged ones, by name. */
export async function runIds(workspace: Workspace): Promise<string[]> {
  const names = await listFolder(workspace.deps.files, workspace.places.runs);
  return names.filter(isName);
}

export async function listRunFiles(workspace: Workspace): Promise<RunList> {
  const runs: StoredRun[] = [];
  const damaged: TroupeError[] = [];
  for (const run of await runIds(workspace)) {
    const read = await tryRead(workspace, run);
    if (read.kind === 'run') runs.push({ run, file: read.file });
    else damaged.push(read.error);
  }
  runs.sort(
    (a, b) => b.file.createdAt.localeCompare(a.file.createdAt) || b.run.localeCompare(a.run),
  );
  return { runs, damaged };
}

/** Throws `control/unknown-run`, `control/damaged-run`, `control/newer-version`. */
export async function readRunFile(workspace: Workspace, run: string): Promise<RunFile> {
  const known = await runIds(workspace);
  if (!known.includes(run)) throw errors.unknownRun(run, known.toReversed());
  const read = await tryRead(workspace, run);
  if (read.kind === 'damaged') throw read.error;
  return read.file;
}

type Read =
  | { readonly kind: 'run'; readonly file: RunFile }
  | { readonly kind: 'damaged'; readonly error: TroupeError };

async function tryRead(workspace: Workspace, run: string): Promise<Read> {
  const path = runFilePath(workspace.places, run);
  let value: unknown;
  try {
    value = await readJson(workspace.deps.files, path);
  } catch (error) {
    return { kind: 'damaged', error: errors.damagedRun(run, path, ensureError(error).message) };
  }
  if (value === null)
    return { kind: 'damaged', error: errors.damagedRun(run, path, 'it is missing') };
  const version = versionOf(value);
  if (version !== null && version > 1) {
    return { kind: 'damaged', error: errors.newerRun(run, version) };
  }
  if (!isRunFile(value, run)) {
    const why = 'it is not what was written there';
    return { kind: 'damaged', error: errors.damagedRun(run, path, why) };
  }
  return { kind: 'run', file: value };
}

function versionOf(value: unknown): number | null {
  if (typeof value !== 'object' || value === null || !('version' in value)) return null;
  return typeof value.version === 'number' ? value.version : null;
}

/** This program wrote it, whole or not at all; what is checked is that it is that file. */
function isRunFile(value: unknown, run: string): value is RunFile {
  return (
    typeof value === 'object' &&
    value !== null &&
    'id' in value &&
    value.id === run &&
    'team' in value &&
    typeof value.team === 'object' &&
    value.team !== null &&
    'createdAt' in value &&
    typeof value.createdAt === 'string'
  );
}

/** Throws `control/run-exists`. Durable when it resolves. `beside`: more files of its folder, by name. */
export async function createRun(
  workspace: Workspace,
  file: RunFile,
  beside: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { files, random } = workspace.deps;
  const { places } = workspace;
  await files.makeDirectory(places.runs);
  // A dot keeps it out of the list of runs, whose names never begin with one.
  const temporary = `${places.runs}/.new-${file.id}-${random.id(6)}`;
  await files.makeDirectory(temporary);
  try {
    await writeSynced(files, `${temporary}/run.json`, `${JSON.stringify(file, null, 2)}\n`);
    for (const [name, text] of Object.entries(beside)) {
      await writeSynced(files, `${temporary}/${name}`, text);
    }
    await files.syncDirectory(temporary);
    if ((await files.stat(runFolder(places, file.id))) !== null) throw errors.runExists(file.id);
    await files.rename(temporary, runFolder(places, file.id));
  } catch (error) {
    await files.remove(temporary);
    const code = systemCode(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST') throw errors.runExists(file.id);
    throw error;
  }
  // Up to the git directory: the first run of a repository makes all of these.
  await files.syncDirectory(places.runs);
  await files.syncDirectory(places.state);
  await files.syncDirectory(places.gitDir);
}

/** Takes a run away that was made and never began. */
export async function forgetRun(workspace: Workspace, run: string): Promise<void> {
  await workspace.deps.files.remove(runFolder(workspace.places, run));
  await workspace.deps.files.syncDirectory(workspace.places.runs);
}
