/**
 * The trees of all runs, and which of them may go.
 *
 * Invariant: a tree goes only when its run has ended (nothing resumes it) and its work is saved first (W8).
 */
import { ensureError } from '../kernel/errors.ts';
import type { TreeRow } from '../protocol/shapes.ts';
import type { CleanUp, Removed } from '../protocol/views.ts';
import { treeRows } from '../supervisor/index.ts';
import {
  carriedPaths,
  type RemoveRequest,
  readRegistrations,
  removeTree,
  saveTree,
  type Tree,
} from '../worktree/index.ts';
import { askLive, livenessOf, loadRun, type RunView } from './queries.ts';
import { listRunFiles } from './run-store.ts';
import type { Workspace } from './workspace.ts';

export type { CleanUp, Removed } from '../protocol/views.ts';

/** All trees that exist, by run, newest first. */
export async function listWorktrees(workspace: Workspace): Promise<TreeRow[]> {
  const trees = await registrations(workspace);
  const existing = new Set(trees.map((tree) => tree.path));
  const views = await allRuns(workspace);
  const rows = views.flatMap((view) => rowsOf(view).filter((row) => existing.has(row.path)));
  return [...rows, ...(await waitingTrees(workspace, views, trees)).map(({ row }) => row)];
}

interface Waiting {
  readonly tree: Tree;
  readonly row: TreeRow;
}

/**
 * Trees that are kept ready, beside those of the runs. Nobody has worked in them, and they are proven clean again before a
 * task gets one; a supervisor that is there may be giving one out just now.
 */
async function waitingTrees(
  workspace: Workspace,
  views: readonly RunView[],
  trees: readonly Tree[],
): Promise<Waiting[]> {
  const folders = new Set(
    [workspace.places.trees, ...views.map(({ file }) => parentOf(file.treesRoot))].map(
      (root) => `${root}/_pool`,
    ),
  );
  const found = trees.filter((tree) => tree.branch === null && folders.has(parentOf(tree.path)));
  if (found.length === 0) return [];
  const holder = await workspace.deps.live.holder(workspace.places);
  const kept = holder === null ? null : 'it is kept ready for the next task';
  return found.map((tree) => ({
    tree,
    row: { task: null, run: '', path: tree.path, branch: null, state: 'ready', owner: null, kept },
  }));
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));

/** `keep`: trees that stay although they may go. */
export async function cleanWorktrees(
  workspace: Workspace,
  keep: (row: TreeRow) => string | null = () => null,
): Promise<CleanUp> {
  const removed: Removed[] = [];
  const kept: TreeRow[] = [];
  const trees = await registrations(workspace);
  const views = await allRuns(workspace);
  for (const view of views) {
    for (const found of rowsOf(view)) {
      const row = { ...found, kept: found.kept ?? keep(found) };
      const tree = trees.find((one) => one.path === row.path);
      if (tree === undefined) continue;
      if (row.kept !== null) {
        kept.push(row);
        continue;
      }
      const outcome = await saveAndRemove(workspace, view, { tree, row });
      if (typeof outcome === 'string') kept.push({ ...row, kept: outcome });
      else removed.push(outcome);
    }
  }
  for (const { tree, row } of await waitingTrees(workspace, views, trees)) {
    const outcome =
      row.kept ?? (await detailOfRemoval(workspace.repository, { tree, exclude: [] }));
    if (outcome !== null) kept.push({ ...row, kept: outcome });
    else removed.push({ run: '', task: null, path: tree.path, saved: null, branch: null });
  }
  return { removed, kept };
}

/** Null when it is gone. */
async function detailOfRemoval(
  repository: Workspace['repository'],
  request: RemoveRequest,
): Promise<string | null> {
  try {
    const outcome = await removeTree(repository, request);
    return outcome.kind === 'refused' || outcome.kind === 'busy' ? outcome.detail : null;
  } catch (error) {
    return ensureError(error).message;
  }
}

/** Trees as git has them registered, whether or not their folder is there. */
export async function registrations(workspace: Workspace): Promise<readonly Tree[]> {
  return readRegistrations(workspace.repository);
}

async function allRuns(workspace: Workspace): Promise<RunView[]> {
  const { runs } = await listRunFiles(workspace);
  const report = await askLive(workspace);
  const views: RunView[] = [];
  for (const [index, { run, file }] of runs.entries()) {
    views.push(await loadRun(workspace, file, livenessOf(report, run, index === 0)));
  }
  return views;
}

/** A view of a run that may be resumed is nobody's work, but taking it away could meet the resume. */
function rowsOf(view: RunView): TreeRow[] {
  const rows = treeRows(view.state, view.liveness);
  const { ended } = view.state.run;
  if (ended !== null && ended.state !== 'budget') return rows;
  return rows.map((row) => ({ ...row, kept: row.kept ?? 'the run can be resumed' }));
}

/** The text says why it stays. */
async function saveAndRemove(
  workspace: Workspace,
  view: RunView,
  what: { readonly tree: Tree; readonly row: TreeRow },
): Promise<Removed | string> {
  const { repository } = workspace;
  const { tree, row } = what;
  const { copy, link } = view.file.team.worktree;
  const exclude = carriedPaths({ copies: copy, setupLinks: link });
  const task = row.task ?? 'view';
  try {
    const reason = 'its run has ended';
    const saved = await saveTree(repository, { run: view.run, task, tree, exclude, reason });
    const outcome = await removeTree(repository, { tree, exclude, saved: saved?.commit });
    if (outcome.kind === 'refused' || outcome.kind === 'busy') return outcome.detail;
    return {
      run: view.run,
      task: row.task,
      path: tree.path,
      saved: saved?.ref ?? null,
      branch: row.state === 'done' ? null : row.branch,
    };
  } catch (error) {
    return ensureError(error).message;
  }
}
