import { describe, expect, test } from 'vitest';
import { asActorName, asEnvelopeId } from '../../../src/kernel/index.ts';
import {
  checkSend,
  deadLetters,
  deliverable,
  hasUnread,
  isDuplicate,
  mailboxNames,
  mailboxSize,
  markDelivered,
  projectMail,
  sendError,
  staleControl,
  stampMail,
  stateOf,
  unread,
} from '../../../src/mailbox/index.ts';
import type { Envelope } from '../../../src/protocol/index.ts';
import { draft, everybody, PostOffice } from '../../support/mailbox/post-office.ts';

const texts = (envelopes: readonly Envelope[]): string[] =>
  envelopes.map((envelope) => envelope.body.text);

describe('positions and states', () => {
  test('M3: accepted, delivered, seen; only a step makes it seen', () => {
    const office = new PostOffice();
    office.send('lead', [draft('ada', 'one'), draft('ada', 'two')]);
    expect(stateOf(office.state, 'ada', 1)).toBe('accepted');

    markDelivered(office.state, 'ada', [1]);
    expect(stateOf(office.state, 'ada', 1)).toBe('delivered');
    expect(hasUnread(office.state, 'ada')).toBe(true);

    office.take('ada', [1]);
    expect([1, 2, 3].map((n) => stateOf(office.state, 'ada', n))).toEqual([
      'seen',
      'accepted',
      null,
    ]);
    expect(stateOf(office.state, 'bo', 1)).toBeNull();
  });

  test('M3: mail taken in out of order is seen, what lies before it is not', () => {
    const office = new PostOffice();
    office.send(
      'lead',
      ['1', '2', '3', '4'].map((text) => draft('ada', text)),
    );
    office.take('ada', [3, 4]);
    expect(texts(unread(office.state, 'ada'))).toEqual(['1', '2']);
    office.take('ada', [2, 1, 1]);
    expect(hasUnread(office.state, 'ada')).toBe(false);
    expect(office.state.boxes.get('ada')).toMatchObject({ settledUpTo: 4, bytes: 0 });
    expect(office.state.boxes.get('ada')?.settledAbove.size).toBe(0);
  });

  test('M3: a position that never was can’t be taken in', () => {
    const office = new PostOffice();
    expect(() => office.take('ada', [1])).toThrow('M3');
  });

  test('M3: delivery marks end with the activation, and with the supervisor', () => {
    for (const part of [
      { run: [{ type: 'run.resumed', term: 2 }] },
      {
        actors: [
          {
            type: 'actor.ended',
            name: asActorName('ada'),
            incarnation: 1,
            end: { kind: 'crashed', text: '' },
          },
        ],
      },
      { actors: [{ type: 'actor.started', name: asActorName('ada'), incarnation: 2, epoch: 2 }] },
    ] as const) {
      const office = new PostOffice();
      office.send('lead', [draft('ada', 'one')]);
      markDelivered(office.state, 'ada', [1]);
      expect(deliverable(office.state, 'ada', { nowMs: office.nowMs })).toEqual([]);
      office.append(part);
      expect(texts(deliverable(office.state, 'ada', { nowMs: office.nowMs }))).toEqual(['one']);
    }
  });

  test('M3: mail to user and supervisor is seen once recorded, and kept nowhere', () => {
    const office = new PostOffice();
    office.send('ada', [draft('user', 'hello'), draft('supervisor', 'done')]);
    expect(stateOf(office.state, 'user', 1)).toBe('seen');
    expect(stateOf(office.state, 'supervisor', 1)).toBe('seen');
    expect(mailboxSize(office.state, 'user')).toEqual({
      total: 1,
      unread: 0,
      unreadBytes: 0,
      dead: 0,
    });
    expect(mailboxNames(office.state)).toEqual(['user', 'supervisor']);
  });
});

