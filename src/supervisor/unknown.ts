/**
 * Records of a newer version: what they say can't be known, so what they are about can't be judged.
 *
 * Invariants
 * - S16 An unknown change puts the one task or actor aside that it is about, by name; the others go on.
 */
import type { ActorChange, TaskChange } from '../protocol/index.ts';

const TASK_CHANGES: { readonly [T in TaskChange['type']]: true } = {
  'task.added': true,
  'task.claimed': true,
  'task.tree': true,
  'task.finished': true,
  'task.committed': true,
  'task.gate': true,
  'task.verified': true,
  'task.released': true,
  'task.merging': true,
  'task.reopened': true,
  'task.done': true,
  'task.failed': true,
  'task.cancelled': true,
};
const ACTOR_CHANGES: { readonly [T in ActorChange['type']]: true } = {
  'actor.added': true,
  'actor.started': true,
  'actor.passivated': true,
  'actor.ended': true,
};

/** Whether this version does not know the change; then it is noted. */
export function noteUnknown(
  unknown: Map<string, string>,
  what: 'task' | 'actor',
  change: TaskChange | ActorChange,
): boolean {
  const type: string = change.type;
  if (Object.hasOwn(what === 'task' ? TASK_CHANGES : ACTOR_CHANGES, type)) return false;
  const { id, name } = change as { readonly id?: unknown; readonly name?: unknown };
  const about = what === 'task' ? id : name;
  if (typeof about === 'string') {
    unknown.set(
      about,
      `the record ${JSON.stringify(type)} is of a newer version, which this one does not know`,
    );
  }
  return true;
}
