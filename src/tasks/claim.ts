/**
 * Rules of claims: who may take a task, whose results still count, and what an end that is not success leads to. All
 * pure; the supervisor records what follows from the answers.
 *
 * Invariants
 * - T1 One claim at a time: compare-and-set on `ready`, the loser is told who holds it.
 * - T4 Ends are bounded: attempts by the spec, conflicts and deaths of the supervisor by `limits.ts`.
 * - T7 A result whose fence is not the current claim's is refused.
 * - T10 A task that fails or is cancelled takes all that depend on it with it, in the same record.
 */
import { type ActorName, asTaskId, nearMatches, type TaskId } from '../kernel/ids.ts';
import type { Reason, TaskChange, TaskState } from '../protocol/record.ts';
import { isActive, isTerminal, type Node, type TaskGraph, type TaskNode } from './graph.ts';
import { CONFLICTS_MAX, INTERRUPTIONS_MAX } from './limits.ts';
import { ANYONE_KEY, COMMAND_KEY, claimKey, touchesBlocker } from './ready.ts';
import { parallelReason, profileReason, stateReason, touchesReason } from './report.ts';

export interface Claimer {
  readonly by: ActorName;
  /** Name of its agent profile; null for the supervisor, which takes command tasks only. */
  readonly profile: string | null;
  /** `limits.parallel`. */
  readonly parallel: number;
}

export type ClaimOutcome =
  | { readonly kind: 'ok'; readonly node: TaskNode }
  /** Somebody holds it already (perhaps the claimer itself). */
  | { readonly kind: 'lost'; readonly owner: ActorName }
  | { readonly kind: 'not-ready'; readonly state: TaskState; readonly reason: Reason }
  | { readonly kind: 'unknown'; readonly near: readonly string[] };

/** May `claimer` take the task now? Does not change the graph: the claim itself is a `task.claimed`. */
export function canClaim(graph: TaskGraph, id: string, claimer: Claimer): ClaimOutcome {
  const node = graph.nodes.get(asTaskId(id));
  if (node === undefined) return { kind: 'unknown', near: nearMatches(id, graph.nodes.keys()) };
  if (isActive(node.state) && node.owner !== null) return { kind: 'lost', owner: node.owner };
  const reason = claimHindrance(graph, node, claimer);
  if (reason !== null) return { kind: 'not-ready', state: node.state, reason };
  return { kind: 'ok', node };
}

function claimHindrance(graph: TaskGraph, node: TaskNode, claimer: Claimer): Reason | null {
  if (node.state !== 'ready') return stateReason(graph, node);
  const key = claimKey(node.spec);
  const fits =
    key === COMMAND_KEY
      ? claimer.profile === null
      : claimer.profile !== null && (key === ANYONE_KEY || key === claimer.profile);
  if (!fits) return profileReason(key);
  const blocker = touchesBlocker(graph, node);
  if (blocker !== null) return touchesReason(blocker);
  return parallelReason(graph, claimer.parallel);
}

/** `attempt` of the next claim, counted from 1. */
export function nextAttempt(node: TaskNode): number {
  return node.attemptsUsed + 1;
}

export type FenceOutcome =
  | { readonly kind: 'ok' }
  | { readonly kind: 'stale'; readonly text: string };

/** T7: does an effect that carries `fence` belong to the claim that is going on? */
export function checkFence(node: TaskNode, fence: number): FenceOutcome {
  if (isActive(node.state) && node.fence === fence) return { kind: 'ok' };
  const now = isTerminal(node.state)
    ? `it is ${node.state}`
    : isActive(node.state)
      ? `${node.owner ?? 'somebody'} has claimed it since`
      : 'it was taken back';
  return { kind: 'stale', text: `the claim on ${node.spec.id} is over: ${now}` };
}

/**
 * What the failure of `id` has cancelled and would wait for it again: all that needs nothing else that is lost. Costs what
 * was cancelled.
 */
export function revivedBy(graph: TaskGraph, id: string): TaskId[] {
  const revived = new Set<TaskId>([asTaskId(id)]);
  const lost = (need: TaskId): boolean => {
    const state = graph.nodes.get(need)?.state;
    return !revived.has(need) && (state === 'failed' || state === 'cancelled');
  };
  for (let before = 0; before < revived.size; ) {
    before = revived.size;
    for (const one of revived) {
      for (const { spec, state, lastReason } of graph.index.dependents.get(one) ?? []) {
        const isOurs = lastReason?.kind === 'task' && lastReason.ref === id;
        if (state === 'cancelled' && isOurs && !spec.needs.some(lost)) revived.add(spec.id);
      }
    }
  }
  return [...revived].slice(1);
}

export type EndOutcome =
  | { readonly kind: 'again' }
  | { readonly kind: 'failed'; readonly reason: Reason };

type Counts = Extract<TaskChange, { type: 'task.released' }>['counts'];

/**
 * What follows from an end that is charged to `counts`, with the node as it is before that end. `again`: record a
 * `task.released`; `failed`: record a `task.failed` with this reason instead, and the cascade.
 */
export function afterEnd(node: TaskNode, counts: Counts, cause: Reason): EndOutcome {
  const ref = cause.ref === undefined ? {} : { ref: cause.ref };
  switch (counts) {
    case 'nothing':
      return { kind: 'again' };
    case 'attempt': {
      if (node.attemptsUsed + 1 < node.spec.attempts) return { kind: 'again' };
      const { attempts } = node.spec;
      const text =
        attempts === 1
          ? `its only attempt failed: ${cause.text}`
          : `all ${attempts} attempts are used; the last: ${cause.text}`;
      const kind = cause.kind === 'budget' ? 'budget' : 'attempts';
      return { kind: 'failed', reason: { kind, ...ref, text } };
    }
    case 'conflict': {
      if (node.conflicts + 1 <= CONFLICTS_MAX) return { kind: 'again' };
      const text = `reworked ${CONFLICTS_MAX} times after merge conflicts and in conflict again: ${cause.text}`;
      return { kind: 'failed', reason: { kind: 'conflict', ...ref, text } };
    }
    case 'interruption': {
      if (node.interruptions + 1 <= INTERRUPTIONS_MAX) return { kind: 'again' };
      const text = `cut off more than ${INTERRUPTIONS_MAX} times by the end of the supervisor`;
      return { kind: 'failed', reason: { kind: 'attempts', ...ref, text } };
    }
  }
}

/**
 * The cancellations that follow when `id` fails or is cancelled: all that depends on it, however far, nearest first. To be
 * recorded with it. Costs what it cancels.
 */
export function cascade(graph: TaskGraph, id: string, how: 'failed' | 'cancelled'): TaskChange[] {
  const root = graph.index.byId.get(asTaskId(id));
  if (root === undefined) return [];
  const reached = new Set<Node>([root]);
  const changes: TaskChange[] = [];
  const was = how === 'failed' ? 'failed' : 'was cancelled';
  for (const node of reached) {
    for (const dependent of graph.index.dependents.get(node.spec.id) ?? []) {
      if (reached.has(dependent) || isTerminal(dependent.state)) continue;
      reached.add(dependent);
      const through = node === root ? '' : ` (through ${node.spec.id})`;
      const text = `needs ${root.spec.id}${through}, which ${was}`;
      const reason: Reason = { kind: 'task', ref: root.spec.id, text };
      changes.push({ type: 'task.cancelled', id: dependent.spec.id, reason });
    }
  }
  return changes;
}
