/**
 * Letters at which an actor dies (mailbox.md §3.10). What was in its hands at a death is given to it alone next time, so
 * that at the second death it is known which one it was; that one is set aside, and the actor goes on with the rest.
 *
 * Invariants
 * - M9 A letter is given to at most `POISON_DEATHS` activations that die with it. Counted from records, so a restart of
 *   the supervisor forgives nothing. The supervisor's own letters are exempt: a task has its own bound of attempts.
 * - M10 A letter is handed over at most `DELIVERIES_MAX` times without an answer, counting also terms that were cut (a thread
 *   can take the process with it). A stop in order counts for nothing, and after the first cut only those count in which
 *   the letter was in a request by the records: healthy mail survives any number of restarts that come before that.
 */
import { actorOf } from '../../actors/index.ts';
import { type ActorName, asActorName, SUPERVISOR, USER } from '../../kernel/index.ts';
import { cutsWith, deathsWith, hasSuspects, stateOf, unread } from '../../mailbox/index.ts';
import type { Envelope, Lane } from '../../protocol/index.ts';
import type { Draft } from '../draft.ts';
import {
  CUTS_ALONE,
  DELIVERIES_MAX,
  NOTICE_QUOTE_CHARS,
  POISON_DEATHS,
  RETRY_BASE_MS,
  RETRY_WAITS_FROM,
} from '../limits.ts';
import type { Live, LiveActor } from '../live.ts';
import type { RunState } from '../state.ts';
import { clip, jitterOf } from '../text.ts';
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

/** What was in each actor's hands when the last term was cut; nothing after a stop in order. */
export function cutShort(state: RunState): Held[] {
  if (state.run.interrupted !== null) return [];
  const found: Held[] = [];
  for (const name of state.mail.active) {
    const gave = state.mail.boxes.get(name)?.gave;
    const held = unread(state.mail, name).filter(
      ({ n, from }) =>
        from !== SUPERVISOR && (endsWith(state, name, n) === 0 || gave?.has(n) === true),
    );
    if (held.length > 0) found.push({ name: asActorName(name), held });
  }
  return found;
}

/** How many hand-overs of a letter ended without an answer. */
function endsWith(state: RunState, name: string, n: number): number {
  return deathsWith(state.mail, name, n) + cutsWith(state.mail, name, n);
}

/** Of mail that is in a request now: what had an end before, so that a cut of this term counts against it. */
export function suspectsAmong(
  state: RunState,
  name: string,
  positions: readonly number[],
): number[] {
  return positions.filter((n) => endsWith(state, name, n) > 0);
}

/** When what was in hand at an end, which is not on record yet, is given again: at once the first time, then after a while. */
export function retryLater(draft: Draft, live: Live, at: Held): void {
  const { state, happening } = draft;
  const due = live.retries.get(at.name) ?? new Map<number, number>();
  live.retries.set(at.name, due);
  for (const { n, id } of at.held) {
    const ends = endsWith(state, at.name, n) + 1;
    if (ends < RETRY_WAITS_FROM) continue;
    const doubled = RETRY_BASE_MS * 2 ** (ends - RETRY_WAITS_FROM);
    const ms = doubled * (1 + jitterOf(`${id} ${ends}`));
    due.set(n, happening.monotonicMs + ms);
    draft.effect({ type: 'mail.later', name: at.name, ms });
  }
}

function mustWait(
  live: Live,
  letter: { readonly name: ActorName; readonly n: number },
  now: number,
) {
  const due = live.retries.get(letter.name)?.get(letter.n);
  return due !== undefined && due > now;
}

/** What may be handed over now: in a lane nothing goes beside or past a letter that was in hand at a death. */
export function isolated(
  state: RunState,
  at: {
    readonly live: Live;
    readonly now: number;
    readonly actor: Pick<LiveActor, 'name' | 'posted'>;
  },
  fresh: readonly Envelope[],
): readonly Envelope[] {
  const { name, posted } = at.actor;
  if (!hasSuspects(state.mail, name)) return fresh;
  const isSuspect = ({ n }: Envelope): boolean =>
    deathsWith(state.mail, name, n) > 0 || cutsWith(state.mail, name, n) >= CUTS_ALONE;
  const closed = new Set<Lane>();
  for (const held of unread(state.mail, name)) {
    if (posted.has(held.n) && isSuspect(held)) closed.add(held.lane);
  }
  return fresh.filter((envelope) => {
    if (closed.has(envelope.lane)) return false;
    if (mustWait(at.live, { name, n: envelope.n }, at.now)) {
      closed.add(envelope.lane);
      return false;
    }
    if (isSuspect(envelope)) closed.add(envelope.lane);
    return true;
  });
}

interface Held {
  readonly name: ActorName;
  readonly held: readonly Envelope[];
}

/** Whether a letter in hand is set aside at this death. */
export function killsAgain(state: RunState, { name, held }: Held): boolean {
  return held.some(({ n }) => deathsWith(state.mail, name, n) + 1 >= POISON_DEATHS);
}

/** At an end, which is not on record yet: sets aside what was in hand at enough of them, told to sender and lead. */
export function quarantine(
  draft: Draft,
  live: Live,
  end: Held & { readonly target: ActorName; readonly by: 'death' | 'cut' },
): void {
  const { state } = draft;
  const { name, held, by } = end;
  const poison =
    by === 'cut'
      ? []
      : held.filter(({ n }) => deathsWith(state.mail, name, n) + 1 >= POISON_DEATHS);
  bury(draft, live, {
    ...end,
    held: poison,
    reason: `${name} died ${POISON_DEATHS} times with it in hand`,
  });
  const spent = held.filter(
    (letter) => !poison.includes(letter) && endsWith(state, name, letter.n) + 1 >= DELIVERIES_MAX,
  );
  const reason = `max-deliveries: given ${DELIVERIES_MAX} times, ${name} or the supervisor died each time`;
  bury(draft, live, { ...end, held: spent, reason });
}

function bury(
  draft: Draft,
  live: Live,
  grave: Held & { readonly target: ActorName; readonly reason: string },
): void {
  const { name, held, target, reason } = grave;
  if (held.length === 0) return;
  draft.dead(
    name,
    held.map(({ n, id }) => ({ n, id, what: 'dead' as const, reason })),
  );
  for (const letter of held) {
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
