/**
 * The merge queue: one merge at a time, on trees and not on checkouts (several candidates in it when the queue is long). Compute the merge, run `merge.verify` on the merged
 * commit, record the intent, move the ref with its old value, record the end (design §8).
 *
 * Invariants
 * - W5 The intent is durable before the ref moves; whoever takes the run up again compares the ref with both ends.
 * - W6 A ref that moved under us means: start over. Nothing is half merged, nothing is lost.
 * - W15 A candidate lands only on a commit on which every gate of the merge passed, its own or one that holds it; who is
 *   sent back is the one without which they passed.
 */
import { type ProcId, type TaskId, USER } from '../../kernel/index.ts';
import type { TaskChange } from '../../protocol/index.ts';
import type { TaskNode } from '../../tasks/index.ts';
import { Draft } from '../draft.ts';
import type { AdvanceOutcome, CommandOutcome, Happening, MergeOutcome } from '../inbox.ts';
import { MERGE_HOLDS_MAX } from '../limits.ts';
import type { GateRun, Live, MergeCar, MergeTrain } from '../live.ts';
import type { RunState } from '../state.ts';
import { clip } from '../text.ts';
import { endByGate, succeeded, toNextGate, verdictOf } from './gates.ts';
import {
  addCar,
  chainOf,
  isIntended,
  nextCar,
  noteFailure,
  startTrain,
  uncouple,
} from './merge-train.ts';
import { headOfMerges } from './replay-order.ts';
import { endAttempt, fail, finish, opEnded } from './task-ends.ts';

/** Starts the head of the queue, when nothing else is being merged; null when there is nothing to start. */
export function nextMerge(state: RunState, live: Live, happening: Happening): Draft | null {
  if (live.merge !== null || live.mergeHold?.waiting === true || mergeInFlight(live)) return null;
  if (!headOfMerges(state, live)) return null;
  while (live.mergeQueue.length > 0) {
    const id = live.mergeQueue[0];
    const node = id === undefined ? undefined : state.graph.nodes.get(id);
    if (id !== undefined && node !== undefined && node.state === 'merging') {
      return begin(state, live, happening, node);
    }
    live.mergeQueue.shift();
  }
  return null;
}

function mergeInFlight(live: Live): boolean {
  const head = live.mergeQueue[0];
  if (head === undefined) return false;
  return live.taskOps.has(head);
}

function begin(state: RunState, live: Live, happening: Happening, node: TaskNode): Draft {
  const draft = new Draft(state, happening).about('git');
  const id = node.spec.id;
  if (node.merging !== null) {
    live.taskOps.set(id, 'advance');
    const { from } = node.merging;
    const to = chainOf(state, node, null).at(-1)?.merging?.to ?? node.merging.to;
    draft.effect({ type: 'ref.advance', task: id, from, to });
    return draft;
  }
  compute(draft, live, node);
  return draft;
}

/** `onto`: a merge that has not landed; null: the integration branch as it is. */
function compute(draft: Draft, live: Live, node: TaskNode, onto: string | null = null): void {
  const task = node.spec.id;
  live.taskOps.set(task, 'merge');
  draft.effect({
    type: 'merge.compute',
    task,
    fence: node.fence,
    commit: node.commit ?? '',
    message: `Merge ${task}: ${node.spec.title}`,
    ...(onto === null ? {} : { onto }),
  });
}

export function mergeComputed(
  state: RunState,
  live: Live,
  happening: Happening,
  event: { task: TaskId; fence: number; outcome: MergeOutcome },
): Draft {
  const draft = new Draft(state, happening).about('git');
  opEnded(live, event.task);
  const node = state.graph.nodes.get(event.task);
  const { outcome } = event;
  if (live.merge !== null && live.merge.cars[0]?.task !== event.task) {
    grown(draft, live, { node, event });
    return draft;
  }
  if (node === undefined || node.state !== 'merging' || node.fence !== event.fence) {
    leaveQueue(live, event.task);
    return draft;
  }
  if (outcome.kind === 'merged') {
    live.mergeHold = null;
    const { from, to } = outcome;
    live.merge = startTrain({ task: event.task, fence: event.fence, from, to });
    growOrVerify(draft, live);
  } else notMerged(draft, live, node, outcome);
  return draft;
}

