/**
 * The view: one read-only tree of the integration branch, for actors without a task. It is made when the first one needs
 * it, follows each merge, and goes before the run ends.
 */
import { actorOf } from '../../actors/index.ts';
import { type ActorName, USER } from '../../kernel/index.ts';
import { hasUnread } from '../../mailbox/index.ts';
import { Draft } from '../draft.ts';
import type { Happening, TreeOutcome } from '../inbox.ts';
import { VIEW_TRIES } from '../limits.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { endStopped } from './ends.ts';
import { VIEW } from './roster.ts';

/** Asks for the view on behalf of an actor that has no place to work; null when it is on its way, or cannot be had. */
export function needView(
  state: RunState,
  live: Live,
  happening: Happening,
  name: ActorName,
): Draft | null {
  // A task of its own is being prepared: its tree is the place, and its letter comes with it.
  if (state.claims.has(name) || live.view === 'preparing' || live.view === 'failed') return null;
  return prepare(state, live, happening);
}

function prepare(state: RunState, live: Live, happening: Happening): Draft {
  live.view = 'preparing';
  return new Draft(state, happening).effect({
    type: 'view.prepare',
    path: `${state.file.treesRoot}/${VIEW}`,
  });
}

/** After each merge the view follows the integration branch (design §6). */
export function refreshView(state: RunState, live: Live, happening: Happening): Draft | null {
  if (!live.viewStale || live.view !== 'ready') return null;
  live.viewStale = false;
  return prepare(state, live, happening);
}

export function viewReady(
  state: RunState,
  live: Live,
  happening: Happening,
  outcome: TreeOutcome,
): Draft {
  const draft = new Draft(state, happening).about('git');
  for (const name of state.actors.byName.keys()) live.mailDirty.add(name);
  if (outcome.kind === 'failed') return viewFailed(draft, live, outcome.text);
  live.view = 'ready';
  live.viewFailures = 0;
  if (state.trees.get(VIEW)?.commit === outcome.start) return draft;
  return draft.tree({
    type: 'tree.added',
    owner: VIEW,
    path: outcome.path,
    branch: null,
    commit: outcome.start,
  });
}

/** Tried again a bounded number of times; then those that wait for it end by name, so that the run does not wait for ever. */
function viewFailed(draft: Draft, live: Live, text: string): Draft {
  live.viewFailures += 1;
  live.view = live.viewFailures < VIEW_TRIES ? 'none' : 'failed';
  if (live.view === 'none') return draft;
  const { state } = draft;
  for (const name of state.actors.byName.keys()) {
    const facts = actorOf(state.actors, name);
    const waits = hasUnread(state.mail, name) || live.wake.has(name);
    if (facts === null || facts.phase.kind === 'ended' || facts.kind === 'subagent') continue;
    if (!waits || live.actors.has(name) || state.claims.has(name)) continue;
    live.wake.delete(name);
    const why = `ended, because it has no tree to work in: ${text}`;
    endStopped(draft, live, { name, incarnation: facts.incarnation, text: why });
  }
  draft.notice({
    to: USER,
    lane: 'normal',
    type: 'chat.message',
    body: { text: `The view of the integration branch could not be made: ${text}` },
  });
  return draft;
}
