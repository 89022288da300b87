/**
 * `troupe merge RUN --continue TASK`: a person puts the tree of a task in order that failed, and it goes on from there: what
 * they did is committed, the integration branch is merged in, gates run, it lands. May be called as often as one likes:
 * each call says what is still to be done.
 */
import { asTaskId } from '../kernel/ids.ts';
import type { Budget } from '../protocol/team.ts';
import type { TaskNode } from '../tasks/index.ts';
import {
  addTaskTree,
  commitTree,
  readIntegration,
  setupExcludes,
  startConflictResolution,
  type TaskTree,
} from '../worktree/index.ts';
import { requireSettings } from './begin.ts';
import { errors } from './errors.ts';
import { type RunView, viewRun } from './queries.ts';
import type { Workspace } from './workspace.ts';

export interface PreparedContinue {
  readonly view: RunView;
  readonly budget: Partial<Budget> | undefined;
}

/** Throws `control/not-to-continue`, and `control/conflicts-left` with the files, whose conflicts are marked then. */
export async function prepareContinue(
  workspace: Workspace,
  { run, task }: { readonly run: string; readonly task: string },
): Promise<PreparedContinue> {
  const view = await viewRun(workspace, run, 'merge');
  const node = view.state.graph.nodes.get(asTaskId(task));
  if (node === undefined) throw errors.unknownTask(task, [...view.state.graph.nodes.keys()]);
  if (node.state !== 'failed' || node.path === null) throw errors.notToContinue(node);
  const { ended } = view.state.run;
  if (ended === null && view.liveness.alive) throw errors.running(view.run);
  await requireSettings(workspace, view);
  await settleTree(workspace, view, node);
  return { view, budget: undefined };
}

async function settleTree(workspace: Workspace, view: RunView, node: TaskNode): Promise<void> {
  const { repository } = workspace;
  const { id, title } = node.spec;
  const { copy, link } = view.file.team.worktree;
  const tree = await addTaskTree(repository, {
    run: view.run,
    task: id,
    path: node.path ?? '',
    copies: copy,
    setupLinks: link,
  });
  const exclude = [...tree.exclude, ...(await setupExcludes(repository, tree))];
  const message = `${title}\n\nTask: ${id}`;
  const commit = (): Promise<void> => commitAll(workspace, view, { tree, exclude, message });
  await commit();
  const integration = await readIntegration(repository, view.run);
  const outcome = await startConflictResolution(repository, { tree, integration, exclude });
  if (outcome.kind === 'conflicts') {
    const places = outcome.files.map((file) => `${file.path} (${file.kind})`);
    throw errors.conflictsLeft({ run: view.run, task: id, path: tree.path, places });
  }
  if (outcome.kind === 'clean') await commit();
}

async function commitAll(
  workspace: Workspace,
  view: RunView,
  what: { readonly tree: TaskTree; readonly exclude: readonly string[]; readonly message: string },
): Promise<void> {
  const { tree } = what;
  const outcome = await commitTree(workspace.repository, { ...what, actor: null });
  const task = tree.branch.split('/').at(-1) ?? '';
  const at = { run: view.run, task, path: tree.path };
  if (outcome.kind === 'conflict-markers') {
    const places = outcome.files.map(({ path, line }) => `${path}:${line}`);
    throw errors.conflictsLeft({ ...at, places });
  }
  if (outcome.kind === 'nested-repository') {
    throw errors.treeUnusable(tree.path, `a repository lies in it: ${outcome.paths.join(', ')}`);
  }
  if (outcome.kind === 'wrong-branch') throw errors.treeUnusable(tree.path, outcome.reason);
}
