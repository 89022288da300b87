/** The end of an actor that was stopped on purpose: durable, so that no restart brings it back (design §6). */
import { actorOf } from '../../actors/index.ts';
import { type ActorName, LEAD, USER } from '../../kernel/index.ts';
import { unread } from '../../mailbox/index.ts';
import type { Draft } from '../draft.ts';
import type { Live } from '../live.ts';
import { mayRun, noticeTarget } from './roster.ts';
import { endAttempt } from './task-ends.ts';

/** The durable end of a stopped actor: claim released, unread mail parked and told (M6). */
export function endStopped(
  draft: Draft,
  live: Live,
  who: {
    readonly name: ActorName;
    readonly incarnation: number;
    readonly text: string;
    /** It has spent what it had: its attempt is charged. */
    readonly reason?: 'budget';
  },
): void {
  const { state } = draft;
  const { name, incarnation, text } = who;
  const facts = actorOf(state.actors, name);
  draft.about('sup');
  live.wake.delete(name);
  live.resting.delete(name);
  // Who died and was to be started again is not.
  if (facts !== null && (facts.phase.kind !== 'ended' || facts.phase.end.kind === 'crashed')) {
    draft.actor({ type: 'actor.ended', name, incarnation, end: { kind: 'stopped', text } });
  }
  const held = state.claims.get(name);
  const node = held === undefined ? undefined : state.graph.nodes.get(held);
  if (node !== undefined) {
    live.dirty.add(node.spec.id);
    endAttempt(draft, live, {
      node,
      counts: who.reason === undefined ? 'nothing' : 'attempt',
      reason: { kind: who.reason ?? 'agent', ref: name, text: `${name} was ${text}` },
      rework: null,
    });
  }
  const parked = parkUnread(draft, name, `${name} is stopped`);
  const target = name === LEAD ? USER : noticeTarget(state);
  draft.notice({
    to: target,
    lane: 'normal',
    type: 'actor.died',
    body: { text: `${name} was ${text}.`, actor: name, parked },
  });
  tellParent(draft, live, { name, told: target, text: `${name} was ${text}.` });
  live.mailDirty.add(target);
}

/** Who brought an actor in hears of its end, once: not when the notice went to it anyway. */
export function tellParent(
  draft: Draft,
  live: Live,
  end: { readonly name: ActorName; readonly told: ActorName; readonly text: string },
): void {
  const { state, happening } = draft;
  const { name, told, text } = end;
  const parent = actorOf(state.actors, actorOf(state.actors, name)?.parent ?? '');
  if (parent === null || parent.name === told || parent.kind === 'subagent') return;
  if (!mayRun(state, parent, happening.now)) return;
  draft.notice({
    to: parent.name,
    lane: 'normal',
    type: 'actor.died',
    body: { text, actor: name },
  });
  live.mailDirty.add(parent.name);
}

/** Mail that nobody will read becomes dead letters, which are shown (M6); returns how many. */
export function parkUnread(draft: Draft, name: ActorName, reason: string): number {
  const parked = unread(draft.state.mail, name);
  if (parked.length > 0) {
    draft.dead(
      name,
      parked.map(({ n, id }) => ({ n, id, what: 'dead' as const, reason })),
    );
  }
  return parked.length;
}
