/**
 * Candidates that are merged on each other and verified together, when the queue is long: one run of the gates for all of
 * them. When it fails, halves of them are tried, until the one is found with which the gates begin to fail. What was
 * found good lands meanwhile. It is lost with the process, and made anew from the queue; only intents are facts.
 */
import { mergeQueue, type TaskNode } from '../../tasks/index.ts';
import { MERGE_BATCH_FROM, MERGE_BATCH_MAX } from '../limits.ts';
import type { GateProgress, GateRun, Live, MergeCar, MergeTrain } from '../live.ts';
import type { RunState } from '../state.ts';

export function startTrain(car: MergeCar): MergeTrain {
  return { cars: [car], closed: false, count: 1, failed: null, progress: progressOn(car.to) };
}

const progressOn = (commit: string): GateProgress => ({ commit, index: 0, tries: 0 });

export function addCar(train: MergeTrain, car: MergeCar): void {
  train.cars = [...train.cars, car];
  verifyFirst(train, train.cars.length);
}

function verifyFirst(train: MergeTrain, count: number): void {
  train.count = count;
  train.progress = progressOn(train.cars[count - 1]?.to ?? '');
}

/** Halves what fails; `failed.count` 1: it is the first. */
export function noteFailure(train: MergeTrain, run: GateRun): void {
  train.failed = { ...run, count: train.count };
  if (train.count > 1) verifyFirst(train, Math.floor(train.count / 2));
}

/** So many have landed; false when there are no more whose end is known. */
export function uncouple(train: MergeTrain, landed: number): boolean {
  train.cars = train.cars.slice(landed);
  const { failed } = train;
  if (failed === null || failed.count <= landed) return false;
  train.failed = { ...failed, count: failed.count - landed };
  verifyFirst(train, Math.max(1, Math.floor(train.failed.count / 2)));
  return true;
}

/** The candidate to be merged on top; null: with these the gates begin. */
export function nextCar(state: RunState, live: Live): TaskNode | null {
  const train = live.merge;
  // A recording has its own order of merges.
  if (train === null || train.closed || state.file.replay !== undefined) return null;
  const { cars } = train;
  if (state.file.team.merge.verify.length === 0 || cars.length >= MERGE_BATCH_MAX) return null;
  if (cars.length === 1 && live.mergeQueue.length < MERGE_BATCH_FROM) return null;
  const aboard = new Set(cars.map(({ task }) => task));
  for (const id of live.mergeQueue) {
    const node = state.graph.nodes.get(id);
    if (aboard.has(id) || node?.state !== 'merging') continue;
    // An intent of an earlier term is looked at first.
    return node.merging === null && !live.taskOps.has(id) ? node : null;
  }
  return null;
}

/** Nodes whose intents follow on each other, from this one to the one that ends at `to`, or as far as they go. */
export function chainOf(state: RunState, first: TaskNode, to: string | null): TaskNode[] {
  const byFrom = new Map<string, TaskNode>();
  for (const node of mergeQueue(state.graph)) {
    if (node.merging !== null) byFrom.set(node.merging.from, node);
  }
  const chain = [first];
  for (let at = first.merging; at !== null && at.to !== to; ) {
    const next = byFrom.get(at.to);
    if (next === undefined) break;
    chain.push(next);
    at = next.merging;
  }
  return chain;
}

/** Whether moving the ref to `to` carries out an intent that stands: several may land with one move, as far as the last. */
export function isIntended(state: RunState, first: TaskNode | undefined, to: string): boolean {
  return first !== undefined && chainOf(state, first, to).at(-1)?.merging?.to === to;
}
