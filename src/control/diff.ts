/** What a task or a whole run changed. */
import { asTaskId } from '../kernel/ids.ts';
import type { TaskRow } from '../protocol/shapes.ts';
import type { TaskNode } from '../tasks/index.ts';
import {
  carriedPaths,
  type DiffFile,
  diffSummary,
  diffText,
  readIntegration,
  takeSnapshot,
} from '../worktree/index.ts';
import { errors } from './errors.ts';
import { newestRun, type RunView, tasksOf, viewRun } from './queries.ts';
import { runIds } from './run-store.ts';
import { registrations } from './trees.ts';
import type { Workspace } from './workspace.ts';

export interface DiffQuery {
  /** A task of the run, or (without `run`) a run. */
  readonly of: string;
  readonly run: string | undefined;
  readonly stat: boolean;
}

export interface DiffAnswer {
  readonly run: string;
  readonly task: string | null;
  readonly from: string;
  readonly to: string;
  /** True when `to` is what lies in the task's tree now, and not a commit. */
  readonly uncommitted: boolean;
  readonly files: readonly DiffFile[];
  readonly text: string;
}

/** Throws `control/unknown-task`, `control/unknown-run`, `control/no-run`. */
export async function diffOf(workspace: Workspace, query: DiffQuery): Promise<DiffAnswer> {
  const { view, node } = await find(workspace, query);
  const range =
    node === null ? await runRange(workspace, view) : await taskRange(workspace, view, node);
  const { repository } = workspace;
  const same = range.from === range.to;
  return {
    run: view.run,
    task: node?.spec.id ?? null,
    ...range,
    files: same ? [] : await diffSummary(repository, range),
    text: same ? '' : await diffText(repository, { ...range, stat: query.stat }),
  };
}

interface Found {
  readonly view: RunView;
  readonly node: TaskNode | null;
}

async function find(workspace: Workspace, query: DiffQuery): Promise<Found> {
  const runs = await runIds(workspace);
  if (query.run === undefined && (await newestRun(workspace)) === null) throw errors.noRun('diff');
  const view = await viewRun(workspace, query.run, 'diff');
  const node = view.state.graph.nodes.get(asTaskId(query.of));
  if (node !== undefined) return { view, node };
  if (query.run === undefined && runs.includes(query.of)) {
    return { view: await viewRun(workspace, query.of, 'diff'), node: null };
  }
  if (query.run === query.of) return { view, node: null };
  throw errors.unknownTaskOrRun(query.of, {
    tasks: tasksOf(view).map((row) => row.id),
    runs: query.run === undefined ? runs : [],
  });
}

type Range = Pick<DiffAnswer, 'from' | 'to' | 'uncommitted'>;

async function runRange(workspace: Workspace, view: RunView): Promise<Range> {
  const from = view.state.run.baseCommit;
  const { ended } = view.state.run;
  const to = ended?.commit ?? (await readIntegration(workspace.repository, view.run));
  return { from, to, uncommitted: false };
}

async function taskRange(workspace: Workspace, view: RunView, node: TaskNode): Promise<Range> {
  const from = node.start ?? view.state.run.baseCommit;
  const isOver = node.state === 'done' || node.state === 'merging';
  if (isOver || node.path === null) return { from, to: node.commit ?? from, uncommitted: false };
  const content = await contentOf(workspace, view, node.path);
  if (content === null) return { from, to: node.commit ?? from, uncommitted: false };
  return { from, to: content, uncommitted: true };
}

/** Tree object of what the files are now; null when the tree is gone. */
async function contentOf(
  workspace: Workspace,
  view: RunView,
  path: string,
): Promise<string | null> {
  const tree = (await registrations(workspace)).find((one) => one.path === path);
  if (tree === undefined) return null;
  const { copy, link } = view.file.team.worktree;
  const exclude = carriedPaths({ copies: copy, setupLinks: link });
  return (await takeSnapshot(workspace.repository, { tree, exclude }))?.content ?? null;
}

/** Throws `control/unknown-task`. */
export function findTask(view: RunView, task: string): TaskRow {
  const rows = tasksOf(view);
  const row = rows.find((one) => one.id === task);
  if (row !== undefined) return row;
  throw errors.unknownTask(
    task,
    rows.map((one) => one.id),
  );
}
