import { expect, test } from 'vitest';
import {
  checkParams,
  decodeMessage,
  encodeThrown,
  isMethod,
  unknownMethod,
} from '../../../src/ipc/rpc.ts';
import { EXIT, TroupeError } from '../../../src/kernel/errors.ts';
import { methodParams, RPC } from '../../../src/protocol/wire.ts';

test.each([
  ['{', RPC.parse],
  ['7', RPC.request],
  ['null', RPC.request],
  ['[]', RPC.request],
  [`[${'1,'.repeat(100)}1]`, RPC.request],
  ['{"jsonrpc":"1.0","method":"status"}', RPC.request],
  ['{"jsonrpc":"2.0","id":{},"method":"status"}', RPC.request],
  ['{"jsonrpc":"2.0","id":1}', RPC.request],
])('%s is a fault', (text, code) => {
  expect(decodeMessage(text, 100)).toMatchObject({ kind: 'fault', code });
});

test('a request keeps its id, a notification has none, a batch has each of them', () => {
  const one = '{"jsonrpc":"2.0","id":"a","method":"status"}';
  const two = '{"jsonrpc":"2.0","method":"status","params":{"x":1}}';
  expect(decodeMessage(one, 100)).toEqual({
    kind: 'request',
    id: 'a',
    method: 'status',
    params: {},
    bytes: one.length,
  });
  expect(decodeMessage(`[${one},${two},3]`, 100)).toMatchObject({
    kind: 'batch',
    items: [{ id: 'a' }, { id: undefined, params: { x: 1 } }, { kind: 'fault' }],
  });
});

test('a method of an object is no method', () => {
  expect(isMethod('status')).toBe(true);
  for (const name of ['toString', 'constructor', '__proto__', ''])
    expect(isMethod(name)).toBe(false);
  expect(unknownMethod(1, 'run.stp').error.hint).toBe('Did you mean run.stop?');
});

test('parameters are strict in every method', () => {
  for (const method of Object.keys(methodParams)) {
    if (!isMethod(method)) throw new Error(method);
    const checked = checkParams(1, method, { surely_not_a_parameter: 1 });
    expect(checked).toMatchObject({ kind: 'fault', code: RPC.params });
  }
});

test('an operating failure keeps what it was, a bug shows its message alone', () => {
  const error = new TroupeError({
    code: 'mailbox/full',
    message: 'full',
    exit: EXIT.unfinished,
    data: { size: 3 },
  });
  expect(encodeThrown(1, error)).toMatchObject({
    error: { code: RPC.domain, data: { code: 'mailbox/full', data: { size: 3 }, exit: 1 } },
  });
  const bug = JSON.stringify(encodeThrown(2, new TypeError('x of undefined')));
  expect(bug).toContain(String(RPC.internal));
  expect(bug).not.toContain('rpc.test.ts');
});
