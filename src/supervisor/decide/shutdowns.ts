/**
 * The shutdown handshake (design §6): request → answer → deadline → force. An actor answers with what it does: it ends
 * its turn (ready), goes on calling tools (working), or writes to the one who asked that it refuses.
 *
 * Invariants
 * - A9 Once it is ready or the time is over the stop is on record before the thread is ended, so that a restart ends it too.
 */
import { actorOf } from '../../actors/index.ts';
import type { ActorName } from '../../kernel/index.ts';
import { hasUnread, stateOf } from '../../mailbox/index.ts';
import type { AnswerStep, MailDraft } from '../../protocol/index.ts';
import type { Draft } from '../draft.ts';
import { STOP_GRACE_MS } from '../limits.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { openShutdown, type Shutdown } from '../teamwork.ts';
import type { Asking } from './asking.ts';
import { mayRun } from './roster.ts';

const REFUSES = /^\s*refused?\b/i;

/** Whether this message is a refusal of the shutdown that its receiver asked for. */
export function refusalIn(state: RunState, from: ActorName, mail: MailDraft): Shutdown | null {
  const asked = openShutdown(state.team, from);
  if (asked === null || asked.insists || mail.to !== asked.by) return null;
  if (asked.state !== 'asked' && asked.state !== 'working') return null;
  return REFUSES.test(mail.body.text) ? asked : null;
}

/** An answer with calls after the letter was taken in: it is still at work. Told once. */
export function noteWorking(asking: Asking, draft: Draft, step: AnswerStep): void {
  const { state, live, actor } = asking;
  const asked = openShutdown(state.team, actor.name);
  if (asked?.state !== 'asked' || !(step.took.includes(asked.n) || isSeen(state, asked))) return;
  const calls = step.entries.flatMap((entry) =>
    entry.type === 'answer' ? entry.content.filter((block) => block.type === 'call') : [],
  );
  // What it says with these speaks for itself.
  const says = calls.some(
    (call) => call.name === 'request_shutdown' || call.name === 'send_message',
  );
  if (calls.length === 0 || says) return;
  draft.team({
    type: 'shutdown.answered',
    id: asked.id,
    name: actor.name,
    answer: 'working',
  });
  live.askedAt.set(asked.id, draft.happening.monotonicMs);
  tellAsker(draft, live, asked, `${actor.name} is still at work, and ends when it is done.`);
}

/** It has taken the letter in and has nothing more to do. True: it is being ended. */
export function endIfReady(asking: Asking, draft: Draft): boolean {
  const { state, actor } = asking;
  const asked = openShutdown(state.team, actor.name);
  if (asked === null || (asked.state !== 'asked' && asked.state !== 'working')) return false;
  if (!isSeen(state, asked) || hasUnread(state.mail, actor.name)) return false;
  ready(asking, draft, asked);
  return true;
}

/** On record first, then the thread is ended; its end is recorded when it is gone. */
export function ready({ live, actor }: Asking, draft: Draft, asked: Shutdown): void {
  draft
    .about('sup', actor)
    .team({ type: 'shutdown.answered', id: asked.id, name: actor.name, answer: 'ready' });
  end(draft, live, asked, { text: endText(asked, 'it was ready'), graceMs: STOP_GRACE_MS });
}

/** The time is over. */
export function force(draft: Draft, live: Live, asked: Shutdown): void {
  draft.about('sup').team({ type: 'shutdown.forced', id: asked.id, name: asked.name });
  const why = asked.state === 'asked' ? 'it did not answer' : 'it was not done in time';
  end(draft, live, asked, { text: endText(asked, why), graceMs: 0 });
}

export function endText(asked: Shutdown, how: string): string {
  return `shut down as ${asked.by} asked (${asked.id}): ${how}`;
}

function end(
  draft: Draft,
  live: Live,
  asked: Shutdown,
  what: { readonly text: string; readonly graceMs: number },
): void {
  live.askedAt.delete(asked.id);
  const actor = live.actors.get(asked.name);
  // Without a thread there is nothing to wait for: `settleShutdowns` ends it.
  if (actor === undefined) return;
  actor.phase = 'stopping';
  actor.doom = { kind: 'stopped', text: what.text };
  const { name, incarnation } = actor;
  draft.effect({ type: 'actor.stop', name, incarnation, graceMs: what.graceMs });
}

function tellAsker(draft: Draft, live: Live, asked: Shutdown, text: string): void {
  const facts = actorOf(draft.state.actors, asked.by);
  if (facts === null || !mayRun(draft.state, facts, draft.happening.now)) return;
  draft.send(
    {
      to: asked.by,
      lane: 'normal',
      type: 'shutdown.answer',
      body: { text, shutdown: asked.id, answer: 'working' },
    },
    draft.sender(asked.name),
  );
  live.mailDirty.add(asked.by);
}

function isSeen(state: RunState, asked: Shutdown): boolean {
  return stateOf(state.mail, asked.name, asked.n) === 'seen';
}
