import { deepStrictEqual } from 'node:assert/strict';
import { expect, test } from 'vitest';
import { asActorName, type EnvelopeId } from '../../../src/kernel/ids.ts';
import {
  applyMailRecord,
  deadLetters,
  forgetVolatile,
  type MailState,
  makeMailState,
  markDelivered,
  stampMail,
  unread,
} from '../../../src/mailbox/index.ts';
import { StructuredCodec } from '../../../src/platform/index.ts';
import type { Lane, Mail, StoredRunRecord } from '../../../src/protocol/index.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';

const AT = '2026-01-01T00:00:00.000Z';
const BOXES = ['ada', 'bea', 'user'].map(asActorName);
const LANES: readonly Lane[] = ['control', 'interrupt', 'normal', 'bulk'];

/** Records as they may come, with late repetitions, coalesced mail, deaths and returns. */
function history(seed: number, count: number): StoredRunRecord[] {
  const random = new SeededRandom(`freeze/${seed}`);
  const records: StoredRunRecord[] = [];
  const shadow = makeMailState();
  const mails: Mail[] = [];
  for (let s = 1; s <= count; s += 1) {
    const to = random.pick(BOXES) ?? asActorName('ada');
    const head = { at: AT, s, d: s - 1 };
    const open = unread(shadow, to);
    const one = open[random.below(Math.max(1, open.length))];
    const what = random.next();
    let record: StoredRunRecord = { ...head, k: 'sup' };
    if (what < 0.6 || one === undefined) {
      const from = asActorName(random.pick(['bob', 'cid', 'user']) ?? 'bob');
      const e = 1 + Math.floor(s / 60);
      const stamp = { from, fromIncarnation: 1, e, n: s, id: `env_${s}` as EnvelopeId };
      const body = { text: `m${s}`, key: `k${random.below(2)}` };
      const lane = random.pick(LANES) ?? 'normal';
      const again = random.next() < 0.1 ? mails[random.below(mails.length || 1)] : undefined;
      const mail: Mail = again ?? { to, ...stamp, lane, type: 'chat.message', body };
      mails.push(mail);
      record = { ...head, k: 'msg', to: mail.to, mail: [mail] };
    } else if (what < 0.8) {
      record = { ...head, k: 'step', a: to, took: [one.n] };
    } else {
      const back = deadLetters(shadow).find(({ envelope }) => envelope.to === to)?.envelope;
      const verb = (['retried', 'dropped'] as const)[random.below(2)] ?? 'retried';
      const entry =
        back !== undefined && random.next() < 0.5
          ? { n: back.n, id: back.id, what: verb, reason: 'test' }
          : { n: one.n, id: one.id, what: 'dead' as const, reason: 'test' };
      record = { ...head, k: 'dead', to, dead: [entry] };
    }
    applyMailRecord(shadow, record);
    records.push(record);
  }
  return records;
}

const codec = new StructuredCodec();

test('M2, M4: mailboxes that went through a snapshot go on as the ones that replayed everything', () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const records = history(seed, 150);
    const cut = 20 + seed * 2;
    const full = makeMailState();
    const before = makeMailState();
    for (const record of records) applyMailRecord(full, record);
    for (const record of records.slice(0, cut)) applyMailRecord(before, record);
    const after = codec.decode(codec.encode(before)) as MailState;
    deepStrictEqual(after, before);
    for (const record of records.slice(cut)) applyMailRecord(after, record);
    deepStrictEqual(after, full);
  }
});

test('M3: what is volatile is left out of a snapshot', () => {
  const state = makeMailState();
  for (const record of history(1, 40)) applyMailRecord(state, record);
  const before = codec.decode(codec.encode(state));
  markDelivered(state, 'ada', [unread(state, 'ada')[0]?.n ?? 0]);
  const draft = { to: 'ada', lane: 'normal', type: 'chat.message', body: { text: 'x' } } as const;
  stampMail(
    state,
    draft,
    { name: asActorName('bob'), incarnation: 1, epoch: 9 },
    'env_x' as EnvelopeId,
  );
  expect(state).not.toEqual(before);
  forgetVolatile(state);
  deepStrictEqual(state, before);
});
