/**
 * The ready set. Ready tasks lie in lanes (same claim key, same touches), lanes in one queue per key. A lane whose touches
 * overlap those of an active task is parked under the hold that blocks it, and comes back when that hold is gone, so
 * nothing is ever scanned.
 *
 * Invariants
 * - T5 Of the tasks that may start, the one with the longest chain of dependents goes first, then order in the file.
 * - T6 Tasks whose touches overlap are never active (running, verifying, merging) together. Verifying and merging count:
 *   a merge conflict is what touches avoid.
 */
import type { TaskSpec } from '../protocol/team.ts';
import {
  type GraphIndex,
  goesBefore,
  type Hold,
  type Lane,
  makeLane,
  type Node,
  type TaskGraph,
  type TaskNode,
} from './graph.ts';
import { type Heap, makeHeap, moveItem, pushItem, removeItem, type Slotted } from './heap.ts';
import { type Touches, touchesOverlap } from './touches.ts';

/** Claim key of command tasks; no profile may have this name. */
export const COMMAND_KEY = 'run';
/** Claim key of tasks that any teammate may take. */
export const ANYONE_KEY = '*';

/** Who may take a task: `run`, the name of a profile, or `*`. */
export function claimKey(spec: TaskSpec): string {
  if (spec.run !== null) return COMMAND_KEY;
  return spec.agent ?? ANYONE_KEY;
}

/**
 * The best ready task among the keys for which `free` says yes, or null. `free` is asked at most once per key, with that
 * key's best task; its answer must hold for the key. Does not look at `limits.parallel`: that is the caller's.
 */
export function pickNext(
  graph: TaskGraph,
  free: (key: string, node: TaskNode) => boolean,
): TaskNode | null {
  const { index } = graph;
  settleHeights(index);
  const heads: Node[] = [];
  for (const queue of index.queues.values()) {
    const head = headOf(index, queue);
    if (head !== null) heads.push(head);
  }
  heads.sort((a, b) => (goesBefore(a, b) ? -1 : 1));
  return heads.find((node) => free(node.key, node)) ?? null;
}

/** The active task whose touches keep this one from starting, or null. Changes nothing. */
export function touchesBlocker(graph: TaskGraph, node: TaskNode): TaskNode | null {
  const own = graph.index.byId.get(node.spec.id);
  if (own === undefined) return null;
  const hold = findHold(graph.index, own.touches);
  if (hold === null) return null;
  const [first] = hold.nodes;
  return first ?? null;
}

/** Parks lanes that may not go now; the best task of the first that may. */
function headOf(index: GraphIndex, queue: Heap<Lane>): Node | null {
  for (;;) {
    const lane = queue.items[0];
    if (lane === undefined) return null;
    const hold = findHold(index, lane.touches);
    if (hold === null) return lane.heap.items[0] ?? null;
    removeItem(queue, lane, laneGoesBefore);
    lane.blocker = hold;
    hold.parked.add(lane);
  }
}

function findHold(index: GraphIndex, touches: Touches): Hold | null {
  if (touches.signature === '') return null;
  const same = index.holds.get(touches.signature);
  if (same !== undefined) return same;
  for (const hold of index.holds.values()) {
    index.work.steps += 1;
    if (touchesOverlap(hold.touches, touches)) return hold;
  }
  return null;
}

export function enqueue(index: GraphIndex, node: Node): void {
  const name = laneName(node);
  let lane = index.lanes.get(name);
  if (lane === undefined) {
    lane = makeLane(index, node);
    index.lanes.set(name, lane);
  }
  pushItem(lane.heap, node, goesBefore);
  replaceLane(index, lane);
}

export function dequeue(index: GraphIndex, node: Node): void {
  const lane = index.lanes.get(laneName(node));
  if (lane === undefined) return;
  removeItem(lane.heap, node, goesBefore);
  replaceLane(index, lane);
}

export function holdTouches(index: GraphIndex, node: Node): void {
  const { signature } = node.touches;
  if (signature === '') return;
  let hold = index.holds.get(signature);
  if (hold === undefined) {
    hold = { touches: node.touches, nodes: new Set(), parked: new Set() };
    index.holds.set(signature, hold);
  }
  hold.nodes.add(node);
}

