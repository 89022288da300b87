import { expect, test } from 'vitest';
import { Batch } from '../../../src/journal/batch.ts';
import type { RecordBody, RecordView } from '../../../src/journal/record.ts';
import {
  encodeBody,
  readHead,
  readPrefix,
  readRecord,
  readTrailer,
  tryReadRecord,
} from '../../../src/journal/record.ts';

function viewOf(body: RecordBody): RecordView {
  const batch = new Batch();
  batch.begin(0);
  batch.add({ seq: 7, durable: 5 }, encodeBody(body));
  return { s: 7, d: 5, bytes: batch.bytes, start: 0, end: batch.length - 17 };
}

function lineOf(body: RecordBody): string {
  return new TextDecoder().decode(viewOf(body).bytes);
}

test('J3: a record is seq, durable mark, kind, address, body, crc', () => {
  expect(lineOf({ k: 'msg', to: 'ada', from: 'lead', body: { text: 'hi' } })).toMatch(
    /^\{"s":7,"d":5,"k":"msg","to":"ada","from":"lead","body":\{"text":"hi"\},"c":"[0-9a-f]{8}"\}\n$/,
  );
});

test('J3: kind and address lead, in whatever order the body has them', () => {
  expect(encodeBody({ x: 1, to: 'ada', k: 'msg' })).toBe('"k":"msg","to":"ada","x":1');
  expect(encodeBody({ k: 'step', x: 1, a: 'ada' })).toBe('"k":"step","a":"ada","x":1');
  expect(encodeBody({ k: 'msg', a: 'ada', to: 'bo' })).toBe('"k":"msg","to":"bo","a":"ada"');
  expect(encodeBody({ k: 'msg', 5: 'five', to: 'bo' })).toBe('"k":"msg","to":"bo","5":"five"');
  expect(encodeBody({ k: 'msg', x: 1, to: 4 })).toBe('"k":"msg","x":1,"to":4');
  expect(encodeBody({ k: 'msg' })).toBe('"k":"msg"');
});

test('J3: fields of the journal itself are refused in a body', () => {
  for (const field of ['s', 'd', 'c']) {
    expect(() => encodeBody({ k: 'msg', [field]: 1 })).toThrow('J3');
  }
});

test.each([
  [{ k: 'msg', to: 'ada' }, 'msg', 'ada'],
  [{ k: 'step', a: 'bo', to2: 'x' }, 'step', 'bo'],
  [{ k: 'tick', n: 1 }, 'tick', null],
  [{ k: 'msg', to: 5 }, 'msg', null],
  [{ k: 'größe "x"', to: 'a\\b' }, 'größe "x"', 'a\\b'],
  [{ k: 'msg', to: 'zoë' }, 'msg', 'zoë'],
  [{ k: 'msg', to: '' }, 'msg', ''],
])('J3: the head of %j is read without the rest', (body, k, address) => {
  expect(readHead(viewOf(body))).toEqual({ s: 7, d: 5, k, address });
});

test.each([
  ['line and paragraph separators', '\u2028\u2029'],
  ['line feeds and carriage returns', 'a\r\nb\n'],
  ['a lone surrogate', 'x\ud800y'],
  ['a lone low surrogate', '\udfff'],
  ['characters outside the plane', '😀 🧵'],
  ['quotes and a record inside a string', '{"s":1,"d":0,"k":"msg","c":"00000000"}\n'],
  ['nulls', 'a\0b'],
])('a body with %s comes back as it was, on one line', (_what, text) => {
  const body = { k: 'msg', to: 'ada', text, [text]: 1 };
  expect(lineOf(body).indexOf('\n')).toBe(lineOf(body).length - 1);
  expect(readRecord(viewOf(body))).toEqual({ s: 7, d: 5, ...body });
});

test('a long body and a short one are encoded alike', () => {
  const text = 'ä€😀'.repeat(9000);
  expect(readRecord(viewOf({ k: 'msg', text }))['text']).toBe(text);
});

test('unknown kinds and fields are kept', () => {
  const body = { k: 'kind-of-2031', to: 'ada', deep: { er: [1, null, { x: 'y' }] }, __proto2__: 1 };
  expect(readRecord(viewOf(body))).toEqual({ s: 7, d: 5, ...body });
});

test('bytes that are no record have no prefix and no trailer', () => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
  for (const text of [
    '',
    '{"s":',
    '{"s":x,"d":1,"k":"',
    '{"s":1,"d":,"k":"a"',
    '{"d":1,"s":2,"k":"a"',
    '{"s":1234567890123456,"d":1,"k":"a"}',
  ]) {
    expect(readPrefix(bytes(text), 0, text.length)).toBeNull();
  }
  for (const text of ['', '"}', ',"c":"0000000G"}', ',"c":"0000000A"}', ',"c":"00000000"} ']) {
    expect(readTrailer(bytes(text), text.length)).toBe(-1);
  }
  expect(readTrailer(bytes(',"c":"ffffffff"}'), 16)).toBe(0xffffffff);
});

test('a body that is no JSON, though its crc fits, is told apart from a crash', () => {
  const bytes = new TextEncoder().encode('{"s":7,"d":5,"k":"msg",oops');
  expect(tryReadRecord({ s: 7, d: 5, bytes, start: 0, end: bytes.length })).toBeNull();
});
