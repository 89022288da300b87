import { expect, test } from 'vitest';
import { LetterBook } from '../../../src/agent/replay/letters.ts';
import type { Letter } from '../../../src/agent/replay/track.ts';
import { asActorName, asTaskId } from '../../../src/kernel/index.ts';

const letter = (from: string, text: string, task?: string): Letter => ({
  from: asActorName(from),
  type: 'chat.message',
  ...(task === undefined ? {} : { task: asTaskId(task) }),
  text,
});
const book = (...recorded: Letter[]): LetterBook<Letter> =>
  new LetterBook(recorded, ({ text }) => text.toLowerCase());

test('L32 letters of several senders may cross: what they say tells which they are', () => {
  const letters = book(letter('ada', 'one'), letter('bo', 'two'), letter('ada', 'three'));
  expect(letters.take(letter('ada', 'Three'))).toBe(2);
  expect(letters.get(0)).toBeNull();
  expect(letters.take(letter('bo', 'two'))).toBe(1);
  expect(letters.take(letter('ada', 'one'))).toBe(0);
  expect(letters.get(0)?.text).toBe('one');
});

test('two letters with one text are two letters', () => {
  const letters = book(letter('ada', 'go'), letter('ada', 'go'));
  expect([letters.take(letter('ada', 'go')), letters.take(letter('ada', 'go'))]).toEqual([0, 1]);
});

test('a letter that says something else stands where its like stood, so that the difference shows', () => {
  const letters = book(letter('user', 'old words', 'parser'));
  expect(letters.take(letter('user', 'new words', 'parser'))).toBeNull();
  expect(letters.get(0)?.text).toBe('new words');
  expect(letters.takeOthers()).toEqual([]);
});

test('one that the recording does not know is given once, as it is', () => {
  const letters = book(letter('ada', 'one'));
  letters.take(letter('bo', 'unheard of'));
  expect(letters.get(0)).toBeNull();
  expect(letters.hasOthers).toBe(true);
  expect(letters.takeOthers().map(({ text }) => text)).toEqual(['unheard of']);
  expect(letters.hasOthers).toBe(false);
});
