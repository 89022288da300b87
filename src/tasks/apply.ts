/**
 * The fold: one `TaskChange` after the other makes the graph, live and on replay alike (T11). A change that the rules do
 * not allow is a broken invariant of whoever decided it, not an input error.
 *
 * Invariants
 * - T1 A claim is a compare-and-set on `ready`; its fence is the sequence of its record.
 * - T3 `done`, `failed` and `cancelled` are final: a terminal task is never given out again, notified or changed. A person
 *   alone can reopen a failed one, whose work they have put in order; it goes to the gates, not to a worker.
 * - T4 Counts of attempts, conflicts and interruptions only grow.
 */
import type { TaskId } from '../kernel/ids.ts';
import { invariant } from '../kernel/invariant.ts';
import type { TaskChange, TaskState } from '../protocol/record.ts';
import { type GraphIndex, isActive, isTerminal, type Node, type TaskGraph } from './graph.ts';
import { claimKey, dequeue, enqueue, holdTouches, letTouchesGo } from './ready.ts';
import { parseTouches } from './touches.ts';

/** Where the change is recorded. */
export interface ApplyContext {
  readonly seq: number;
  readonly at: string;
}

/** Changes the graph it is given. Throws `InvariantError` when the change is not allowed in the task's state. */
export function applyTask(graph: TaskGraph, change: TaskChange, context: ApplyContext): void {
  const { index } = graph;
  if (change.type === 'task.added') {
    applyAdded(index, change);
    return;
  }
  const node = index.byId.get(change.id);
  invariant(node !== undefined, `T8: ${change.type} of an unknown task ${change.id}`);
  invariant(
    allowedIn[change.type](node.state),
    `T3: ${change.type} of ${change.id}, which is ${node.state}`,
  );
  applyTo(index, node, change, context);
}

type Change = Exclude<TaskChange, { type: 'task.added' }>;

const isLive = (state: TaskState): boolean => !isTerminal(state);

/** In which states a change may come. */
const allowedIn: { readonly [K in Change['type']]: (state: TaskState) => boolean } = {
  'task.claimed': (state) => state === 'ready',
  'task.tree': isLive,
  'task.finished': (state) => state === 'running',
  'task.committed': isActive,
  'task.gate': isActive,
  'task.verified': (state) => state === 'verifying',
  'task.released': isActive,
  'task.merging': (state) => state === 'merging',
  'task.reopened': (state) => state === 'failed',
  'task.done': (state) => state === 'verifying' || state === 'merging',
  'task.failed': isLive,
  'task.cancelled': isLive,
};

function applyAdded(index: GraphIndex, change: Extract<TaskChange, { type: 'task.added' }>): void {
  const spec = change.task;
  invariant(!index.byId.has(spec.id), `T8: ${spec.id} is added twice`);
  const needs = new Set(spec.needs);
  const unmet = [...needs].filter((id) => index.byId.get(id)?.state !== 'done').length;
  const node: Node = {
    spec,
    addedBy: change.by,
    order: index.byId.size,
    state: 'blocked',
    ...BLANK,
    unmet,
    key: claimKey(spec),
    touches: parseTouches(spec.touches),
    slot: -1,
  };
  index.byId.set(spec.id, node);
  index.fresh.push(node);
  index.counts.blocked += 1;
  for (const id of needs) {
    const dependents = index.dependents.get(id);
    if (dependents === undefined) index.dependents.set(id, [node]);
    else dependents.push(node);
  }
  if (unmet === 0) move(index, node, 'ready');
}

const BLANK = {
  owner: null,
  incarnation: 0,
  attempt: 0,
  attemptsUsed: 0,
  conflicts: 0,
  interruptions: 0,
  fence: 0,
  leaseUntil: null,
  path: null,
  branch: null,
  start: null,
  commit: null,
  mergedCommit: null,
  summary: null,
  rework: null,
  preferredOwner: null,
  lastReason: null,
  merging: null,
  gates: [],
  startedAt: null,
  endedAt: null,
  height: 1,
} as const;

