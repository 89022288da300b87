/**
 * The last part of stopping an actor: saying so.
 *
 * Invariant
 * - S4 Whoever stopped an actor is answered only when its thread, those that worked for it and every process of theirs are gone.
 */
import type { ActorName } from '../../kernel/index.ts';
import { Draft } from '../draft.ts';
import type { Happening } from '../inbox.ts';
import type { CommandPurpose, Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { placeHolder } from './roster.ts';

/** Answers those for whom a stop is over; null when there is nobody. */
export function answerStopped(state: RunState, live: Live, happening: Happening): Draft | null {
  for (const [name, tokens] of live.stops) {
    if (isThere(state, live, name)) continue;
    live.stops.delete(name);
    const draft = new Draft(state, happening);
    for (const token of tokens) draft.effect({ type: 'answer', token, value: { name } });
    return draft;
  }
  return null;
}

function isThere(state: RunState, live: Live, name: ActorName): boolean {
  const isOf = (who: ActorName): boolean => who === name || placeHolder(state, who) === name;
  for (const who of live.actors.keys()) if (isOf(who)) return true;
  for (const [id, purpose] of live.commands) {
    const who = ownerOf(state, id, purpose);
    if (who !== null && isOf(who)) return true;
  }
  return false;
}

function ownerOf(
  state: RunState,
  id: Parameters<Live['commands']['get']>[0],
  purpose: CommandPurpose,
): ActorName | null {
  if (purpose.kind === 'bash') return purpose.act.name;
  return purpose.kind === 'background' ? (state.background.get(id)?.actor ?? null) : null;
}
