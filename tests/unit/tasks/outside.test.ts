import { expect, test } from 'vitest';
import { outsideOf } from '../../../src/tasks/index.ts';

test('paths that no glob names; a folder stands for what lies in it, case does not matter', () => {
  const paths = ['src/parser/a.ts', 'src/lexer/b.ts', 'README.md', 'Docs/x/y.md', 'src/[id].ts'];
  expect(outsideOf(['src/parser/**'], paths)).toEqual(paths.slice(1));
  expect(outsideOf(['src/*/*.ts', 'docs'], paths)).toEqual(['README.md', 'src/[id].ts']);
  expect(outsideOf(['**'], paths)).toEqual([]);
  expect(outsideOf(['src/[ab].ts'], ['src/[id].ts', 'src/a.tsx'])).toEqual(['src/a.tsx']);
});

test('a name in brackets is a name, not a pattern of its own', () => {
  expect(outsideOf(['src/a.ts'], ['src/[a].ts', 'src/*.ts', 'src/?.ts'])).toEqual([
    'src/[a].ts',
    'src/*.ts',
    'src/?.ts',
  ]);
});
