import { expect, test } from 'vitest';
import { makeCalls } from '../../../src/client/calls.ts';

test('an answer settles its own request, in any order, once', async () => {
  const calls = makeCalls();
  const [one, two] = [calls.open(), calls.open()];
  calls.take({ jsonrpc: '2.0', id: two.id, result: 'second' });
  calls.take({ jsonrpc: '2.0', id: one.id, result: 'first' });
  calls.take({ jsonrpc: '2.0', id: one.id, result: 'again' });
  expect(await Promise.all([one.answer, two.answer])).toEqual(['first', 'second']);
});

test('an error of the supervisor keeps its code, hint and exit', async () => {
  const calls = makeCalls();
  const { id, answer } = calls.open();
  const data = { code: 'control/unknown-actor', message: 'nobody', hint: 'Ada?', exit: 5 };
  calls.take({ id, error: { code: -32000, message: 'nobody', data } });
  await expect(answer).rejects.toMatchObject(data);
});

test('an error without a known shape is still an error', async () => {
  const calls = makeCalls();
  const { id, answer } = calls.open();
  calls.take({ id, error: { code: 1, message: 'odd' } });
  await expect(answer).rejects.toMatchObject({ code: 'client/answer' });
});

test('I8: at the end all that wait and all that come reject', async () => {
  const calls = makeCalls();
  const { answer } = calls.open();
  calls.end(new Error('gone'));
  calls.end(new Error('again'));
  await expect(answer).rejects.toThrow('gone');
  await expect(calls.open().answer).rejects.toThrow('gone');
});

test('notices are handed back, anything else that is no answer is passed over', () => {
  const calls = makeCalls();
  const notice = { jsonrpc: '2.0', method: 'event', params: { subscription: 's', event: {} } };
  expect(calls.take(notice)).toMatchObject({ method: 'event' });
  for (const odd of [
    null,
    7,
    [],
    {},
    { method: 'event' },
    { method: 'x', params: {} },
    { id: 'a' },
  ]) {
    expect(calls.take(odd)).toBeNull();
  }
});