function applyTo(index: GraphIndex, node: Node, change: Change, context: ApplyContext): void {
  switch (change.type) {
    case 'task.claimed':
      node.owner = change.by;
      node.incarnation = change.incarnation;
      node.attempt = change.attempt;
      node.fence = context.seq;
      node.leaseUntil = change.leaseUntil;
      node.summary = null;
      node.lastReason = null;
      node.startedAt ??= context.at;
      move(index, node, 'running');
      return;
    case 'task.tree':
      node.path = change.path;
      node.branch = change.branch;
      node.start = change.start;
      return;
    case 'task.finished':
      node.summary = change.summary;
      move(index, node, 'verifying');
      return;
    case 'task.committed':
      node.commit = change.commit;
      node.gates = [];
      return;
    case 'task.gate':
      applyGate(node, change);
      return;
    case 'task.verified':
      move(index, node, 'merging');
      return;
    case 'task.released':
      applyReleased(index, node, change);
      return;
    case 'task.merging':
      node.merging = { from: change.from, to: change.to };
      return;
    case 'task.reopened':
      applyReopened(index, node, change, context);
      return;
    case 'task.done':
      node.mergedCommit = change.commit;
      end(index, node, { state: 'done', at: context.at });
      meetDependents(index, node.spec.id);
      return;
    case 'task.failed':
      node.lastReason = change.reason;
      end(index, node, { state: 'failed', at: context.at });
      return;
    case 'task.cancelled':
      node.lastReason = change.reason;
      end(index, node, { state: 'cancelled', at: context.at });
      return;
  }
}

/** A gate that runs again replaces its evidence; evidence of another commit is not kept beside it. */
function applyGate(node: Node, change: Extract<Change, { type: 'task.gate' }>): void {
  const { gate, stage, commit, ok, exit, output, tries, text } = change;
  const said = text === undefined ? {} : { text };
  const others = node.gates.filter((one) => one.gate !== gate || one.stage !== stage);
  node.gates = [...others, { gate, stage, commit, ok, exit, output, tries, ...said }];
}

function applyReleased(
  index: GraphIndex,
  node: Node,
  change: Extract<Change, { type: 'task.released' }>,
): void {
  if (change.counts === 'attempt') node.attemptsUsed += 1;
  if (change.counts === 'conflict') node.conflicts += 1;
  if (change.counts === 'interruption') node.interruptions += 1;
  node.preferredOwner = node.owner;
  node.owner = null;
  node.fence = 0;
  node.leaseUntil = null;
  node.merging = null;
  node.lastReason = change.reason;
  node.rework = change.rework;
  move(index, node, 'ready');
}

function applyReopened(
  index: GraphIndex,
  node: Node,
  change: Extract<Change, { type: 'task.reopened' }>,
  context: ApplyContext,
): void {
  node.owner = change.by;
  node.fence = context.seq;
  node.lastReason = null;
  node.endedAt = null;
  node.gates = [];
  move(index, node, 'verifying');
  for (const id of change.also) {
    const other = index.byId.get(id);
    invariant(other?.state === 'cancelled', `T3: ${id} is revived, which is not cancelled`);
    other.lastReason = null;
    other.endedAt = null;
    move(index, other, 'blocked');
  }
}

/** The terminal transition: claim, lease and touches go with it. */
function end(
  index: GraphIndex,
  node: Node,
  how: { readonly state: 'done' | 'failed' | 'cancelled'; readonly at: string },
): void {
  node.fence = 0;
  node.leaseUntil = null;
  node.merging = null;
  node.endedAt = how.at;
  move(index, node, how.state);
}

function meetDependents(index: GraphIndex, id: TaskId): void {
  for (const dependent of index.dependents.get(id) ?? []) {
    index.work.steps += 1;
    dependent.unmet -= 1;
    if (dependent.unmet === 0 && dependent.state === 'blocked') move(index, dependent, 'ready');
  }
}

/** The one place where a state changes: counts, queue, touches and merge queue follow it. */
function move(index: GraphIndex, node: Node, to: TaskState): void {
  const from = node.state;
  if (from === 'ready') dequeue(index, node);
  if (from === 'merging') index.merging.delete(node);
  index.counts[from] -= 1;
  index.counts[to] += 1;
  node.state = to;
  if (isActive(from) && !isActive(to)) letTouchesGo(index, node);
  if (!isActive(from) && isActive(to)) holdTouches(index, node);
  if (to === 'ready') enqueue(index, node);
  if (to === 'merging') index.merging.add(node);
}
