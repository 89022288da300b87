/**
 * From a team file to a run that could start: everything is checked here, and nothing is written.
 *
 * Invariant: what can be known to fail fails here (exit 2), so that a run is never half started.
 */
import { isName, mintRunId } from '../kernel/ids.ts';
import { isoTime } from '../kernel/time.ts';
import type { PolicyMode, RunFile, Team } from '../protocol/team.ts';
import {
  checkBranchNamespace,
  planCarry,
  type Repository,
  resolveBase,
} from '../worktree/index.ts';
import { examineMemory, requirePolicy } from './doctor-policy.ts';
import { errors } from './errors.ts';
import { hooksOfRun } from './hooks.ts';
import { treesUnder } from './places.ts';
import { cassettesFor } from './replay.ts';
import { runIds } from './run-store.ts';
import { loadTeam, warningTexts } from './team-file.ts';
import { treeNotes } from './tree-notes.ts';
import { untrustedNote } from './trust.ts';
import type { Workspace } from './workspace.ts';

export interface StartOptions {
  readonly teamFile: string;
  readonly cwd: string;
  readonly model?: string | undefined;
  readonly budgetUsd?: number | undefined;
  readonly runId?: string | undefined;
  /** Instead of the team file's. */
  readonly mode?: PolicyMode | undefined;
  readonly attended: boolean;
}

export interface PreparedRun {
  readonly file: RunFile;
  /** More files of its folder, by name. */
  readonly beside: Readonly<Record<string, string>>;
  /** What a person should know before it starts. */
  readonly notes: readonly string[];
}

export async function prepareRun(
  workspace: Workspace,
  options: StartOptions,
): Promise<PreparedRun> {
  const { deps, repository, places } = workspace;
  const loaded = await loadTeam(deps, places, {
    name: options.teamFile,
    cwd: options.cwd,
    model: options.model,
    budgetUsd: options.budgetUsd,
  });
  const team = withMode(loaded.team, options.mode);
  const id = await chooseId(workspace, team, options.runId);
  const baseCommit = await resolveBase(repository, team.base);
  await checkBranchNamespace(repository, id);
  // Said before anything is made: a run without a policy that can be read decides nothing.
  await requirePolicy(deps, places);
  const { copy, link, root } = team.worktree;
  await planCarry(repository, { copies: copy, setupLinks: link });
  const home = deps.env['HOME'] ?? '/';
  const trees =
    root === null
      ? places.trees
      : treesUnder(root, { workspace: places.workspace, hash: repository.hash, home });
  const treesRoot = `${trees}/${id}`;
  await requireTreesFolder(workspace, treesRoot);
  const { cassettes, beside } = await cassettesFor(workspace, team, options.cwd);
  const file: RunFile = {
    version: 1,
    id,
    team,
    teamFile: loaded.path,
    scripts: loaded.scripts,
    ...(loaded.skills.length === 0 ? {} : { skills: loaded.skills }),
    memory: [
      { root: places.userConfig, path: 'memory/MEMORY.md' },
      { root: places.workspace, path: '.troupe/memory/MEMORY.md' },
    ],
    baseCommit,
    workspace: places.workspace,
    treesRoot,
    ...(deps.env['HOME'] === undefined ? {} : { home: deps.env['HOME'] }),
    attended: options.attended,
    ...(cassettes === undefined ? {} : { cassettes }),
    createdAt: isoTime(deps.clock.now()),
    troupe: deps.version,
  };
  // The supervisor reads them again; what guards nothing is said before a run is announced.
  await hooksOfRun(workspace, places.userConfig, file);
  const untrusted = await untrustedNote(workspace);
  const untold = await examineMemory(deps, places);
  const notes = [
    ...warningTexts(loaded, options.teamFile),
    ...(await treeNotes(repository, team, baseCommit)),
    ...(await dirtNotes(repository)),
    ...(untrusted === null ? [] : [untrusted]),
    ...untold.map(({ detail }) => `memory: ${detail}`),
  ];
  return { file, beside, notes };
}

/** Free of trees of a run of the same name (whose repository was deleted and made anew), and writable. */
async function requireTreesFolder(workspace: Workspace, folder: string): Promise<void> {
  const { files } = workspace.deps;
  if ((await files.stat(folder)) !== null && (await files.list(folder)).length > 0) {
    throw errors.treesLeft(folder);
  }
  // Made here, and gone with the last tree: a place that cannot be written is found before anything starts.
  try {
    await files.makeDirectory(folder);
  } catch (thrown) {
    throw errors.treesUnwritable(folder, thrown);
  }
}

/** For every actor: profiles of the team file with a mode of their own keep it. */
function withMode(team: Team, mode: PolicyMode | undefined): Team {
  if (mode === undefined) return team;
  const { policy, ...rest } = team.permissions;
  const whole = policy === undefined ? {} : { policy: { ...policy, mode } };
  return { ...team, permissions: { ...rest, ...whole, mode } };
}

const TRIES = 5;

async function chooseId(
  workspace: Workspace,
  team: Team,
  wanted: string | undefined,
): Promise<string> {
  const taken = await runIds(workspace);
  if (wanted !== undefined) {
    if (!isName(wanted)) throw errors.badRunId(wanted);
    if (taken.includes(wanted)) throw errors.runExists(wanted);
    return wanted;
  }
  let id = mintRunId(team.name, workspace.deps);
  for (let tries = 1; tries < TRIES && taken.includes(id); tries += 1) {
    id = mintRunId(team.name, workspace.deps);
  }
  return id;
}

/** The run starts from a commit; edits that are in none are not part of it, which should not come as a surprise. */
async function dirtNotes(repository: Repository): Promise<string[]> {
  const status = await repository.git.run({
    args: ['status', '--porcelain', '-z', '--no-renames', '--untracked-files=normal'],
    userConfig: true,
    codes: [0, 128],
  });
  const count = status.stdout.split('\0').filter((entry) => entry !== '').length;
  if (count === 0) return [];
  const what =
    count === 1
      ? '1 uncommitted change of yours is not part of the run and stays as it is'
      : `${count} uncommitted changes of yours are not part of the run and stay as they are`;
  return [`note: ${what}`];
}
