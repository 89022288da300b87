/** `request_shutdown`: of a member by the lead or who brought it in; of oneself, as the answer "ready". */
import { type Actor, actorOf } from '../../../actors/index.ts';
import { LEAD, nearMatches } from '../../../kernel/index.ts';
import { hasUnread } from '../../../mailbox/index.ts';
import type { Draft } from '../../draft.ts';
import { SHUTDOWN_ANSWER_MS, SHUTDOWN_WORK_MS } from '../../limits.ts';
import { openShutdown } from '../../teamwork.ts';
import type { Asking } from '../asking.ts';
import { endStopped } from '../ends.ts';
import { finishAct } from '../results.ts';
import { mayRun } from '../roster.ts';
import { ready } from '../shutdowns.ts';
import { type Act, type Input, text } from './act.ts';

export function requestShutdown(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, actor } = asking;
  const name = text(input, 'name');
  const refuse = (why: string): Draft => finishAct(asking, draft, act, { ok: false, text: why });
  if (name === actor.name) return ownEnd(asking, draft, act);
  const facts = actorOf(state.actors, name);
  if (facts === null) {
    const near = nearMatches(name, state.actors.byName.keys());
    const hint = near.length === 0 ? '' : `; did you mean ${near.join(' or ')}?`;
    return refuse(`nobody is called "${name}"${hint}`);
  }
  if (facts.name === LEAD) return refuse('only the user stops the lead');
  if (facts.parent !== actor.name && (actor.name !== LEAD || facts.kind === 'subagent')) {
    return refuse(`only the lead, or who brought ${name} in, may ask for its end`);
  }
  if (!mayRun(state, facts, asking.happening.now)) return refuse(`${name} is stopped already`);
  if (facts.kind === 'subagent') return stopSubagent(asking, draft, act, facts);
  const open = openShutdown(state.team, facts.name);
  if (open !== null)
    return refuse(`${name} is asked already (${open.id}); its answer comes by mail`);
  return ask(asking, draft, act, { facts, reason: text(input, 'reason') });
}

function ownEnd(asking: Asking, draft: Draft, act: Act): Draft {
  const asked = openShutdown(asking.state.team, asking.actor.name);
  if (asked === null) {
    const text = 'nobody asked you to shut down; when you have nothing to do, end your turn';
    return finishAct(asking, draft, act, { ok: false, text });
  }
  finishAct(asking, draft, act, { ok: true, text: 'You are shut down now.' });
  ready(asking, draft, asked);
  return draft;
}

function stopSubagent(asking: Asking, draft: Draft, act: Act, facts: Actor): Draft {
  const { name, incarnation } = facts;
  draft.effect({ type: 'actor.stop', name, incarnation, graceMs: 0 });
  return finishAct(asking, draft, act, { ok: true, text: `${name} is being stopped` });
}

function ask(
  asking: Asking,
  draft: Draft,
  act: Act,
  of: { readonly facts: Actor; readonly reason: string },
): Draft {
  const { state, live, actor, happening } = asking;
  const { facts, reason } = of;
  const { name, incarnation } = facts;
  const isAtWork = live.actors.has(name) || state.claims.has(name) || hasUnread(state.mail, name);
  if (!isAtWork) {
    endStopped(draft, live, { name, incarnation, text: `shut down as ${actor.name} asked` });
    return finishAct(asking, draft, act, {
      ok: true,
      text: `${name} was not at work; it is stopped`,
    });
  }
  const insists = state.team.shutdowns.get(name)?.state === 'refused';
  const id = `shutdown-${state.team.shutdownCount + 1}`;
  const because = reason === '' ? '.' : `: ${reason}`;
  const answerS = SHUTDOWN_ANSWER_MS / 1000;
  const workM = SHUTDOWN_WORK_MS / 60_000;
  const no = insists
    ? 'You refused before; this time you can not.'
    : `To refuse, send_message to ${actor.name} with a text that begins with "refused:" and says why.`;
  draft.send(
    {
      to: name,
      lane: 'control',
      type: 'shutdown.request',
      body: {
        text: `${actor.name} asks you to shut down (${id})${because}\n\nIf you are ready, end your turn, or call request_shutdown with your own name. If you have something to bring to its end, do just that, within ${workM} minutes, and then end your turn. ${no} Without a word from you within ${answerS} seconds you are stopped.`,
        shutdown: id,
        incarnation,
      },
    },
    draft.sender(actor.name),
  );
  draft.team({
    type: 'shutdown.requested',
    id,
    name,
    by: actor.name,
    reason,
    n: (state.mail.boxes.get(name)?.last ?? 0) + 1,
    insists,
  });
  live.askedAt.set(id, happening.monotonicMs);
  live.mailDirty.add(name);
  return finishAct(asking, draft, act, {
    ok: true,
    text: `${id}: ${name} is asked. It answers by mail (working or refused), or ends; after ${answerS} s without a word, or ${workM} min of work, it is stopped by force. You are told of its end.`,
  });
}
