/**
 * Of a run that is played from a recording: what the runtime is free to choose is chosen as it was then, so that each
 * actor meets the tree and the letters that its recorded answers are about. Pure, over facts alone.
 *
 * Invariants
 * - S12 No claim, tree or merge of the recording comes before one that was recorded before it. What the recording does not
 *   know is free.
 */
import type { TaskId } from '../../kernel/index.ts';
import type { OrderedFact } from '../../protocol/index.ts';
import type { TaskNode } from '../../tasks/index.ts';
import type { Draft } from '../draft.ts';
import type { Happening } from '../inbox.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';

/** Code of the first request that differs from its recording: the run ends with it. */
export const REPLAY_DIFFERS = 'replay/differs';

type Fact = OrderedFact['fact'];

/** Whether the next fact of this kind about the task may happen now. */
export function isItsTurn(state: RunState, fact: Fact, task: TaskId): boolean {
  const { replay } = state.file;
  if (replay === undefined) return true;
  const seen = new Map<string, number>();
  const wanted = (state.ordered.get(keyOf(fact, task)) ?? 0) + 1;
  for (const one of replay.order) {
    const key = keyOf(one.fact, one.task);
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    if (one.fact === fact && one.task === task && nth === wanted) return true;
    if (nth > (state.ordered.get(key) ?? 0))
      return isNoneLeft(replay.order, { fact, task, wanted });
  }
  return true;
}

function isNoneLeft(
  order: readonly OrderedFact[],
  { fact, task, wanted }: { readonly fact: Fact; readonly task: TaskId; readonly wanted: number },
): boolean {
  return order.filter((one) => one.fact === fact && one.task === task).length < wanted;
}

export interface ClaimTurn {
  readonly task: TaskId;
  readonly by: string;
}

/** The claim that is next: `free` when the recording has no more, null when something else comes first. */
export function claimTurn(state: RunState): ClaimTurn | 'free' | null {
  const { replay } = state.file;
  if (replay === undefined) return 'free';
  const seen = new Map<string, number>();
  for (const one of replay.order) {
    const key = keyOf(one.fact, one.task);
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    if (nth <= (state.ordered.get(key) ?? 0)) continue;
    return one.fact === 'claim' && one.act !== true ? { task: one.task, by: one.by } : null;
  }
  return 'free';
}

/** A claimed task whose tree had to wait for its turn; null when there is none. */
export function nextTree(
  state: RunState,
  live: Live,
  happening: Happening,
  advance: (state: RunState, live: Live, happening: Happening, id: TaskId) => Draft,
): Draft | null {
  if (state.file.replay === undefined) return null;
  for (const node of state.graph.nodes.values()) {
    if (!waitsForTree(live, node) || !isItsTurn(state, 'tree', node.spec.id)) continue;
    const draft = advance(state, live, happening, node.spec.id);
    if (!draft.empty) return draft;
  }
  return null;
}

function waitsForTree(live: Live, node: TaskNode): boolean {
  const id = node.spec.id;
  return node.state === 'running' && live.prepared.get(id) !== node.fence && !live.taskOps.has(id);
}

/** Brings the task that was merged next then to the head of the queue; false when it is not there yet. */
export function headOfMerges(state: RunState, live: Live): boolean {
  if (state.file.replay === undefined) return true;
  const at = live.mergeQueue.findIndex((id) => isItsTurn(state, 'end', id));
  if (at < 0) return false;
  const [id] = live.mergeQueue.splice(at, 1);
  if (id !== undefined) live.mergeQueue.unshift(id);
  return true;
}

const keyOf = (fact: Fact, task: TaskId): string => `${fact} ${task}`;
