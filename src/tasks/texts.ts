/** Texts of a task that may be too large for a record: the state gets the whole when it was read (M8). */
import type { TaskId } from '../kernel/ids.ts';
import type { TaskGraph } from './graph.ts';

export const TASK_TEXTS = ['prompt', 'summary', 'rework'] as const;
export type TaskTextField = (typeof TASK_TEXTS)[number];

/** Null when the task, or the text, is not there. */
export function taskText(graph: TaskGraph, id: TaskId, field: TaskTextField): string | null {
  const node = graph.index.byId.get(id);
  if (node === undefined) return null;
  return field === 'prompt' ? node.spec.prompt : node[field];
}

/** The whole in place of its head; changes nothing that a decision could tell by. */
export function putTaskText(
  graph: TaskGraph,
  id: TaskId,
  what: { readonly field: TaskTextField; readonly text: string },
): void {
  const node = graph.index.byId.get(id);
  if (node === undefined) return;
  if (what.field === 'prompt') node.spec = { ...node.spec, prompt: what.text };
  else node[what.field] = what.text;
}
