/** What a task or a whole run changed. */
import { asTaskId } from '../kernel/ids.ts';
import type { DiffAnswer } from '../protocol/views.ts';
import type { TaskNode } from '../tasks/index.ts';
import {
  branchRef,
  carriedPaths,
  diffSummary,
  diffText,
  integrationBranch,
  mergeBase,
  readIntegration,
  readRef,
  type Snapshot,
  takeSnapshot,
} from '../worktree/index.ts';
import { errors } from './errors.ts';
import { recordsOf } from './mail.ts';
import { newestRun, type RunView, tasksOf, viewRun } from './queries.ts';
import { runIds } from './run-store.ts';
import { registrations } from './trees.ts';
import type { Workspace } from './workspace.ts';

export type { DiffAnswer } from '../protocol/views.ts';

export interface DiffQuery {
  /** A task of the run, or (without `run`) a run. */
  readonly of: string;
  readonly run: string | undefined;
  readonly stat: boolean;
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

/**
 * Of a merged task what came into the integration branch with it, whatever the style of merging. Of any other what it has
 * that the integration branch has not: after a conflict its branch holds the work of others too.
 */
async function taskRange(workspace: Workspace, view: RunView, node: TaskNode): Promise<Range> {
  const start = node.start ?? view.state.run.baseCommit;
  if (node.state === 'done') {
    const to = node.mergedCommit ?? start;
    return { from: await beforeMerge(workspace, view, node), to, uncommitted: false };
  }
  const integration = await integrationNow(workspace, view);
  const baseOf = async (commit: string): Promise<string> =>
    (await mergeBase(workspace.repository, commit, integration)) ?? start;
  if (node.state !== 'merging' && node.path !== null) {
    const now = await snapshotOf(workspace, view, node.path);
    if (now !== null) {
      // While a merge of the integration branch is in progress there, that side is what the files are compared with.
      const from = now.merging === null ? await baseOf(now.head ?? start) : now.merging;
      return { from, to: now.content, uncommitted: true };
    }
  }
  const to = node.commit ?? start;
  return { from: node.commit === null ? to : await baseOf(to), to, uncommitted: false };
}

async function integrationNow({ repository }: Workspace, view: RunView): Promise<string> {
  const tip = await readRef(repository, branchRef(integrationBranch(view.run)));
  return tip ?? view.state.run.ended?.commit ?? view.state.run.baseCommit;
}

/** What the integration branch was at when this task's work came: its intent is in the journal. */
async function beforeMerge(workspace: Workspace, view: RunView, node: TaskNode): Promise<string> {
  // Nothing came: the branch had all of it.
  let from = node.mergedCommit ?? node.start ?? view.state.run.baseCommit;
  for await (const record of recordsOf(workspace, view.run)) {
    for (const change of record.tasks ?? []) {
      if (change.type !== 'task.merging' || change.id !== node.spec.id) continue;
      if (change.to === node.mergedCommit) from = change.from;
    }
  }
  return from;
}

/** What the files are now; null when the tree is gone. */
async function snapshotOf(
  workspace: Workspace,
  view: RunView,
  path: string,
): Promise<Snapshot | null> {
  const tree = (await registrations(workspace)).find((one) => one.path === path);
  if (tree === undefined) return null;
  const { copy, link } = view.file.team.worktree;
  const exclude = carriedPaths({ copies: copy, setupLinks: link });
  return takeSnapshot(workspace.repository, { tree, exclude });
}
