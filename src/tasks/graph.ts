/**
 * The task graph of a run: what is known of each task, and the indexes that make every question about it cheap. State
 * is a fold of `TaskChange`s (`apply.ts`); nothing else writes it. Who works on a task, and when, is the supervisor's.
 *
 * Invariants
 * - T2 A task is `ready` only when all that it needs is `done`.
 * - T9 Adding, finishing and releasing cost O(out-degree · log n), never O(graph).
 */
import type { ActorName, ProcId, TaskId } from '../kernel/ids.ts';
import type { Reason, TaskState } from '../protocol/record.ts';
import type { TaskSpec } from '../protocol/team.ts';
import { type Heap, makeHeap, type Slotted, type Work } from './heap.ts';
import type { Touches } from './touches.ts';

/** What one gate said of one commit. */
export interface GateEvidence {
  readonly gate: string;
  readonly stage: 'task' | 'merge';
  readonly commit: string | null;
  readonly ok: boolean;
  readonly exit: number | null;
  readonly output: ProcId | null;
  readonly tries: number;
  /** Of a review: what the reviewer said. */
  readonly text?: string;
}

export interface TaskNode {
  readonly spec: TaskSpec;
  readonly addedBy: ActorName;
  /** Position in the order of addition, which for a team file is the order in the file. */
  readonly order: number;
  readonly state: TaskState;
  /** Set while `running`, `verifying`, `merging`, and kept when the task is done, failed or cancelled from there. */
  readonly owner: ActorName | null;
  readonly incarnation: number;
  /** The claim that is going on or was the last, counted from 1; 0 before the first. */
  readonly attempt: number;
  /** Ends that were charged to the worker or its gates. */
  readonly attemptsUsed: number;
  readonly conflicts: number;
  readonly interruptions: number;
  /** Sequence of the claim record; 0 when nobody holds the task. */
  readonly fence: number;
  readonly leaseUntil: string | null;
  /** Tree of the task; kept after it ended. */
  readonly path: string | null;
  readonly branch: string | null;
  /** Commit the tree started from. */
  readonly start: string | null;
  /** Last commit of the runtime on the task's branch. */
  readonly commit: string | null;
  /** Commit of the integration branch that contains the work. */
  readonly mergedCommit: string | null;
  readonly summary: string | null;
  /** What the next worker is told besides the prompt. */
  readonly rework: string | null;
  /** Who held it last: to whom rework goes first. */
  readonly preferredOwner: ActorName | null;
  /** Of the last release, failure or cancellation. */
  readonly lastReason: Reason | null;
  /** The durable intent of a merge that is not known to have happened. */
  readonly merging: { readonly from: string; readonly to: string } | null;
  /** Of `commit`; cleared by a new commit. */
  readonly gates: readonly GateEvidence[];
  /** Of the first claim. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Tasks on the longest chain of dependents, counting itself. */
  readonly height: number;
  /** Needs that are not done. */
  readonly unmet: number;
}

export interface TaskGraph {
  /** In order of addition. */
  readonly nodes: ReadonlyMap<TaskId, TaskNode>;
  /** Belongs to this room. */
  readonly index: GraphIndex;
}

/** A `TaskNode` as this room writes it. `slot` is its place in the heap of its lane, -1 when it is not ready. */
export interface Node extends Writable<TaskNode>, Slotted {
  readonly key: string;
  readonly touches: Touches;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Ready tasks with the same claim key and the same touches: they wait and go together. */
export interface Lane extends Slotted {
  readonly key: string;
  readonly touches: Touches;
  readonly heap: Heap<Node>;
  /** The hold it is parked under; then it is not in the queue of its key. */
  blocker: Hold | null;
}

/** Touches held by tasks that are running, verifying or merging. */
export interface Hold {
  readonly touches: Touches;
  readonly nodes: Set<Node>;
  readonly parked: Set<Lane>;
}

export interface GraphIndex {
  readonly byId: Map<TaskId, Node>;
  /** By the id that is needed, which may not be there yet. */
  readonly dependents: Map<TaskId, Node[]>;
  /** Lanes that are neither empty nor parked, by claim key. */
  readonly queues: Map<string, Heap<Lane>>;
  readonly lanes: Map<string, Lane>;
  readonly holds: Map<string, Hold>;
  /** Tasks in state `merging`, in the order in which they came there. */
  readonly merging: Set<Node>;
  readonly counts: Record<TaskState, number>;
  /** Added since the heights were last settled. */
  fresh: Node[];
  /** Heap moves and edges walked so far. */
  readonly work: Work;
}

export function makeGraph(): TaskGraph {
  const byId = new Map<TaskId, Node>();
  return {
    nodes: byId,
    index: {
      byId,
      dependents: new Map(),
      queues: new Map(),
      lanes: new Map(),
      holds: new Map(),
      merging: new Set(),
      counts: {
        blocked: 0,
        ready: 0,
        running: 0,
        verifying: 0,
        merging: 0,
        done: 0,
        failed: 0,
        cancelled: 0,
      },
      fresh: [],
      work: { steps: 0 },
    },
  };
}

/** Tasks by state; O(1). */
export function taskCounts(graph: TaskGraph): Readonly<Record<TaskState, number>> {
  return graph.index.counts;
}

/** Tasks that hold a slot of `limits.parallel`: verifying and merging ones do not. */
export function runningCount(graph: TaskGraph): number {
  return graph.index.counts.running;
}

/** Whether nothing can move any more; also true of an empty graph. O(1). */
export function allTerminal(graph: TaskGraph): boolean {
  const { done, failed, cancelled } = graph.index.counts;
  return done + failed + cancelled === graph.nodes.size;
}

export function isTerminal(state: TaskState): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}

/** Whether somebody, or the runtime, works on it: `running`, `verifying`, `merging`. It then holds its touches (T6). */
export function isActive(state: TaskState): boolean {
  return state === 'running' || state === 'verifying' || state === 'merging';
}

/** Tasks in state `merging`, first come first. */
export function mergeQueue(graph: TaskGraph): readonly TaskNode[] {
  return [...graph.index.merging];
}

/** What maintaining the indexes has cost so far, in steps; for tests and benchmarks (T9). */
export function graphWork(graph: TaskGraph): number {
  return graph.index.work.steps;
}

/** T5: the longest chain of dependents first, then order of addition. */
export function goesBefore(a: Node, b: Node): boolean {
  return a.height === b.height ? a.order < b.order : a.height > b.height;
}

export function makeLane(index: GraphIndex, node: Node): Lane {
  return {
    key: node.key,
    touches: node.touches,
    heap: makeHeap(index.work),
    blocker: null,
    slot: -1,
  };
}
