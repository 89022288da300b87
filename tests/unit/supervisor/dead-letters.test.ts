/** Dead letters: parked with the reason, delivered again or dropped by a person. */
import { describe, expect, it } from 'vitest';
import { asActorName, isoTime } from '../../../src/kernel/index.ts';
import { deadLetters, unread } from '../../../src/mailbox/index.ts';
import type { StoredRunRecord } from '../../../src/protocol/index.ts';
import { decide } from '../../../src/supervisor/decide/index.ts';
import type { RunEvent } from '../../../src/supervisor/inbox.ts';
import { makeLive } from '../../../src/supervisor/live.ts';
import { applyRecord, makeRunState } from '../../../src/supervisor/state.ts';
import { runFile, team } from '../../support/team.ts';

const NOW = Date.parse('2026-11-30T12:00:00.000Z');

function world() {
  const file = runFile({
    id: 'r1',
    team: team({ lead: true, teammates: ['ada', 'bo'] }),
    baseCommit: 'a'.repeat(40),
    workspace: '/w',
    treesRoot: '/t/r1',
  });
  const state = makeRunState(file);
  const live = makeLive({ startedMonotonic: 0, wallUsedMs: 0, tip: 'a'.repeat(40) });
  let seq = 0;
  const answers: unknown[] = [];
  const step = (event: RunEvent): StoredRunRecord | null => {
    const draft = decide(state, live, { event, now: NOW, monotonicMs: 0 });
    const record = draft.record();
    for (const effect of draft.effects) {
      if (effect.type === 'answer') answers.push(effect.value);
      if (effect.type === 'refuse') answers.push(effect.error);
    }
    if (record === null) return null;
    seq += 1;
    const stored = { ...record, s: seq, d: seq };
    applyRecord(state, stored);
    return stored;
  };
  const send = (to: string, text: string) =>
    step({ type: 'send', token: 1, to, text, lane: 'normal', id: null });
  step({ type: 'started' });
  return { state, live, step, send, answers };
}

describe('dead letters', () => {
  it('M6: mail to a stopped actor is parked and told to its lead', () => {
    const { state, step, send, answers } = world();
    step({ type: 'stop.actor', token: 1, name: 'ada', now: true, by: 'user' });
    send('ada', 'are you there?');
    expect(answers.at(-1)).toMatchObject({ state: 'dead', n: 1 });
    expect(deadLetters(state.mail)).toMatchObject([
      { reason: 'ada is stopped', envelope: { to: 'ada', n: 1, body: { text: 'are you there?' } } },
    ]);
    const told = unread(state.mail, 'lead').map((one) => one.type);
    expect(told).toContain('mail.dead');
  });

  it('M6: a dead letter of a stopped actor cannot be retried, but dropped', () => {
    const { state, step, send, answers } = world();
    step({ type: 'stop.actor', token: 1, name: 'ada', now: true, by: 'user' });
    send('ada', 'hello');
    const id = deadLetters(state.mail)[0]?.envelope.id ?? '';
    step({ type: 'mail.settle', token: 2, id, what: 'retried' });
    expect(answers.at(-1)).toMatchObject({ code: 'mailbox/stopped' });
    step({ type: 'mail.settle', token: 3, id, what: 'dropped' });
    expect(answers.at(-1)).toMatchObject({ id, what: 'dropped' });
    expect(deadLetters(state.mail)).toEqual([]);
    step({ type: 'mail.settle', token: 4, id, what: 'dropped' });
    expect(answers.at(-1)).toMatchObject({ code: 'mailbox/no-dead-letter', exit: 5 });
  });

  it('M4: mail to all is one record, with a place in each mailbox but the stopped ones', () => {
    const { state, step, send } = world();
    step({ type: 'stop.actor', token: 1, name: 'bo', now: true, by: 'user' });
    const record = send('all', 'the plan changed');
    expect(record?.mail?.map((mail) => mail.to)).toEqual(['lead', 'ada']);
    expect(unread(state.mail, asActorName('ada'))).toMatchObject([
      { n: 1, from: 'user', at: isoTime(NOW), body: { text: 'the plan changed' } },
    ]);
  });
});
