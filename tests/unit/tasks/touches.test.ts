import { expect, test } from 'vitest';
import { globsOverlap } from '../../../src/tasks/index.ts';

const both = (a: string, b: string): boolean => {
  const forth = globsOverlap([a], [b]);
  expect(globsOverlap([b], [a])).toBe(forth);
  return forth;
};

test.each([
  ['src/**', 'src/parser/x.ts'],
  ['src/**', 'src'],
  ['src', 'src/a/b.ts'],
  ['src/', 'src/a/b.ts'],
  ['./src/a.ts', 'src/a.ts'],
  ['**', 'anything/at/all'],
  ['**/*.ts', 'src/**'],
  ['src/**/test/*.ts', 'src/a/b/test/x.ts'],
  ['src/**/test/*.ts', 'src/test/x.ts'],
  ['src/*.ts', 'src/a*'],
  ['src/?.ts', 'src/a.ts'],
  ['README.md', 'readme.md'],
  ['src/{a,b}/x.ts', 'src/c/x.ts'],
  ['src/{a/b,c}/x.ts', 'src/zzz'],
  ['src/[ab].ts', 'src/z.ts'],
  ['!src/**', 'docs/a.md'],
  ['../other/**', 'docs/a.md'],
  ['a*c', 'ab*'],
  ['**/x/**', 'a/**/b'],
])('T6: %s and %s may name the same path', (a, b) => {
  expect(both(a, b)).toBe(true);
});

test.each([
  ['src/**', 'docs/**'],
  ['src/a.ts', 'src/b.ts'],
  ['src/*.ts', 'src/*.md'],
  ['src/*.ts', 'src/deep/a.ts'],
  ['src/?.ts', 'src/ab.ts'],
  ['src/{a,b}/x.ts', 'lib/a/x.ts'],
  ['a*c', 'b*'],
  ['src/**/test/*.ts', 'src/**/test/*.js'],
  ['lib', 'library/a.ts'],
])('%s and %s name no path in common', (a, b) => {
  expect(both(a, b)).toBe(false);
});

test('T6: lists overlap when any two of their globs do, and an empty one never does', () => {
  expect(globsOverlap(['docs/**', 'src/a.ts'], ['src/*'])).toBe(true);
  expect(globsOverlap(['docs/**'], [])).toBe(false);
  expect(globsOverlap([], [])).toBe(false);
});

test('a hostile glob is compared in time that its length bounds', () => {
  const stars = '*a'.repeat(400);
  expect(globsOverlap([`${stars}b`], [`${stars}c`])).toBe(false);
  const deep = '**/a/'.repeat(200);
  expect(globsOverlap([`${deep}b/*`], [`${deep}c/?`])).toBe(false);
});
