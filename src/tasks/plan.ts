/** What a graph will do before it does it: order, levels and critical path, for `troupe check`. */
import { SUPERVISOR, type TaskId } from '../kernel/ids.ts';
import type { TaskSpec } from '../protocol/team.ts';
import { applyTask } from './apply.ts';
import { makeGraph } from './graph.ts';
import { pickNext } from './ready.ts';

export interface TaskPlan {
  /** As the tasks would start if one ran at a time. */
  readonly order: readonly TaskId[];
  /** Those of level 0 need nothing; the others need something of the level before. */
  readonly levels: readonly (readonly TaskId[])[];
  /** Tasks on the longest chain that begins with it, counting itself. */
  readonly chain: Readonly<Record<string, number>>;
  /** The longest chain of all. */
  readonly criticalPath: readonly TaskId[];
}

/** Of tasks that `validateTasks` has nothing to say about; with a cycle, the tasks behind it are left out. */
export function planOf(tasks: readonly TaskSpec[]): TaskPlan {
  const graph = makeGraph();
  const context = { seq: 1, at: '' };
  for (const task of tasks) applyTask(graph, { type: 'task.added', task, by: SUPERVISOR }, context);
  const order: TaskId[] = [];
  const level = new Map<TaskId, number>();
  const levels: TaskId[][] = [];
  const chain: Record<string, number> = {};
  for (let node = pickNext(graph, () => true); node !== null; node = pickNext(graph, () => true)) {
    const { id, needs } = node.spec;
    const own = needs.reduce((most, need) => Math.max(most, (level.get(need) ?? 0) + 1), 0);
    order.push(id);
    level.set(id, own);
    (levels[own] ??= []).push(id);
    chain[id] = node.height;
    applyTask(graph, { type: 'task.claimed', id, ...CLAIM }, context);
    applyTask(graph, { type: 'task.finished', id, by: SUPERVISOR, summary: '' }, context);
    applyTask(graph, { type: 'task.done', id, commit: null }, context);
  }
  return { order, levels, chain, criticalPath: criticalPath(tasks, order, chain) };
}

const CLAIM = { by: SUPERVISOR, incarnation: 1, attempt: 1, leaseUntil: '' };

function criticalPath(
  tasks: readonly TaskSpec[],
  order: readonly TaskId[],
  chain: Readonly<Record<string, number>>,
): TaskId[] {
  const dependents = new Map<TaskId, TaskId[]>();
  for (const task of tasks) {
    for (const need of task.needs) {
      const list = dependents.get(need);
      if (list === undefined) dependents.set(need, [task.id]);
      else list.push(task.id);
    }
  }
  const path: TaskId[] = [];
  // The first to start has the longest chain of all.
  for (let id = order[0]; id !== undefined; ) {
    path.push(id);
    const left: number = (chain[id] ?? 1) - 1;
    id = dependents.get(id)?.find((next) => chain[next] === left);
  }
  return path;
}
