/** A job that outlives its run was written down in the workspace, or was not: its actor hears of it. */
import { Draft } from '../draft.ts';
import type { Happening, RunEvent } from '../inbox.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { finishAct } from './results.ts';

export function jobEdited(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'cron.edited' }>,
): Draft {
  const draft = new Draft(state, happening);
  const { call, ok, text } = event;
  const act = live.acts.get(call);
  const job = live.jobs.asked.get(call);
  live.acts.delete(call);
  live.jobs.asked.delete(call);
  if (state.run.ended !== null) return draft;
  if (ok && job !== undefined) {
    draft.about('msg');
    if (event.removed) draft.cron({ type: 'cron.ended', name: job.name, reason: 'cancelled' });
    else draft.cron({ type: 'cron.added', job });
  }
  const actor = act === undefined ? undefined : live.actors.get(act.name);
  if (act === undefined || actor?.incarnation !== act.incarnation) return draft;
  return finishAct({ actor, request: act.request }, draft, act, { ok, text });
}
