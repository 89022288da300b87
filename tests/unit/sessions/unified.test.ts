import { expect, test } from 'vitest';
import { firstDifference } from '../../../src/sessions/index.ts';

const LINES = Array.from({ length: 30 }, (_, n) => `line ${n}`);

test('the hunk is about the first difference, though others follow far behind it', () => {
  const found = firstDifference(
    ['You are ada.', ...LINES].join('\n'),
    ['You are one of them.', ...LINES, 'You are ada.'].join('\n'),
  );
  expect(found).toMatchObject({ line: 1, before: 'You are ada.', after: 'You are one of them.' });
  expect(found?.hunk.split('\n').filter((line) => /^[-+]/.test(line))).toEqual([
    '-You are ada.',
    '+You are one of them.',
  ]);
  expect(found?.hunk).toContain('\n line 0');
  expect(found?.hunk).not.toContain('line 29');
});

test('a line that came in, one that is gone, and an end that is another', () => {
  const marks = (before: readonly string[], after: readonly string[]): string[] =>
    (firstDifference(before.join('\n'), after.join('\n'))?.hunk.split('\n') ?? []).filter((line) =>
      /^[-+]/.test(line),
    );
  const more = LINES.toSpliced(10, 0, 'new');
  expect(marks(LINES, more)).toEqual(['+new']);
  expect(marks(more, LINES)).toEqual(['-new']);
  expect(marks(LINES, [...LINES, 'last'])).toEqual(['+last']);
  expect(marks(['a', 'b'], ['c'])).toEqual(['-a', '-b', '+c']);
  expect(firstDifference('a', 'a')).toBeNull();
});
