/**
 * The policy of a run as it comes and goes: the snapshot that decisions are made by, told to everyone who decides.
 *
 * Invariants
 * - P20 A snapshot is never changed; a decision names the one it was made by.
 */
import { USER } from '../../kernel/index.ts';
import type { PolicySnapshot, RunChange } from '../../protocol/index.ts';
import { Draft } from '../draft.ts';
import type { Happening } from '../inbox.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { rulesFor } from './roster.ts';

/** For the first record of a term, and for each change after it. */
export function policyLoaded(
  { revision, layers }: PolicySnapshot,
  first: boolean,
): Extract<RunChange, { type: 'policy.loaded' }> {
  return {
    type: 'policy.loaded',
    revision,
    first,
    layers: layers.map(({ name, origin, hash, trusted, problem }) => ({
      name,
      origin,
      trusted,
      ...(hash === undefined ? {} : { hash }),
      ...(problem === undefined ? {} : { problem }),
    })),
  };
}

/** A file was changed, or a person trusted one. */
export function policyChanged(
  state: RunState,
  live: Live,
  happening: Happening,
  snapshot: PolicySnapshot,
): Draft {
  const draft = new Draft(state, happening);
  const before = live.policy;
  if (snapshot.revision === before?.revision || state.run.ended !== null) return draft;
  live.policy = snapshot;
  live.asksDirty = true;
  draft.about('perm').runChange(policyLoaded(snapshot, false));
  const known = new Set(
    before?.layers.map((layer) => `${layer.origin} ${layer.problem ?? ''}`) ?? [],
  );
  for (const { name, origin, problem } of snapshot.layers) {
    if (problem === undefined || known.has(`${origin} ${problem}`)) continue;
    const text = `${problem}. The rules of ${origin} stand as they were, and until it is mended they allow nothing by themselves.`;
    draft.runChange({ type: 'policy.alert', layer: name, origin, text: problem });
    draft.notice({ to: USER, lane: 'normal', type: 'chat.message', body: { text } });
  }
  for (const { name, incarnation } of live.actors.values()) {
    const permissions = rulesFor(state, live, name);
    const messages = [{ type: 'rules' as const, permissions }];
    draft.effect({ type: 'actor.post', name, incarnation, messages });
  }
  return draft;
}
