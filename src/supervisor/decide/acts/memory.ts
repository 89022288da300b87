/** `memory_append`: recorded with its step, then kept for later runs. */
import type { Draft } from '../../draft.ts';
import { NOTES_MAX } from '../../limits.ts';
import type { Asking } from '../asking.ts';
import { finishAct } from '../results.ts';
import { type Act, type Input, text } from './act.ts';

export function memoryAppend(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, actor } = asking;
  if (state.notes.length >= NOTES_MAX) {
    const why = `this run has noted ${NOTES_MAX} facts, which is as many as one run may`;
    return finishAct(asking, draft, act, { ok: false, text: why });
  }
  const note = { id: `${state.file.id}-${act.call}`, by: actor.name, text: text(input, 'text') };
  draft.note(note);
  // What is played again was noted when it was recorded.
  if (state.file.replay === undefined) {
    draft.effect({ type: 'memory.keep', notes: [{ ...note, at: draft.at }] });
  }
  return finishAct(asking, draft, act, { ok: true, text: 'noted for later runs' });
}
