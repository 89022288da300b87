/**
 * Letters at which an actor dies (mailbox.md §3.10). What was in its hands at a death is given to it alone next time, so
 * that at the second death it is known which one it was; that one is set aside, and the actor goes on with the rest.
 *
 * Invariants
 * - M9 A letter is given to at most `POISON_DEATHS` activations that die with it. Counted from records, so a restart of
 *   the supervisor forgives nothing. The supervisor's own letters are exempt: a task has its own bound of attempts.
 */
import { actorOf } from '../../actors/index.ts';
import { type ActorName, SUPERVISOR, USER } from '../../kernel/index.ts';
import { deathsWith, hasSuspects, stateOf, unread } from '../../mailbox/index.ts';
import type { Envelope, Lane } from '../../protocol/index.ts';
import type { Draft } from '../draft.ts';
import { NOTICE_QUOTE_CHARS, POISON_DEATHS } from '../limits.ts';
import type { Live, LiveActor } from '../live.ts';
import type { RunState } from '../state.ts';
import { clip } from '../text.ts';
import { mayRun } from './roster.ts';

/**
 * Mail that its thread was given and has not answered. A thread that died before its first sign of life had nothing in
 * hand: a start that fails is no letter's fault, and is bounded by the restart intensity.
 */
export function heldMail(state: RunState, actor: LiveActor): Envelope[] {
  const { name, posted, phase } = actor;
  return unread(state.mail, name).filter(
    ({ n, from }) =>
      posted.has(n) &&
      from !== SUPERVISOR &&
      (phase !== 'starting' || stateOf(state.mail, name, n) === 'delivered'),
  );
}

/** What may be handed over now: in a lane nothing goes beside or past a letter that was in hand at a death. */
export function isolated(
  state: RunState,
  actor: LiveActor,
  fresh: readonly Envelope[],
): readonly Envelope[] {
  const { name, posted } = actor;
  if (!hasSuspects(state.mail, name)) return fresh;
  const isSuspect = ({ n }: Envelope): boolean => deathsWith(state.mail, name, n) > 0;
  const closed = new Set<Lane>();
  for (const held of unread(state.mail, name)) {
    if (posted.has(held.n) && isSuspect(held)) closed.add(held.lane);
  }
  return fresh.filter((envelope) => {
    if (closed.has(envelope.lane)) return false;
    if (isSuspect(envelope)) closed.add(envelope.lane);
    return true;
  });
}

/** At a death, which is not on record yet: sets aside what was in hand at enough of them, told to sender and lead. */
export function quarantine(
  draft: Draft,
  live: Live,
  death: {
    readonly name: ActorName;
    readonly held: readonly Envelope[];
    readonly target: ActorName;
  },
): void {
  const { state } = draft;
  const { name, held, target } = death;
  const poison = held.filter(({ n }) => deathsWith(state.mail, name, n) + 1 >= POISON_DEATHS);
  if (poison.length === 0) return;
  const reason = `${name} died ${POISON_DEATHS} times with it in hand`;
  draft.dead(
    name,
    poison.map(({ n, id }) => ({ n, id, what: 'dead' as const, reason })),
  );
  for (const letter of poison) {
    for (const to of new Set([target, readerOf(draft, letter.from)])) {
      if (to === null) continue;
      // What killed one thread may kill the next: only a person is shown what it says.
      const quote = to === USER ? ` It began: ${clip(letter.body.text, NOTICE_QUOTE_CHARS)}` : '';
      draft.notice({
        to,
        lane: 'normal',
        type: 'mail.dead',
        body: {
          text: `Mail ${letter.id} from ${letter.from} to ${name} is kept as a dead letter: ${reason}.${quote}`,
          letter: letter.id,
        },
      });
      if (to !== USER) live.mailDirty.add(to);
    }
  }
}

/** The sender, if it can still read; null when it can't. */
function readerOf(draft: Draft, from: ActorName): ActorName | null {
  if (from === USER) return from;
  const facts = actorOf(draft.state.actors, from);
  if (facts === null || facts.kind === 'subagent') return null;
  return mayRun(draft.state, facts, draft.happening.now) ? from : null;
}
