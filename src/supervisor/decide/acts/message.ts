/** `send_message`: mail of an actor. */
import { checkSend, sendError } from '../../../mailbox/index.ts';
import type { MailDraft } from '../../../protocol/index.ts';
import type { Draft } from '../../draft.ts';
import type { Asking } from '../asking.ts';
import { broadcast, directoryOf, EVERYBODY, park } from '../mail.ts';
import { finishAct } from '../results.ts';
import { refusalIn } from '../shutdowns.ts';
import { type Act, type Input, text } from './act.ts';

export function sendMessage(asking: Asking, draft: Draft, act: Act, input: Input): Draft {
  const { state, actor } = asking;
  const lane = input['lane'];
  const given: MailDraft = {
    to: text(input, 'to'),
    lane: lane === 'interrupt' || lane === 'bulk' ? lane : 'normal',
    type: 'chat.message',
    body: { text: text(input, 'text'), ...asking.payload },
  };
  const refused = refusalIn(state, actor.name, given);
  const mail = refused === null ? given : asAnswer(given, refused.id);
  if (mail.to === actor.name) {
    return finishAct(asking, draft, act, { ok: false, text: 'you cannot send mail to yourself' });
  }
  if (mail.to === EVERYBODY) {
    const names = broadcast(draft, asking.live, { from: draft.sender(actor.name), draft: mail });
    return finishAct(asking, draft, act, { ok: true, text: `accepted for ${names.join(', ')}` });
  }
  const check = checkSend(state.mail, mail, directoryOf(state, asking.happening.now), {
    from: actor.name,
  });
  if (check.kind === 'unknown' || check.kind === 'full') {
    const error = sendError(mail.to, check);
    const hint = error?.hint === undefined ? '' : `. ${error.hint}`;
    return finishAct(asking, draft, act, { ok: false, text: `${error?.message ?? ''}${hint}` });
  }
  const sent = draft.send(mail, draft.sender(actor.name));
  if (refused !== null) {
    asking.live.askedAt.delete(refused.id);
    draft.team({
      type: 'shutdown.answered',
      id: refused.id,
      name: actor.name,
      answer: 'refused',
    });
  }
  if (check.kind === 'stopped') {
    park(draft, asking.live, { sent, n: (state.mail.boxes.get(mail.to)?.last ?? 0) + 1 });
    return finishAct(asking, draft, act, {
      ok: false,
      text: `${mail.to} is stopped; the message is kept as a dead letter`,
    });
  }
  asking.live.mailDirty.add(sent.to);
  return finishAct(asking, draft, act, { ok: true, text: `accepted: ${sent.id} to ${mail.to}` });
}

function asAnswer(mail: MailDraft, shutdown: string): MailDraft {
  const body = { ...mail.body, shutdown, answer: 'refused' };
  return { ...mail, type: 'shutdown.answer', body };
}
