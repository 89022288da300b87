import { expect, test } from 'vitest';
import { asActorName, type EnvelopeId } from '../../../src/kernel/ids.ts';
import {
  applyMailRecord,
  deadLetters,
  deliverable,
  type FrozenMail,
  freezeMail,
  isDuplicate,
  type MailState,
  makeMailState,
  thawMail,
  unread,
} from '../../../src/mailbox/index.ts';
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

/** Through text, as a snapshot goes. */
function frozen(state: MailState): FrozenMail {
  return JSON.parse(JSON.stringify(freezeMail(state))) as FrozenMail;
}

test('M2, M4: a state that was frozen and thawed goes on as the one that replayed everything', () => {
  for (let seed = 0; seed < 60; seed += 1) {
    const records = history(seed, 150);
    const cut = 20 + seed * 2;
    const full = makeMailState();
    const before = makeMailState();
    for (const record of records) applyMailRecord(full, record);
    for (const record of records.slice(0, cut)) applyMailRecord(before, record);
    const after = thawMail(frozen(before));
    if (after === null) throw new Error('the format is known');
    expect(frozen(after), `seed ${seed}`).toEqual(frozen(before));
    for (const record of records.slice(cut)) applyMailRecord(after, record);
    expect(frozen(after), `seed ${seed}`).toEqual(frozen(full));
    for (const name of BOXES) {
      const options = { nowMs: Date.parse(AT) };
      expect(deliverable(after, name, options)).toEqual(deliverable(full, name, options));
    }
    for (const record of records) {
      for (const { from, e, n } of record.mail ?? []) {
        expect(isDuplicate(after, { from, e, n })).toBe(isDuplicate(full, { from, e, n }));
      }
    }
  }
});

test('a frozen state of a later format is refused, so that the whole log is replayed', () => {
  expect(thawMail({ ...freezeMail(makeMailState()), v: 2 })).toBeNull();
});
