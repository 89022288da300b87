/** All that is known of one task: its row, what was asked for, and what happened with it, from the journal. */
import { asTaskId } from '../kernel/ids.ts';
import type { TaskChange } from '../protocol/record.ts';
import type { TodoItem } from '../protocol/session.ts';
import type { TaskRow } from '../protocol/shapes.ts';
import type { Gate } from '../protocol/team.ts';
import type { TaskDetail, TaskGate, TaskSetback } from '../protocol/views.ts';
import type { TaskNode } from '../tasks/index.ts';
import { listSaved } from '../worktree/index.ts';
import { errors } from './errors.ts';
import { readText } from './files.ts';
import { OUTPUT_LINES } from './limits.ts';
import { recordsOf } from './mail.ts';
import { outputPath, projectCommands } from './outputs.ts';
import { type RunView, tasksOf } from './queries.ts';
import { registrations } from './trees.ts';
import type { Workspace } from './workspace.ts';

export type { TaskDetail, TaskGate, TaskSetback } from '../protocol/views.ts';

/** Throws `control/unknown-task`. */
export async function taskDetail(
  workspace: Workspace,
  view: RunView,
  task: string,
): Promise<TaskDetail> {
  const row = findTask(view, task);
  const node = view.state.graph.nodes.get(asTaskId(task));
  const history = await historyOf(workspace, view, task);
  const saved = await listSaved(workspace.repository);
  const trees = await registrations(workspace);
  return view.redactor.data({
    ...row,
    // The graph knows where it was; a tree that was cleaned up since is none.
    worktree: trees.some((tree) => tree.path === row.worktree) ? row.worktree : null,
    run: view.run,
    ...wantedOf(node),
    ...history,
    todo: todoOf(view, task),
    saved: saved.filter((one) => one.run === view.run && one.task === task).map(({ ref }) => ref),
  });
}

function todoOf(view: RunView, task: string): readonly TodoItem[] {
  const { claims, todos } = view.state;
  const owner = [...claims].find(([, held]) => held === task)?.[0];
  return owner === undefined ? [] : (todos.get(owner) ?? []);
}

function findTask(view: RunView, task: string): TaskRow {
  const rows = tasksOf(view);
  const row = rows.find((one) => one.id === task);
  if (row !== undefined) return row;
  throw errors.unknownTask(
    task,
    rows.map((one) => one.id),
  );
}

function wantedOf(
  node: TaskNode | undefined,
): Pick<
  TaskDetail,
  | 'command'
  | 'prompt'
  | 'agent'
  | 'touches'
  | 'verify'
  | 'attempts'
  | 'summary'
  | 'mergedCommit'
  | 'startedAt'
  | 'endedAt'
> {
  return {
    command: node?.spec.run ?? null,
    prompt: node?.spec.prompt ?? null,
    agent: node?.spec.agent ?? null,
    touches: node?.spec.touches ?? [],
    verify: (node?.spec.verify ?? []).map(gateName),
    attempts: node?.spec.attempts ?? 0,
    summary: node?.summary ?? null,
    mergedCommit: node?.mergedCommit ?? null,
    startedAt: node?.startedAt ?? null,
    endedAt: node?.endedAt ?? null,
  };
}

const gateName = (gate: Gate): string =>
  gate.kind === 'command' ? gate.run : `review: ${gate.profile}`;

async function historyOf(
  workspace: Workspace,
  view: RunView,
  task: string,
): Promise<Pick<TaskDetail, 'setbacks' | 'gates' | 'commands'>> {
  const { places } = workspace;
  const commands = projectCommands(places, view.run);
  const setbacks: TaskSetback[] = [];
  const gates: TaskGate[] = [];
  let claim = { attempt: 0, by: null as string | null };
  for await (const record of recordsOf(workspace, view.run)) {
    commands.apply(record);
    for (const change of record.tasks ?? []) {
      if (change.type === 'task.added' || change.id !== task) continue;
      if (change.type === 'task.claimed') claim = { attempt: change.attempt, by: change.by };
      if (change.type === 'task.gate') {
        const { gate, stage, commit, ok, exit, tries } = change;
        const output = change.output === null ? null : outputPath(places, view.run, change.output);
        const said = change.text === undefined ? {} : { text: change.text };
        gates.push({ gate, stage, commit, ok, exit, tries, output, ...said });
      }
      const kind = setbackKind(change);
      if (kind === null || !('reason' in change)) continue;
      setbacks.push({ at: record.at, ...claim, kind, reason: change.reason });
    }
  }
  return { setbacks, gates, commands: commands.byTask.get(task) ?? [] };
}

function setbackKind(change: TaskChange): TaskSetback['kind'] | null {
  if (change.type === 'task.released') return change.counts;
  return change.type === 'task.failed' || change.type === 'task.cancelled' ? 'end' : null;
}

/** The last lines that a command printed; null when there is no such file. */
export async function outputTail(
  workspace: Workspace,
  path: string,
): Promise<{ readonly lines: readonly string[]; readonly cut: boolean } | null> {
  const text = await readText(workspace.deps.files, path);
  if (text === null) return null;
  // Before it is cut: a secret may be in more than one line.
  const shown = (await workspace.redactor()).text(text);
  const lines = shown.trimEnd().split('\n');
  return { lines: lines.slice(-OUTPUT_LINES), cut: lines.length > OUTPUT_LINES };
}
