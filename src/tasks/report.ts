/**
 * Why a task is not moving, and the rows of `troupe tasks`: derived from the graph and from what the supervisor knows
 * beside it, never stored.
 */
import { counted } from '../kernel/counted.ts';
import type { TaskId } from '../kernel/ids.ts';
import type { Reason } from '../protocol/record.ts';
import type { TaskRow } from '../protocol/shapes.ts';
import type { Usage } from '../protocol/usage.ts';
import { isActive, isTerminal, runningCount, type TaskGraph, type TaskNode } from './graph.ts';
import { ANYONE_KEY, COMMAND_KEY, claimKey, touchesBlocker } from './ready.ts';

/** What the graph does not know. */
export interface ReasonContext {
  /** `limits.parallel`. */
  readonly parallel: number;
  /** Whether somebody may take a task of this key now. */
  readonly free: (key: string, node: TaskNode) => boolean;
  /** Known better elsewhere (an approval, a quota, a budget, a stop): goes before what is derived here. */
  readonly known?: (node: TaskNode) => Reason | null;
}

/** Needs named in one text. */
const NAMES_SHOWN = 3;

/** Null when the task is moving, or is about to, or is done. */
export function taskReason(
  graph: TaskGraph,
  node: TaskNode,
  context: ReasonContext,
): Reason | null {
  const before = node.state === 'merging' ? mergePosition(graph, node) : 0;
  return reasonOf(graph, node, { ...context, before });
}

/** All tasks in order of addition, or those of `ids` (unknown ones are left out). */
export function taskRows(
  graph: TaskGraph,
  context: ReasonContext & { readonly usageOf: (id: TaskId) => Usage },
  ids?: Iterable<TaskId>,
): TaskRow[] {
  const position = new Map<TaskNode, number>();
  for (const node of graph.index.merging) position.set(node, position.size);
  const rows: TaskRow[] = [];
  for (const id of ids ?? graph.nodes.keys()) {
    const node = graph.nodes.get(id);
    if (node === undefined) continue;
    const before = position.get(node) ?? 0;
    rows.push({
      id,
      title: node.spec.title,
      state: node.state,
      reason: reasonOf(graph, node, { ...context, before }),
      owner: node.owner,
      attempt: node.attempt,
      needs: node.spec.needs,
      branch: node.branch,
      commit: node.mergedCommit ?? node.commit,
      worktree: node.path,
      usage: context.usageOf(id),
    });
  }
  return rows;
}

function reasonOf(
  graph: TaskGraph,
  node: TaskNode,
  context: ReasonContext & { readonly before: number },
): Reason | null {
  if (isTerminal(node.state)) return node.state === 'done' ? null : node.lastReason;
  const known = context.known?.(node) ?? null;
  if (known !== null) return known;
  if (node.state === 'ready') return readyReason(graph, node, context);
  if (node.state === 'merging' && context.before > 0) {
    const [head] = graph.index.merging;
    const text = `place ${context.before + 1} in the merge queue`;
    return { kind: 'merge', ...(head === undefined ? {} : { ref: head.spec.id }), text };
  }
  return isActive(node.state) ? null : stateReason(graph, node);
}

function readyReason(graph: TaskGraph, node: TaskNode, context: ReasonContext): Reason | null {
  const blocker = touchesBlocker(graph, node);
  if (blocker !== null) return touchesReason(blocker);
  const parallel = parallelReason(graph, context.parallel);
  if (parallel !== null) return parallel;
  const key = claimKey(node.spec);
  if (context.free(key, node)) return null;
  return { kind: 'member', ...(key === ANYONE_KEY ? {} : { ref: key }), text: freeText(key) };
}

function freeText(key: string): string {
  if (key === COMMAND_KEY) return 'waits until commands may run';
  return key === ANYONE_KEY ? 'waits for a free teammate' : `waits for a free ${key}`;
}

/** Why a task in a state other than `ready` can't be claimed. */
export function stateReason(graph: TaskGraph, node: TaskNode): Reason {
  if (node.state === 'blocked') return blockedReason(graph, node);
  if (node.state === 'failed' || node.state === 'cancelled') {
    return node.lastReason ?? { kind: 'cancelled', text: `it is ${node.state}` };
  }
  return { kind: 'task', ref: node.spec.id, text: `it is ${node.state}` };
}

function blockedReason(graph: TaskGraph, node: TaskNode): Reason {
  const open = [...new Set(node.spec.needs)].filter((id) => graph.nodes.get(id)?.state !== 'done');
  const shown = open
    .slice(0, NAMES_SHOWN)
    .map((id) => `${id} (${graph.nodes.get(id)?.state ?? 'unknown'})`);
  const more = open.length > NAMES_SHOWN ? ` and ${open.length - NAMES_SHOWN} more` : '';
  const [first] = open;
  return {
    kind: 'task',
    ...(first === undefined ? {} : { ref: first }),
    text: `waits for ${shown.join(', ')}${more}`,
  };
}

export function touchesReason(blocker: TaskNode): Reason {
  const id = blocker.spec.id;
  return {
    kind: 'touches',
    ref: id,
    text: `touches the same paths as ${id}, which is ${blocker.state}`,
  };
}

/** Null when another task may run. */
export function parallelReason(graph: TaskGraph, parallel: number): Reason | null {
  const running = runningCount(graph);
  if (running < parallel) return null;
  return {
    kind: 'parallel',
    text: `${running} of at most ${counted(parallel, 'task')} run (limits.parallel)`,
  };
}

/** Why a claimer with another profile is refused. */
export function profileReason(key: string): Reason {
  if (key === COMMAND_KEY) {
    return {
      kind: 'member',
      ref: key,
      text: 'it is a command task, which the runtime runs itself',
    };
  }
  if (key === ANYONE_KEY) return { kind: 'member', text: 'it is for a teammate' };
  return { kind: 'member', ref: key, text: `it is for the profile ${key}` };
}

function mergePosition(graph: TaskGraph, node: TaskNode): number {
  let position = 0;
  for (const other of graph.index.merging) {
    if (other.spec.id === node.spec.id) break;
    position += 1;
  }
  return position;
}