describe('M5: lanes', () => {
  test('control, interrupt, normal, bulk; by position within a lane', () => {
    const office = new PostOffice();
    const lanes = ['bulk', 'normal', 'control', 'interrupt', 'normal', 'control'] as const;
    office.send(
      'lead',
      lanes.map((lane, index) => draft('ada', `${lane}${index}`, { lane })),
    );

    const now = { nowMs: office.nowMs };
    expect(texts(deliverable(office.state, 'ada', now))).toEqual([
      'control2',
      'control5',
      'interrupt3',
      'normal1',
      'normal4',
      'bulk0',
    ]);
    expect(texts(deliverable(office.state, 'ada', { ...now, max: 2 }))).toHaveLength(2);
    expect(texts(deliverable(office.state, 'ada', { ...now, exceptBulk: true }))).not.toContain(
      'bulk0',
    );
  });

  test('who waits 30 seconds moves up one lane, but never before control', () => {
    const office = new PostOffice();
    office.send('lead', [draft('ada', 'old bulk', { lane: 'bulk' })]);
    office.nowMs += 120_000;
    office.send('lead', [
      draft('ada', 'normal'),
      draft('ada', 'interrupt', { lane: 'interrupt' }),
      draft('ada', 'control', { lane: 'control' }),
    ]);
    expect(texts(deliverable(office.state, 'ada', { nowMs: office.nowMs }))).toEqual([
      'control',
      'old bulk',
      'interrupt',
      'normal',
    ]);
  });

  test('bulk mail with one key coalesces; what it replaced is seen with it', () => {
    const office = new PostOffice();
    const progress = (text: string, key = 'build'): ReturnType<typeof draft> =>
      draft('ada', text, { lane: 'bulk', body: { text, key } });
    office.send('bo', [progress('10 %'), progress('50 %'), progress('other', 'test')]);
    office.send('lead', [progress('not bo’s')]);
    office.send('bo', [progress('90 %')]);

    const now = { nowMs: office.nowMs };
    expect(texts(deliverable(office.state, 'ada', now))).toEqual(['other', 'not bo’s', '90 %']);
    expect(stateOf(office.state, 'ada', 1)).toBe('accepted');
    markDelivered(office.state, 'ada', [5]);
    expect(stateOf(office.state, 'ada', 2)).toBe('delivered');

    // The first of those that were replaced, and no more.
    office.take('ada', [1]);
    expect([1, 2, 5].map((n) => stateOf(office.state, 'ada', n))).toEqual([
      'seen',
      'delivered',
      'delivered',
    ]);

    // Delivered already when its successor came: it is seen, the successor is not.
    office.send('bo', [progress('100 %')]);
    office.take('ada', [5]);
    expect([1, 2, 5, 6].map((n) => stateOf(office.state, 'ada', n))).toEqual([
      'seen',
      'seen',
      'seen',
      'accepted',
    ]);
    office.take('ada', [3, 4, 6]);
    expect(office.state.boxes.get('ada')?.settledUpTo).toBe(6);
    expect(office.state.boxes.get('ada')?.absorbed.size).toBe(0);
  });
});

