/**
 * Mail on its way: who can be written to, what is handed to a thread, what wakes an actor. Nothing polls: a mailbox that
 * changed is in `live.mailDirty` until it was looked at (M5).
 */
import { actorOf } from '../../actors/index.ts';
import { type ActorName, EXIT, LEAD, SUPERVISOR, toErrorShape, USER } from '../../kernel/index.ts';
import {
  checkSend,
  type Directory,
  deadLetters,
  deliverable,
  HandedOut,
  hasUnread,
  type MailSender,
  sendError,
} from '../../mailbox/index.ts';
import type { Mail, MailDraft } from '../../protocol/index.ts';
import { Draft } from '../draft.ts';
import type { Happening, RunEvent } from '../inbox.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { startActor, startNumbers } from './actors.ts';
import { unpause } from './asks/end.ts';
import { interruptActs } from './commands.ts';
import { tellCompaction } from './context.ts';
import { isolated } from './poison.ts';
import { mustRest } from './restarts.ts';
import { mayRun, noticeTarget, workplaceOf } from './roster.ts';
import { needView } from './view.ts';

export function directoryOf(state: RunState, nowMs: number): Directory {
  return {
    known: [...state.actors.byName.keys(), USER, SUPERVISOR],
    live: (name) => {
      if (name === USER || name === SUPERVISOR) return 'live';
      const actor = actorOf(state.actors, name);
      if (actor === null) return 'unknown';
      return mayRun(state, actor, nowMs) ? 'live' : 'stopped';
    },
  };
}

/** Mail from the user, by a client or from the spool. */
export function decideSend(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'send' }>,
): Draft {
  const draft = new Draft(state, happening).about('msg');
  if (live.full !== null) {
    return draft.effect({ type: 'refuse', token: event.token, error: live.full.error });
  }
  const mail: MailDraft = {
    to: event.to,
    lane: event.lane,
    type: event.cron === undefined ? 'chat.message' : 'cron.fired',
    body: { text: event.text, ...event.cron, ...event.payload },
  };
  if (event.to === EVERYBODY) {
    const names = broadcast(draft, live, { from: draft.user(), draft: mail });
    const value = { n: 0, id: '', state: 'accepted', to: names };
    return draft.effect({ type: 'answer', token: event.token, value });
  }
  const check = checkSend(state.mail, mail, directoryOf(state, happening.now), {
    from: USER,
    ...(event.id === null ? {} : { id: event.id }),
  });
  if (check.kind === 'duplicate') {
    return draft.effect({
      type: 'answer',
      token: event.token,
      value: { state: 'accepted', dup: true },
    });
  }
  if (check.kind === 'unknown' || check.kind === 'full') {
    const { token } = event;
    return draft.effect({ type: 'refuse', token, error: toErrorShape(sendError(event.to, check)) });
  }
  const sent = draft.send(mail, draft.user(), event.id ?? undefined);
  const n = (state.mail.boxes.get(event.to)?.last ?? 0) + 1;
  if (check.kind === 'stopped') park(draft, live, { sent, n });
  else live.mailDirty.add(sent.to);
  return draft.effect({
    type: 'answer',
    token: event.token,
    value: { n, id: sent.id, state: check.kind === 'stopped' ? 'dead' : 'accepted' },
  });
}

/** Mail to someone who is stopped is recorded, parked as a dead letter, and told to the lead with the reason (M6). */
export function park(
  draft: Draft,
  live: Live,
  letter: { readonly sent: Mail; readonly n: number },
): void {
  const { sent, n } = letter;
  const reason = `${sent.to} is stopped`;
  draft.dead(sent.to, [{ n, id: sent.id, what: 'dead', reason }]);
  const target = noticeTarget(draft.state);
  if (target === USER || target === sent.from) return;
  draft.notice({
    to: target,
    lane: 'normal',
    type: 'mail.dead',
    body: {
      text: `Mail from ${sent.from} to ${sent.to} could not be delivered: ${reason}. It said: ${sent.body.text}`,
    },
  });
  live.mailDirty.add(target);
}

/** Mail to everybody but its sender who can still read: one record (mailbox.md §3.11). */
export function broadcast(
  draft: Draft,
  live: Live,
  mail: { readonly from: MailSender; readonly draft: MailDraft },
): ActorName[] {
  const { state, happening } = draft;
  const names: ActorName[] = [];
  for (const actor of state.actors.byName.values()) {
    if (actor.kind === 'subagent' || actor.name === mail.from.name) continue;
    if (!mayRun(state, actor, happening.now)) continue;
    const check = checkSend(
      state.mail,
      { ...mail.draft, to: actor.name },
      directoryOf(state, happening.now),
      { from: mail.from.name },
    );
    if (check.kind !== 'ok') continue;
    draft.send({ ...mail.draft, to: actor.name }, mail.from);
    live.mailDirty.add(actor.name);
    names.push(actor.name);
  }
  return names;
}

