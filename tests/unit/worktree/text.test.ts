import { describe, expect, test } from 'vitest';
import { isTroupeError } from '../../../src/kernel/index.ts';
import { runOfBranch } from '../../../src/worktree/branches.ts';
import { cleanPath } from '../../../src/worktree/carry.ts';
import { withTrailer } from '../../../src/worktree/commit.ts';
import { carriedPaths } from '../../../src/worktree/index.ts';
import { isExcluded, isWithin, nameOf, normalize, parentOf } from '../../../src/worktree/paths.ts';
import { isObjectId, isSupportedVersion, parseConfig } from '../../../src/worktree/repository.ts';

describe('carried paths', () => {
  test('are cleaned, may be optional, and are listed once', () => {
    expect(cleanPath('./a/b/')).toEqual({ path: 'a/b', optional: false });
    expect(cleanPath('.env?')).toEqual({ path: '.env', optional: true });
    expect(carriedPaths({ copies: ['.env', './.env?'], setupLinks: ['node_modules/'] })).toEqual([
      '.env',
      'node_modules',
    ]);
  });

  test.each([
    '',
    '?',
    '.',
    '/',
    '/abs',
    '~/x',
    '..',
    'a/../../b',
    'a/./b',
    'a//b',
    '.git',
    'a/.GIT/x',
  ])('W7: %j is refused', (path) => {
    let code = '';
    try {
      cleanPath(path);
    } catch (error) {
      code = isTroupeError(error) ? error.code : String(error);
    }
    expect(code).toBe('worktree/bad-carry-path');
  });
});

test('paths are worked on as text', () => {
  expect([parentOf('/a/b'), parentOf('/a'), parentOf('/'), parentOf('a')]).toEqual([
    '/a',
    '/',
    '/',
    '/',
  ]);
  expect([nameOf('/a/b'), nameOf('x')]).toEqual(['b', 'x']);
  expect([normalize('/a/b', '../c'), normalize('/a', '/x/./y/'), normalize('/', '../..')]).toEqual([
    '/a/c',
    '/x/y',
    '/',
  ]);
  expect([
    isWithin('/a', '/a'),
    isWithin('/a', '/a/b'),
    isWithin('/a', '/ab'),
    isWithin('/', '/x'),
  ]).toEqual([true, true, false, true]);
  expect([
    isExcluded('.env', ['.env']),
    isExcluded('.env2', ['.env']),
    isExcluded('d/x', ['d']),
  ]).toEqual([true, false, true]);
});

test('a trailer joins the block of trailers that is there, once', () => {
  const trailer = 'Co-authored-by: ada (Troupe) <ada@troupe.local>';
  expect(withTrailer('Fix: it', 'ada')).toBe(`Fix: it\n\n${trailer}`);
  expect(withTrailer('Fix\n\nWhy.\n', 'ada')).toBe(`Fix\n\nWhy.\n\n${trailer}`);
  expect(withTrailer('Fix\n\nRefs: #1', 'ada')).toBe(`Fix\n\nRefs: #1\n${trailer}`);
  expect(withTrailer(`Fix\n\n${trailer}`, 'ada')).toBe(`Fix\n\n${trailer}`);
  expect(withTrailer(' Fix \n', null)).toBe('Fix');
});

test('versions, object ids, branches and config are read', () => {
  expect(['2.38', '2.39.5', '3.0', '2.37.9', '1.99', ''].map(isSupportedVersion)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(['a'.repeat(40), 'a'.repeat(64), 'a'.repeat(50), 'HEAD'].map(isObjectId)).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(['troupe/r/main', 'troupe/r/task/t', 'troupe/r/other', 'main'].map(runOfBranch)).toEqual([
    'r',
    'r',
    null,
    null,
  ]);
  expect([...parseConfig('a.b\nx\0a.b\ny\nz\0c.d\0')]).toEqual([
    ['a.b', 'y\nz'],
    ['c.d', 'true'],
  ]);
});
