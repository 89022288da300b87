/**
 * A full disk (mailbox.md §3.2, line 8): new work is refused from the first sign on; what was begun is still recorded, for
 * which the journal has a reserve; then the run stops in order and is resumed when there is room.
 *
 * Invariants
 * - S7 On a full disk nothing is begun: no send, no call, no thread, no command, no further request to a model. What was
 *   begun before is on record: answers that come within `FULL_GRACE_MS`, then what an ordinary stop waits for.
 */
import { type ErrorShape, toErrorShape } from '../../kernel/index.ts';
import { Draft } from '../draft.ts';
import type { Effect } from '../effect.ts';
import type { Happening } from '../inbox.ts';
import { FULL_GRACE_MS, STOP_GRACE_MS } from '../limits.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import type { Act } from './acts/act.ts';
import type { Asking } from './asking.ts';
import { finishAct } from './results.ts';

/** On record; where, and what to do, is in the error that the run ends with. */
export const NO_SPACE_TEXT: string = 'stopped: no space is left on the disk';

/** With what to do about it, for the run. */
export function fullShape(error: Error, state: RunState): ErrorShape {
  const hint = `Free some space there, then \`troupe resume ${state.file.id}\`; nothing that was accepted is lost.`;
  return { ...toErrorShape(error), hint };
}

export function diskFull(
  state: RunState,
  live: Live,
  happening: Happening,
  error: ErrorShape,
): Draft {
  const draft = new Draft(state, happening);
  if (live.full !== null || state.run.ended !== null) return draft;
  live.full = { error, waits: true };
  live.halting ??= { next: 'interrupt', text: NO_SPACE_TEXT };
  return draft.effect({ type: 'halt', graceMs: FULL_GRACE_MS, forAnswers: true });
}

/** When no answer is under way any more, an ordinary stop; null before, and without a full disk. */
export function stopWhenAnswered(state: RunState, live: Live, happening: Happening): Draft | null {
  if (live.full?.waits !== true) return null;
  for (const actor of live.actors.values()) if (actor.phase === 'thinking') return null;
  live.full = { ...live.full, waits: false };
  return new Draft(state, happening).effect({ type: 'halt', graceMs: STOP_GRACE_MS });
}

/** A call is answered at once, so that its actor reads in the next term that nothing was done. */
export function refuseAct(asking: Asking, draft: Draft, act: Act, error: ErrorShape): Draft {
  const text = `Nothing was done: ${error.message} The run stops until there is room.`;
  return finishAct(asking, draft, act, { ok: false, text });
}

/** S7: who has the last result of its turn would ask its model again, so it is not told; the next term tells it. */
export function holdBack(live: Live, draft: Draft): Draft {
  if (live.full === null) return draft;
  const kept = draft.effects.filter((effect) => !isLastResult(draft, effect));
  draft.effects.splice(0, draft.effects.length, ...kept);
  return draft;
}

function isLastResult(draft: Draft, effect: Effect): boolean {
  if (effect.type !== 'reply') return false;
  const { type } = effect.reply;
  if (type !== 'acted' && type !== 'committed') return false;
  const open = new Set(draft.state.openCalls.get(effect.name)?.keys());
  for (const entry of draft.record()?.entries ?? []) {
    if (entry.type === 'answer') return false;
    if (entry.type === 'result') open.delete(entry.call);
  }
  return open.size === 0;
}
