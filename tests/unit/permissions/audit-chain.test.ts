import { createHash, createHmac } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  breakOf,
  CHAIN_START,
  type ChainKeys,
  type ChainTip,
  isAudited,
  macOf,
  markFor,
} from '../../../src/permissions/index.ts';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const key = 'ab'.repeat(32);
const by: ChainKeys = { sha256, log: 'r1', key };

type Body = Record<string, unknown>;

const decision = (n: number): Body => ({
  k: 'perm',
  at: `t${n}`,
  decisions: [{ actor: 'ada', input: { command: `echo ${n}` }, effect: 'allow' }],
});

/** As a journal has them: the mark, and what only the journal says. */
function chain(bodies: readonly Body[]): Body[] {
  let tip: ChainTip = CHAIN_START;
  return bodies.map((body, s) => {
    const audit = markFor(body, tip, by);
    tip = audit;
    return { s, d: s - 1, ...body, audit, c: 'crc' };
  });
}

/** Index of the first record that does not follow; -1: all do. */
function firstBreak(records: readonly Body[], keys: ChainKeys = by): number {
  let tip: ChainTip = CHAIN_START;
  return records.findIndex((record) => {
    const why = breakOf(record, tip, keys);
    const mark = record['audit'] as ChainTip | undefined;
    if (mark !== undefined) tip = mark;
    return why !== null;
  });
}

const some = (count: number): Body[] => chain(Array.from({ length: count }, (_, n) => decision(n)));

test('P50: a chain follows itself, whatever the order of keys and what the journal adds', () => {
  const records = some(5).map((record) => ({
    ...Object.fromEntries(Object.entries(record).toReversed()),
    s: 99,
    c: 'other',
  }));
  expect(firstBreak(records)).toBe(-1);
});

test('P50: a change, a drop, an insertion or a move is found where it is, for any chain', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 3, max: 12 }),
      fc.nat(),
      fc.constantFrom('change', 'input', 'drop', 'double', 'swap', 'unmark'),
      (count, where, how) => {
        const at = 1 + (where % (count - 2));
        const records = some(count);
        const record = records[at] ?? {};
        const next = records[at + 1] ?? {};
        if (how === 'change') records[at] = { ...record, at: 'then' };
        if (how === 'input') records[at] = { ...record, decisions: [{ input: 'other' }] };
        if (how === 'drop') records.splice(at, 1);
        if (how === 'double') records.splice(at, 0, records[at - 1] ?? {});
        if (how === 'swap') records.splice(at, 2, next, record);
        if (how === 'unmark') {
          const { audit: _, ...bare } = record;
          records[at] = bare;
        }
        expect(firstBreak(records)).toBe(at);
      },
    ),
  );
});

test('P50: a chain is of its log and its key: neither of another run nor marked by somebody without the key', () => {
  const records = some(3);
  expect(firstBreak(records, { ...by, log: 'r2' })).toBe(0);
  expect(firstBreak(records, { ...by, key: 'cd'.repeat(32) })).toBe(0);
  // The key is gone: hashes still hold what they can.
  expect(firstBreak(records, { ...by, key: null })).toBe(-1);
  records[1] = { ...records[1], at: 'then' };
  expect(firstBreak(records, { ...by, key: null })).toBe(1);
});

test('inputs have the digest that any HMAC-SHA-256 makes of them, equal for equal inputs', () => {
  const [first, , third] = chain([decision(1), decision(2), decision(1)]);
  const expected = createHmac('sha256', Buffer.from(key, 'hex'))
    .update('{"command":"echo 1"}')
    .digest('hex');
  expect([first, third]).toMatchObject([
    { audit: { inputs: [expected] } },
    { audit: { inputs: [expected] } },
  ]);
});

test('records before the chain and of other kinds are no break; the workspace’s note on a run is none of the chain', () => {
  const mail = { k: 'msg', at: 't' };
  expect(breakOf(decision(1), CHAIN_START, by)).toBeNull();
  expect(firstBreak([mail, ...some(2), mail])).toBe(-1);
  expect(isAudited({ k: 'run', run: 'r1', what: 'run.started' })).toBe(false);
  expect(isAudited({ k: 'run', run: [{ type: 'run.started' }] })).toBe(true);
  for (const k of ['trust', 'grant']) expect(isAudited({ k })).toBe(true);
});

test('P51: heads are bound to the one before them and to all they say', () => {
  const head = { log: 'r1', n: 3, hash: 'ff', at: 't' };
  const mac = macOf(head, '', by);
  expect(macOf({ ...head }, '', by)).toBe(mac);
  for (const other of [{ log: 'r2' }, { n: 4 }, { hash: 'fe' }, { at: 'u' }]) {
    expect(macOf({ ...head, ...other }, '', by)).not.toBe(mac);
  }
  expect(macOf(head, mac, by)).not.toBe(mac);
});