describe('M2: duplicates', () => {
  test('a redelivered envelope has no second effect', () => {
    const office = new PostOffice();
    const { mail } = office.send('lead', [draft('ada', 'one')]);
    office.take('ada', [1]);
    office.append({ mail: mail ?? [] });
    expect(hasUnread(office.state, 'ada')).toBe(false);
    expect(mailboxSize(office.state, 'ada').total).toBe(1);
  });

  test('a key is known for ever, also far behind and in older epochs', () => {
    const office = new PostOffice();
    office.send(
      'lead',
      Array.from({ length: 500 }, (_, index) => draft('ada', `${index}`)),
    );
    for (let epoch = 2; epoch < 40; epoch += 1) office.send('lead', [draft('ada', 'x')], epoch);
    const known = (e: number, n: number): boolean =>
      isDuplicate(office.state, { from: 'lead', e, n });

    expect(known(1, 1)).toBe(true);
    expect(known(1, 500)).toBe(true);
    expect(known(39, 1)).toBe(true);
    expect(known(39, 2)).toBe(false);
    expect(known(40, 1)).toBe(false);
    expect(isDuplicate(office.state, { from: 'bo', e: 1, n: 1 })).toBe(false);
    expect(office.state.seenKeys.get('lead')?.size).toBeLessThan(10);
  });

  test('counters that jump, and those far behind, are told right within one epoch', () => {
    const office = new PostOffice();
    const sender = { name: asActorName('lead'), incarnation: 1, epoch: 1 };
    const stamps = Array.from({ length: 300 }, () =>
      stampMail(office.state, draft('ada', 'x'), sender, asEnvelopeId('env')),
    );
    office.append({ mail: stamps.filter(({ n }) => n === 100 || n === 300) });
    const known = [36, 100, 236, 237, 299, 300, 301].map((n) =>
      isDuplicate(office.state, { from: 'lead', e: 1, n }),
    );
    expect(known).toEqual([true, true, true, false, false, true, false]);
  });

  test('a gap in the counters stays open until it is filled', () => {
    const office = new PostOffice();
    const sender = { name: asActorName('lead'), incarnation: 1, epoch: 1 };
    const [first, second] = ['a', 'b'].map((text) =>
      stampMail(office.state, draft('ada', text), sender, asEnvelopeId(`env_${text}`)),
    );
    expect([first?.n, second?.n]).toEqual([1, 2]);
    office.append({ mail: second === undefined ? [] : [second] });
    expect(isDuplicate(office.state, { from: 'lead', e: 1, n: 1 })).toBe(false);
    office.append({ mail: first === undefined ? [] : [first] });
    expect(texts(unread(office.state, 'ada'))).toEqual(['b', 'a']);
  });

  test('counters go on after a restart', () => {
    const office = new PostOffice();
    office.send('lead', [draft('ada', 'one'), draft('bo', 'two')]);
    office.state = office.refold();
    const { mail } = office.send('lead', [draft('ada', 'three')]);
    expect(mail?.[0]?.n).toBe(3);
  });
});

describe('sends', () => {
  const full = { unreadMax: 2, bytesMax: 10_000 };

  test('M7: a full mailbox refuses, and says how full it is', () => {
    const office = new PostOffice(full);
    expect(checkSend(office.state, draft('ada', '1'), everybody)).toEqual({
      kind: 'ok',
      pressure: 0.5,
    });
    office.send('lead', [draft('ada', '1'), draft('ada', '2')]);
    const check = checkSend(office.state, draft('ada', '3'), everybody);
    expect(check).toMatchObject({ kind: 'full', count: 2, limit: full });
    expect(sendError('ada', check)).toMatchObject({ code: 'mailbox/full', retryable: true });

    // The supervisor's own notices pass; so does mail for others.
    const notice = { from: asActorName('supervisor') };
    expect(checkSend(office.state, draft('ada', '3'), everybody, notice).kind).toBe('ok');
    expect(checkSend(office.state, draft('bo', '3'), everybody).kind).toBe('ok');
    office.take('ada', [1]);
    expect(checkSend(office.state, draft('ada', '3'), everybody).kind).toBe('ok');
  });

  test('M7: bytes count too', () => {
    const office = new PostOffice(full);
    const check = checkSend(office.state, draft('ada', 'x'.repeat(10_001)), everybody);
    expect(check).toMatchObject({ kind: 'full', count: 0, bytes: 0 });
  });

  test('M6: an unknown recipient is an error that names the near ones', () => {
    const office = new PostOffice();
    const directory = { known: ['lead', 'ada'], live: () => 'unknown' as const };
    const check = checkSend(office.state, draft('adda', 'x'), directory);
    expect(check).toEqual({ kind: 'unknown', near: ['ada'] });
    expect(sendError('adda', check)).toMatchObject({
      code: 'mailbox/unknown',
      hint: 'Did you mean ada?',
      exit: 5,
    });
    expect(checkSend(office.state, draft('user', 'x'), directory).kind).toBe('ok');
  });

  test('M2: what was sent before is known by its key, or by the id that the outside gave', () => {
    const office = new PostOffice();
    const { mail } = office.send('user', [draft('ada', 'x')]);
    const from = asActorName('user');
    const again = (origin: object): string =>
      checkSend(office.state, draft('ada', 'x'), everybody, { from, ...origin }).kind;

    expect(again({ id: mail?.[0]?.id })).toBe('duplicate');
    expect(again({ key: { e: 1, n: 1 } })).toBe('duplicate');
    expect(again({ key: { e: 1, n: 2 }, id: 'other' })).toBe('ok');
    expect(sendError('ada', { kind: 'duplicate' })).toBeNull();
  });
});

