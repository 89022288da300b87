/** Why tasks and actors do not move, from the journal, with or without a supervisor. */
import type { WhyRow } from '../protocol/shapes.ts';
import { type Liveness, type RunState, whyRows } from '../supervisor/index.ts';
import { errors } from './errors.ts';
import type { RunView } from './queries.ts';

/** All that waits; with `about` only the task or actor of this name. Throws when there is none. */
export function whyOf({ state, liveness, redactor }: RunView, about?: string): WhyRow[] {
  return redactor.data(reasons(state, liveness, about));
}

export function reasons(state: RunState, liveness: Liveness, about: string | undefined): WhyRow[] {
  const known = [...state.graph.nodes.keys(), ...state.actors.byName.keys()];
  if (about !== undefined && !known.some((name) => name === about)) {
    throw errors.unknownTaskOrActor(about, known);
  }
  return whyRows(state, liveness, about);
}