export function letTouchesGo(index: GraphIndex, node: Node): void {
  const hold = index.holds.get(node.touches.signature);
  if (hold === undefined) return;
  hold.nodes.delete(node);
  if (hold.nodes.size > 0) return;
  index.holds.delete(node.touches.signature);
  for (const lane of hold.parked) {
    lane.blocker = null;
    replaceLane(index, lane);
  }
}

const laneName = (node: Node): string => `${node.key}\0${node.touches.signature}`;

/** Puts a lane where it belongs after its content or its blocker changed; an empty one is dropped. */
function replaceLane(index: GraphIndex, lane: Lane): void {
  const queue = index.queues.get(lane.key) ?? makeHeap<Lane>(index.work);
  if (lane.heap.items.length === 0) {
    removeItem(queue, lane, laneGoesBefore);
    lane.blocker?.parked.delete(lane);
    lane.blocker = null;
    index.lanes.delete(`${lane.key}\0${lane.touches.signature}`);
    if (queue.items.length === 0) index.queues.delete(lane.key);
    return;
  }
  if (lane.blocker !== null) return;
  index.queues.set(lane.key, queue);
  if (lane.slot < 0) pushItem(queue, lane, laneGoesBefore);
  else moveItem(queue, lane, laneGoesBefore);
}

function laneGoesBefore(a: Lane, b: Lane): boolean {
  const left = a.heap.items[0];
  const right = b.heap.items[0];
  return left !== undefined && right !== undefined && goesBefore(left, right);
}

interface Growth extends Slotted {
  readonly node: Node;
  /** Height before this settling. */
  readonly from: number;
}

const lowerFirst = (a: Growth, b: Growth): boolean => a.from < b.from;

/**
 * Heights of the tasks added since the last time, then of the older ones that grow through them. Both go from dependents
 * to needs, each task once: new ones in topological order, older ones by their old height (a need is always higher than
 * its dependents). Tasks on a cycle, which validation refuses, stay at height 1.
 */
function settleHeights(index: GraphIndex): void {
  if (index.fresh.length === 0) return;
  const fresh = new Map<Node, number>(index.fresh.map((node) => [node, 0]));
  index.fresh = [];
  const growing = makeHeap<Growth>(index.work);
  const grown = new Set<Node>();
  const grow = (node: Node, height: number): void => {
    // All that a done task needs is done, so nobody asks for its height any more.
    if (height <= node.height || node.state === 'done') return;
    if (!fresh.has(node) && !grown.has(node)) {
      grown.add(node);
      pushItem(growing, { node, from: node.height, slot: -1 }, lowerFirst);
    }
    setHeight(index, node, height);
  };
  settleFresh(index, fresh, grow);
  fresh.clear();
  for (;;) {
    const next = growing.items[0];
    if (next === undefined) return;
    removeItem(growing, next, lowerFirst);
    for (const need of needsOf(index, next.node)) grow(need, next.node.height + 1);
  }
}

function settleFresh(
  index: GraphIndex,
  fresh: Map<Node, number>,
  grow: (node: Node, height: number) => void,
): void {
  for (const node of fresh.keys()) {
    for (const need of needsOf(index, node)) {
      const waiting = fresh.get(need);
      if (waiting !== undefined) fresh.set(need, waiting + 1);
    }
    for (const dependent of index.dependents.get(node.spec.id) ?? []) {
      if (!fresh.has(dependent)) grow(node, dependent.height + 1);
    }
  }
  const open = [...fresh].filter(([, waiting]) => waiting === 0).map(([node]) => node);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const need of needsOf(index, node)) {
      grow(need, node.height + 1);
      const waiting = fresh.get(need);
      if (waiting === undefined) continue;
      fresh.set(need, waiting - 1);
      if (waiting === 1) open.push(need);
    }
  }
}

function needsOf(index: GraphIndex, node: Node): Node[] {
  const needs: Node[] = [];
  for (const id of new Set(node.spec.needs)) {
    index.work.steps += 1;
    const need = index.byId.get(id);
    if (need !== undefined) needs.push(need);
  }
  return needs;
}

function setHeight(index: GraphIndex, node: Node, height: number): void {
  node.height = height;
  if (node.slot < 0) return;
  const lane = index.lanes.get(laneName(node));
  if (lane === undefined) return;
  moveItem(lane.heap, node, goesBefore);
  replaceLane(index, lane);
}