describe('M6: dead letters', () => {
  test('a dead letter is shown, retried into its place, or dropped', () => {
    const office = new PostOffice();
    office.send('lead', [draft('ada', '1'), draft('ada', '2'), draft('ada', '3')]);
    for (const n of [1, 2]) office.dead('ada', n, 'dead');
    expect(deadLetters(office.state).map(({ envelope, reason }) => [envelope.n, reason])).toEqual([
      [1, 'stopped'],
      [2, 'stopped'],
    ]);
    expect(stateOf(office.state, 'ada', 1)).toBe('dead');

    office.dead('ada', 1, 'retried');
    office.dead('ada', 2, 'dropped', 'not needed');
    const now = { nowMs: office.nowMs };
    expect(texts(deliverable(office.state, 'ada', now))).toEqual(['1', '3']);
    expect(stateOf(office.state, 'ada', 2)).toBe('dead');
    expect(deadLetters(office.state)).toEqual([]);
    office.take('ada', [1, 3]);
    expect(stateOf(office.state, 'ada', 1)).toBe('seen');
  });

  test('one step can park mail for several stopped actors', () => {
    const office = new PostOffice();
    const sender = { name: asActorName('lead'), incarnation: 1, epoch: 1 };
    const mail = ['ada', 'bo'].map((to) =>
      stampMail(office.state, draft(to, 'x'), sender, asEnvelopeId(`env_${to}`)),
    );
    const dead = mail.map(({ to, id }) => ({
      to,
      id,
      n: 1,
      what: 'dead' as const,
      reason: 'gone',
    }));
    office.append({ mail, dead });
    expect(deadLetters(office.state)).toHaveLength(2);
    expect(hasUnread(office.state, 'bo')).toBe(false);
  });

  test('a control letter for an incarnation that is gone is told apart', () => {
    const office = new PostOffice();
    const stop = (incarnation: number): ReturnType<typeof draft> =>
      draft('ada', 'stop', { lane: 'control', body: { text: 'stop', incarnation } });
    office.send('lead', [stop(1), stop(2), draft('ada', 'x', { lane: 'control' })]);
    expect(staleControl(office.state, 'ada', 2).map((envelope) => envelope.n)).toEqual([1]);
  });
});

test('the projection tells rows with their state, and what each record changed', () => {
  const office = new PostOffice();
  office.send('lead', [draft('ada', 'one'), draft('user', 'two'), draft('ada', 'three')]);
  office.take('ada', [1]);
  office.dead('ada', 2, 'dead', 'stopped by user');
  const projection = projectMail();
  const changes = office.journal.map((record) => projection.apply(record));

  expect(changes.map((list) => list.map((change) => change.kind))).toEqual([
    ['accepted', 'accepted', 'accepted'],
    ['seen'],
    ['dead'],
  ]);
  expect(projection.rows().map(({ to, n, state, reason }) => [to, n, state, reason])).toEqual([
    ['ada', 1, 'seen', undefined],
    ['ada', 2, 'dead', 'stopped by user'],
    ['user', 1, 'seen', undefined],
  ]);
  expect(projection.rows(['user'])[0]).toEqual({
    v: 1,
    n: 1,
    seq: 1,
    id: 'env_0_1',
    at: '2026-01-01T00:00:00.000Z',
    to: 'user',
    from: 'lead',
    fromIncarnation: 1,
    lane: 'normal',
    type: 'chat.message',
    body: { text: 'two' },
    state: 'seen',
  });
});
