/** How a task or an attempt at it ends: one record with the claim released, what it cancels, and the notice (T). */
import { type TaskId, USER } from '../../kernel/index.ts';
import type { Reason } from '../../protocol/index.ts';
import { afterEnd, cascade, isTerminal, revivedBy, type TaskNode } from '../../tasks/index.ts';
import type { Draft } from '../draft.ts';
import type { Live } from '../live.ts';
import { noticeTarget } from './roster.ts';

/**
 * What was in flight for a task has come back. It is looked at again in any case: when the result is of an older claim, what
 * the claim of now needs could not be begun before.
 */
export function opEnded(live: Live, task: TaskId): void {
  live.taskOps.delete(task);
  live.dirty.add(task);
}

/** Has a tree removed, what is unsaved in it saved first; the run does not end before it is done. */
export function dropTree(
  draft: Draft,
  live: Live,
  tree: { readonly owner: string; readonly path: string; readonly branch: string | null },
): void {
  if (live.drops.has(tree.owner)) return;
  live.drops.add(tree.owner);
  const { owner, path, branch } = tree;
  draft.effect({ type: 'tree.drop', owner, path, branch });
}

/** The terminal record of success: state, claim, notice (T). `commit` is the integration branch's, null without a change. */
export function finish(draft: Draft, live: Live, node: TaskNode, commit: string | null): void {
  const id = node.spec.id;
  draft.about('task').task({ type: 'task.done', id, commit });
  const to = noticeTarget(draft.state);
  draft.notice({
    to,
    lane: 'normal',
    type: 'task.finished',
    task: id,
    body: {
      text: `Task ${id} (${node.spec.title}) is done${commit === null ? ', with no change' : ` and merged as ${commit.slice(0, 10)}`}.${node.summary === null ? '' : `\n${node.summary}`}`,
      commit,
      summary: node.summary,
    },
  });
  live.mailDirty.add(to);
  live.claimedAt.delete(id);
  if (node.path !== null) {
    dropTree(draft, live, { owner: id, path: node.path, branch: node.branch });
  }
}

/**
 * An attempt has ended without success: the task goes back to `ready` with what the next worker must know, or it fails,
 * and all that needs it is cancelled, in the same record.
 */
export function endAttempt(
  draft: Draft,
  live: Live,
  what: {
    readonly node: TaskNode;
    readonly counts: 'attempt' | 'conflict' | 'interruption' | 'nothing';
    readonly reason: Reason;
    readonly rework: string | null;
  },
): void {
  const { node, counts, reason } = what;
  const id = node.spec.id;
  live.claimedAt.delete(id);
  live.gates.delete(id);
  // What a person has put in order goes back to them, not to a worker.
  const next =
    node.owner === USER ? ({ kind: 'failed', reason } as const) : afterEnd(node, counts, reason);
  if (next.kind === 'again') {
    draft.task({ type: 'task.released', id, counts, reason, rework: what.rework });
    return;
  }
  fail(draft, live, node, next.reason);
}

/** The terminal record of failure, with everything that it cancels and the notice. */
export function fail(draft: Draft, live: Live, node: TaskNode, reason: Reason): void {
  const id = node.spec.id;
  if (isTerminal(node.state)) return;
  draft.task({ type: 'task.failed', id, reason });
  const cancelled = cascade(draft.state.graph, id, 'failed');
  for (const change of cancelled) draft.task(change);
  const to = noticeTarget(draft.state);
  const also =
    cancelled.length === 0
      ? ''
      : ` Cancelled with it: ${cancelled.map((c) => ('id' in c ? c.id : '')).join(', ')}.`;
  draft.notice({
    to,
    lane: 'normal',
    type: 'task.failed',
    task: id,
    body: {
      text: `Task ${id} (${node.spec.title}) failed: ${reason.text}${also}${wayOn(draft, node, reason)}`,
      reason,
    },
  });
  live.mailDirty.add(to);
}

/** A conflict that the team could not resolve is a person's. */
function wayOn({ state }: Draft, node: TaskNode, { kind }: Reason): string {
  if (kind !== 'conflict') return '';
  return ` A person can resolve it: troupe merge ${state.file.id} --continue ${node.spec.id}`;
}

/** A person has put the tree of a failed task in order: it goes on where the runtime takes over from a worker. */
export function reopen(draft: Draft, live: Live, node: TaskNode): void {
  const { id } = node.spec;
  const { graph, trees } = draft.state;
  draft.task({ type: 'task.reopened', id, by: USER, also: revivedBy(graph, id) });
  const { path, branch, start } = node;
  if (path !== null && start !== null && !trees.has(id)) {
    draft.tree({ type: 'tree.added', owner: id, path, branch, commit: start });
  }
  live.dirty.add(id);
}
