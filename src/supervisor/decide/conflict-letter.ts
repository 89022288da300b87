/** Whom a task's work has met in a conflict: the tasks that changed the same files meanwhile, and what their workers say of it. */
import type { TaskGraph, TaskNode } from '../../tasks/index.ts';
import { OTHER_SUMMARY_CHARS, OTHERS_TOLD_MAX } from '../limits.ts';
import { clip } from '../text.ts';

export interface LandedCommit {
  readonly commit: string;
  readonly touches: boolean;
}

/** Null when nobody of the run did, as when a person changed the branch. The newest come first. */
export function othersInConflict(graph: TaskGraph, landed: readonly LandedCommit[]): string | null {
  const others = tasksOf(graph, landed).toReversed();
  if (others.length === 0) return null;
  const lines = others.slice(0, OTHERS_TOLD_MAX).map((other) => {
    const { id, title } = other.spec;
    const said = other.summary?.trim() ?? '';
    const by = other.preferredOwner ?? other.owner;
    const who = by === null ? '' : ` by ${by}`;
    const at = other.mergedCommit?.slice(0, 10) ?? '';
    return `- ${id} (${title})${who}, merged as ${at}${said === '' ? '' : `: ${clip(said, OTHER_SUMMARY_CHARS)}`}`;
  });
  const more = others.length - lines.length;
  if (more > 0) lines.push(`- and ${more} more`);
  return `What changed these files meanwhile:\n${lines.join('\n')}`;
}

/** A task that landed as several commits (style `rebase`) is known by its last. */
function tasksOf(graph: TaskGraph, landed: readonly LandedCommit[]): TaskNode[] {
  const byCommit = new Map<string, TaskNode>();
  for (const node of graph.nodes.values()) {
    if (node.mergedCommit !== null) byCommit.set(node.mergedCommit, node);
  }
  const found: TaskNode[] = [];
  let isTouched = false;
  for (const { commit, touches } of landed) {
    isTouched ||= touches;
    const node = byCommit.get(commit);
    if (node === undefined) continue;
    if (isTouched) found.push(node);
    isTouched = false;
  }
  return found;
}