function notMerged(
  draft: Draft,
  live: Live,
  node: TaskNode,
  outcome: Exclude<MergeOutcome, { kind: 'merged' }>,
): void {
  if (outcome.kind === 'blocked') {
    hold(draft, live, node, outcome.text);
    return;
  }
  leaveQueue(live, node.spec.id);
  if (outcome.kind === 'nothing') finish(draft, live, node, outcome.at);
  else {
    const isConflict = outcome.kind === 'conflict';
    const text = isConflict ? clip(outcome.text, 400) : outcome.text;
    endAttempt(draft, live, {
      node,
      counts: isConflict ? 'conflict' : 'attempt',
      reason: { kind: isConflict ? 'conflict' : 'merge', text },
      rework: outcome.text,
    });
  }
}

/** One more was merged on top of the train; or it can't be now, and waits until the train has landed. */
function grown(
  draft: Draft,
  live: Live,
  of: {
    readonly node: TaskNode | undefined;
    readonly event: { task: TaskId; fence: number; outcome: MergeOutcome };
  },
): void {
  const { node, event } = of;
  const { task, fence, outcome } = event;
  const train = live.merge;
  if (train === null) return;
  const isThere = node?.state === 'merging' && node.fence === fence;
  if (outcome.kind !== 'merged' || !isThere) train.closed = true;
  else addCar(train, { task, fence, from: outcome.from, to: outcome.to });
  growOrVerify(draft, live);
}

/** W15: while the queue is long, several candidates are merged on each other, and verified together. */
function growOrVerify(draft: Draft, live: Live): void {
  const train = live.merge;
  if (train === null || live.halting !== null) return;
  const next = nextCar(draft.state, live);
  if (next === null) verifyTrain(draft, live);
  else compute(draft, live, next, train.cars.at(-1)?.to ?? null);
}

/** The task stays at the head of the queue, for a bounded time; the user is told once. */
function hold(draft: Draft, live: Live, node: TaskNode, text: string): void {
  const times = (live.mergeHold?.times ?? 0) + 1;
  if (times > MERGE_HOLDS_MAX) {
    live.mergeHold = null;
    leaveQueue(live, node.spec.id);
    fail(draft, live, node, { kind: 'merge', text: `it could not be merged: ${text}` });
    return;
  }
  if (live.mergeHold?.text !== text) {
    draft.about('msg').notice({
      to: USER,
      lane: 'normal',
      type: 'chat.message',
      body: {
        text: `Merging ${node.spec.id} waits, and is tried again every few seconds: ${text}`,
      },
    });
  }
  live.mergeHold = { text, waiting: true, times };
}

/** The next gate on the commit that holds as many as are verified together, or their landing. */
function verifyTrain(draft: Draft, live: Live): void {
  const train = live.merge;
  // A stop begins nothing new: the merge is computed again in the next term.
  if (train === null || live.halting !== null) return;
  const [head] = train.cars;
  const commit = train.cars[train.count - 1]?.to;
  if (head === undefined || commit === undefined) return;
  const gate = draft.state.file.team.merge.verify[train.progress.index];
  if (gate === undefined || gate.kind !== 'command') {
    land(draft, live, train);
    return;
  }
  const proc = draft.nextProc();
  const { task, fence } = head;
  live.taskOps.set(task, 'gate');
  live.commands.set(proc, { kind: 'gate', task, fence, stage: 'merge', gate: gate.run });
  draft.about('proc').proc({
    type: 'proc.started',
    id: proc,
    command: gate.run,
    cwd: '',
    actor: null,
    task,
  });
  draft.effect({
    type: 'command.start',
    id: proc,
    command: gate.run,
    by: 'team',
    place: { kind: 'scratch', commit },
    timeoutMs: gate.timeoutMs,
    tailOnly: true,
  });
}

/** W5: the intents of all that land together are one record, and one move of the ref carries them out. */
function land(draft: Draft, live: Live, train: MergeTrain): void {
  const cars = train.cars.slice(0, train.count);
  const [first] = cars;
  const last = cars.at(-1);
  if (first === undefined || last === undefined) return;
  live.taskOps.set(first.task, 'advance');
  draft.about('git');
  for (const { task, from, to } of cars) draft.task({ type: 'task.merging', id: task, from, to });
  draft.effect({ type: 'ref.advance', task: first.task, from: first.from, to: last.to });
}