/** Name of everybody, as a recipient. */
export const EVERYBODY = 'all';

/** A person retries or drops a dead letter. */
export function settleDead(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'mail.settle' }>,
): Draft {
  const draft = new Draft(state, happening).about('dead');
  const { token, what } = event;
  if (live.full !== null && what === 'retried') {
    return draft.effect({ type: 'refuse', token, error: live.full.error });
  }
  const letters = deadLetters(state.mail).filter((one) => one.envelope.id === event.id);
  const letter = letters[0];
  if (letter === undefined) {
    return draft.effect({
      type: 'refuse',
      token,
      error: {
        code: 'mailbox/no-dead-letter',
        message: `There is no dead letter "${event.id}" in this run`,
        hint: 'See `troupe mail dead`.',
        exit: EXIT.notFound,
      },
    });
  }
  const { to, n, id } = letter.envelope;
  const facts = actorOf(state.actors, to);
  if (what === 'retried' && (facts === null || !mayRun(state, facts, happening.now))) {
    return draft.effect({
      type: 'refuse',
      token,
      error: {
        code: 'mailbox/stopped',
        message: `${to} is stopped, so the letter cannot be delivered`,
        hint: 'Drop it with `troupe mail drop`, or send its text to somebody else.',
      },
    });
  }
  draft.dead(to, [{ n, id, what, reason: `${what} by the user` }]);
  if (what === 'retried') {
    // The thread was given it before it died: it is to be given once more.
    live.actors.get(to)?.posted.delete(n);
    live.retries.get(to)?.delete(n);
    live.mailDirty.add(to);
  }
  return draft.effect({ type: 'answer', token, value: { to, n, id, what } });
}

/** Hands what is new to one actor's thread, or starts a thread for it; null when nothing is to be done for anybody. */
export function deliverNext(state: RunState, live: Live, happening: Happening): Draft | null {
  for (const name of live.mailDirty) {
    live.mailDirty.delete(name);
    const draft = deliverTo(state, live, happening, name);
    if (draft !== null) return draft;
  }
  return null;
}

function deliverTo(
  state: RunState,
  live: Live,
  happening: Happening,
  name: ActorName,
): Draft | null {
  const facts = actorOf(state.actors, name);
  if (facts === null || facts.kind === 'subagent') return null;
  const actor = live.actors.get(name);
  if (actor === undefined) {
    if (!hasUnread(state.mail, name) || !mayRun(state, facts, happening.now)) return null;
    if (mustRest(live, name, happening.monotonicMs)) return null;
    if (!isAnythingDue(state, live, happening, name)) return null;
    if (workplaceOf(state, name) === null) {
      // Without a tree there is no place to work in: wait for the view, or for the task's tree.
      return needView(state, live, happening, name);
    }
    const draft = new Draft(state, happening);
    startActor(draft, live, { ...facts, ...startNumbers(state, name), prompt: null });
    live.mailDirty.add(name);
    return draft;
  }
  // A10: it waits for the end of the thread.
  if (actor.doom?.kind === 'passivated') return null;
  if (live.compactions.has(name)) {
    const draft = new Draft(state, happening);
    tellCompaction(draft, live, actor);
    live.mailDirty.add(name);
    return draft;
  }
  const unposted = deliverable(state.mail, name, { nowMs: happening.now, except: actor.posted });
  const fresh = isolated(state, { live, now: happening.monotonicMs, actor }, unposted);
  if (fresh.length === 0) return null;
  const draft = new Draft(state, happening);
  for (const { n } of fresh) {
    actor.posted.add(n);
    live.retries.get(name)?.delete(n);
  }
  actor.quietAt = happening.monotonicMs;
  const workplace = workplaceOf(state, name);
  draft.effect({
    type: 'actor.post',
    name,
    incarnation: actor.incarnation,
    messages: [{ type: 'mail', envelopes: fresh, ...(workplace === null ? {} : { workplace }) }],
  });
  if (fresh.some(({ from }) => from === USER || from === LEAD)) unpause(draft, live, name);
  // What mail cut in a recording is cut there, not by when the same mail comes now.
  if (state.file.replay !== undefined) return draft;
  if (fresh.some((envelope) => envelope.lane === 'interrupt' || envelope.lane === 'control')) {
    interruptActs(draft, live, name);
    draft.effect({ type: 'actor.interrupt', name, incarnation: actor.incarnation });
  }
  return draft;
}

/** Mail that has to wait before it is given again is no reason for a thread. */
function isAnythingDue(
  state: RunState,
  live: Live,
  happening: Happening,
  name: ActorName,
): boolean {
  if (!live.retries.has(name)) return true;
  const actor = { name, posted: new HandedOut() };
  const all = deliverable(state.mail, name, { nowMs: happening.now });
  return isolated(state, { live, now: happening.monotonicMs, actor }, all).length > 0;
}
