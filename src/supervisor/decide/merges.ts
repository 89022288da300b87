/**
 * The merge queue: one task at a time, on trees and not on checkouts. Compute the merge, run `merge.verify` on the merged
 * commit, record the intent, move the ref with its old value, record the end (design §8).
 *
 * Invariants
 * - W5 The intent is durable before the ref moves; whoever takes the run up again compares the ref with both ends.
 * - W6 A ref that moved under us means: start over. Nothing is half merged, nothing is lost.
 */
import { type ProcId, type TaskId, USER } from '../../kernel/index.ts';
import type { TaskNode } from '../../tasks/index.ts';
import { Draft } from '../draft.ts';
import type { AdvanceOutcome, CommandOutcome, Happening, MergeOutcome } from '../inbox.ts';
import { MERGE_HOLDS_MAX } from '../limits.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { clip } from '../text.ts';
import { endByGate, toNextGate, verdictOf } from './gates.ts';
import { headOfMerges } from './replay-order.ts';
import { endAttempt, fail, finish } from './task-ends.ts';

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
    draft.effect({ type: 'ref.advance', task: id, ...node.merging });
    return draft;
  }
  compute(draft, live, node);
  return draft;
}

function compute(draft: Draft, live: Live, node: TaskNode): void {
  const task = node.spec.id;
  live.taskOps.set(task, 'merge');
  draft.effect({
    type: 'merge.compute',
    task,
    fence: node.fence,
    commit: node.commit ?? '',
    message: `Merge ${task}: ${node.spec.title}`,
  });
}

export function mergeComputed(
  state: RunState,
  live: Live,
  happening: Happening,
  event: { task: TaskId; fence: number; outcome: MergeOutcome },
): Draft {
  const draft = new Draft(state, happening).about('git');
  live.taskOps.delete(event.task);
  const node = state.graph.nodes.get(event.task);
  if (node === undefined || node.state !== 'merging' || node.fence !== event.fence) {
    leaveQueue(live, event.task);
    return draft;
  }
  const { outcome } = event;
  switch (outcome.kind) {
    case 'nothing':
      leaveQueue(live, event.task);
      finish(draft, live, node, outcome.at);
      return draft;
    case 'conflict':
      leaveQueue(live, event.task);
      endAttempt(draft, live, {
        node,
        counts: 'conflict',
        reason: { kind: 'conflict', text: clip(outcome.text, 400) },
        rework: outcome.text,
      });
      return draft;
    case 'blocked':
      hold(draft, live, node, outcome.text);
      return draft;
    case 'failed':
      leaveQueue(live, event.task);
      endAttempt(draft, live, {
        node,
        counts: 'attempt',
        reason: { kind: 'merge', text: outcome.text },
        rework: outcome.text,
      });
      return draft;
    case 'merged':
      live.mergeHold = null;
      live.merge = {
        task: event.task,
        from: outcome.from,
        to: outcome.to,
        progress: { commit: outcome.to, index: 0, tries: 0 },
      };
      continueMerge(draft, live, node);
      return draft;
  }
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

/** The next gate on the merged commit, or the intent and the move of the ref. */
function continueMerge(draft: Draft, live: Live, node: TaskNode): void {
  const merge = live.merge;
  // A stop begins nothing new: the merge is computed again in the next term.
  if (merge === null || live.halting !== null) return;
  const id = node.spec.id;
  const gate = draft.state.file.team.merge.verify[merge.progress.index];
  if (gate !== undefined && gate.kind === 'command') {
    const proc = draft.nextProc();
    live.taskOps.set(id, 'gate');
    live.commands.set(proc, {
      kind: 'gate',
      task: id,
      fence: node.fence,
      stage: 'merge',
      gate: gate.run,
    });
    draft.about('proc').proc({
      type: 'proc.started',
      id: proc,
      command: gate.run,
      cwd: '',
      actor: null,
      task: id,
    });
    draft.effect({
      type: 'command.start',
      id: proc,
      command: gate.run,
      by: 'team',
      place: { kind: 'scratch', commit: merge.to },
      timeoutMs: gate.timeoutMs,
      tailOnly: true,
    });
    return;
  }
  live.merge = null;
  live.taskOps.set(id, 'advance');
  draft.about('git').task({ type: 'task.merging', id, from: merge.from, to: merge.to });
  draft.effect({ type: 'ref.advance', task: id, from: merge.from, to: merge.to });
}

export function mergeGateEnded(
  draft: Draft,
  live: Live,
  what: { readonly node: TaskNode; readonly outcome: CommandOutcome; readonly id: ProcId },
): void {
  const { node, outcome } = what;
  const merge = live.merge;
  const gate =
    merge === null ? undefined : draft.state.file.team.merge.verify[merge.progress.index];
  if (merge === null || gate === undefined || gate.kind !== 'command') return;
  const verdict = verdictOf(merge.progress, gate, outcome);
  if (verdict !== null) {
    draft.task({
      type: 'task.gate',
      id: node.spec.id,
      gate: gate.run,
      stage: 'merge',
      commit: merge.to,
      ...verdict,
      exit: outcome.code,
      output: what.id,
    });
    if (!verdict.ok) {
      live.merge = null;
      leaveQueue(live, node.spec.id);
      endByGate(draft, live, { node, gate, outcome, who: 'On the merged tree, the gate' });
      return;
    }
    toNextGate(merge.progress);
  }
  continueMerge(draft, live, node);
}

export function refAdvanced(
  state: RunState,
  live: Live,
  happening: Happening,
  event: { task: TaskId; to: string; outcome: AdvanceOutcome },
): Draft {
  const draft = new Draft(state, happening).about('git');
  live.taskOps.delete(event.task);
  const node = state.graph.nodes.get(event.task);
  if (node === undefined || node.state !== 'merging') {
    leaveQueue(live, event.task);
    return draft;
  }
  if (event.outcome.kind === 'blocked') {
    // The intent stands; it is carried out, or found void, with the next sweep.
    hold(draft, live, node, event.outcome.text);
    return draft;
  }
  if (event.outcome.kind === 'stale') {
    // W6: the same task stays at the head and is computed again on what is there now.
    compute(draft, live, node);
    return draft;
  }
  live.mergeHold = null;
  leaveQueue(live, event.task);
  live.tip = event.to;
  finish(draft, live, node, event.to);
  if (live.view === 'ready') live.viewStale = true;
  return draft;
}

function leaveQueue(live: Live, id: TaskId): void {
  const index = live.mergeQueue.indexOf(id);
  if (index >= 0) live.mergeQueue.splice(index, 1);
}
