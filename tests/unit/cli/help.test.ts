/** Help breaks its lines once, for the width of the reader. */
import { expect, test } from 'vitest';
import { flowing } from '../../../src/cli/text/flowing.ts';

test('lines that the source broke are one; what ends with a sentence, and lists, stay lines', () => {
  expect(
    flowing(
      'run it\n\n`next` only tells when a schedule is\ndue. Or is a name\nsuch as @daily.\nLast.',
    ),
  ).toBe('run it\n\n`next` only tells when a schedule is due. Or is a name such as @daily.\nLast.');
  expect(flowing('Words:\n  one\n  two')).toBe('Words:\n  one\n  two');
});