export function mergeGateEnded(
  draft: Draft,
  live: Live,
  what: { readonly node: TaskNode; readonly outcome: CommandOutcome; readonly id: ProcId },
): void {
  const { outcome, id } = what;
  const train = live.merge;
  const gate =
    train === null ? undefined : draft.state.file.team.merge.verify[train.progress.index];
  if (train === null || gate === undefined || gate.kind !== 'command') return;
  const verdict = verdictOf(train.progress, gate, outcome);
  if (verdict === null) {
    verifyTrain(draft, live);
  } else if (verdict.ok) {
    const cars = train.cars.slice(0, train.count);
    const evidence = evidenceOf({ gate, outcome, id, tries: verdict.tries }, cars.at(-1));
    for (const { task } of cars) draft.task({ ...evidence, id: task });
    toNextGate(train.progress);
    verifyTrain(draft, live);
  } else {
    noteFailure(train, { gate, outcome, id, tries: verdict.tries });
    if (train.failed?.count === 1) sendBack(draft, live, train);
    else verifyTrain(draft, live);
  }
}

type Evidence = Extract<TaskChange, { type: 'task.gate' }>;

function evidenceOf(failure: GateRun, car: MergeCar | undefined): Omit<Evidence, 'id'> {
  const { gate, outcome, id, tries } = failure;
  const { code: exit } = outcome;
  const ok = succeeded(outcome);
  const commit = car?.to ?? null;
  return { type: 'task.gate', gate: gate.run, stage: 'merge', commit, ok, tries, exit, output: id };
}

/** All before it are known to be good: it is this one. What was merged on top of it is merged anew. */
function sendBack(draft: Draft, live: Live, train: MergeTrain): void {
  const [car] = train.cars;
  const { failed } = train;
  live.merge = null;
  const node = car === undefined ? undefined : draft.state.graph.nodes.get(car.task);
  if (car === undefined || node === undefined || failed === null) return;
  leaveQueue(live, car.task);
  if (node.state !== 'merging' || node.fence !== car.fence) return;
  draft.task({ ...evidenceOf(failed, car), id: car.task });
  const { gate, outcome } = failed;
  endByGate(draft, live, { node, gate, outcome, who: 'On the merged tree, the gate' });
}

export function refAdvanced(
  state: RunState,
  live: Live,
  happening: Happening,
  event: { task: TaskId; to: string; outcome: AdvanceOutcome },
): Draft {
  const draft = new Draft(state, happening).about('git');
  const node = state.graph.nodes.get(event.task);
  // Of an intent that is void; the one that stands is still being carried out.
  if (node?.state === 'merging' && !isIntended(state, node, event.to)) return draft;
  opEnded(live, event.task);
  if (node === undefined || node.state !== 'merging') {
    live.merge = null;
    leaveQueue(live, event.task);
    return draft;
  }
  if (event.outcome.kind === 'blocked') {
    // The intent stands; it is carried out, or found void, with the next sweep.
    live.merge = null;
    hold(draft, live, node, event.outcome.text);
    return draft;
  }
  if (event.outcome.kind === 'stale') {
    // W6: the same task stays at the head and is computed again on what is there now.
    live.merge = null;
    compute(draft, live, node);
    return draft;
  }
  landed(draft, live, chainOf(state, node, event.to));
  if (live.merge?.failed?.count === 1) sendBack(draft, live, live.merge);
  else if (live.merge !== null) verifyTrain(draft, live);
  return draft;
}

function landed(draft: Draft, live: Live, nodes: readonly TaskNode[]): void {
  live.mergeHold = null;
  for (const node of nodes) {
    const to = node.merging?.to ?? live.tip;
    leaveQueue(live, node.spec.id);
    live.tip = to;
    finish(draft, live, node, to);
  }
  if (live.merge !== null && !uncouple(live.merge, nodes.length)) live.merge = null;
  if (live.view === 'ready') live.viewStale = true;
}

function leaveQueue(live: Live, id: TaskId): void {
  const index = live.mergeQueue.indexOf(id);
  if (index >= 0) live.mergeQueue.splice(index, 1);
}
