import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  droppedSides,
  type FileChanges,
  findLost,
  isSignificant,
  outsideHunks,
  parseLineChanges,
  unquote,
} from '../../../src/worktree/survival.ts';

const changes = (lines: Record<string, number>, path = 'f'): FileChanges[] => [
  { path, lines: new Map(Object.entries(lines)) },
];

describe('parseLineChanges', () => {
  test('counts lines by file and is not misled by what lines look like', () => {
    const patch = [
      'diff --git a/f b/f',
      'index 1..2 100644',
      '--- a/f',
      '+++ b/f',
      '@@ -1,2 +1,3 @@ context',
      '--- old',
      '-x',
      '++++ b/g',
      '+x',
      '+@@ -1 +1 @@',
      '\\ No newline at end of file',
      'diff --git "a/\\303\\274 n" "b/\\303\\274 n"',
      'deleted file mode 100644',
      '--- "a/\\t n"',
      '+++ /dev/null',
      '@@ -1 +0,0 @@',
      '-gone',
      'diff --git a/b.bin b/b.bin',
      'Binary files a/b.bin and b/b.bin differ',
      '',
    ].join('\n');
    expect(parseLineChanges(patch)).toEqual([
      {
        path: 'f',
        lines: new Map([
          ['-- old', -1],
          ['x', 0],
          ['+++ b/g', 1],
          ['@@ -1 +1 @@', 1],
        ]),
      },
      { path: '\t n', lines: new Map([['gone', -1]]) },
      { path: '', lines: new Map() },
    ]);
  });

  test('unquotes names', () => {
    expect(unquote('"a\\"b\\\\c\\n\\001"')).toBe('a"b\\c\n\u0001');
    expect(unquote('plain')).toBe('plain');
  });
});

describe('findLost', () => {
  test('W11: a line that one side added and the result has not is lost', () => {
    const ours = changes({ mine: 1 });
    const theirs = changes({ yours: 1, '}': 1 });
    expect(findLost({ ours, theirs, results: [changes({ mine: 1, yours: 1 })] })).toEqual([]);
    expect(findLost({ ours, theirs, results: [changes({ mine: 1 })] })).toEqual([
      { path: 'f', side: 'theirs', lines: ['yours'] },
    ]);
  });

  test('the same addition on both sides is needed once, different ones add up', () => {
    const both = { ours: changes({ x: 1 }), theirs: changes({ x: 1 }) };
    expect(findLost({ ...both, results: [changes({ x: 1 })] })).toEqual([]);
    const moved = { ours: changes({ x: -1 }), theirs: changes({ x: 1 }) };
    expect(findLost({ ...moved, results: [changes({})] })).toEqual([]);
  });

  test('a line that moved to another file is not lost', () => {
    const ours = [...changes({ a: -1 }, 'old'), ...changes({ a: 1 }, 'new')];
    const theirs = changes({ added: 1 }, 'old');
    const result = [...changes({ a: -1 }, 'old'), ...changes({ a: 1, added: 1 }, 'new')];
    expect(findLost({ ours, theirs, results: [result] })).toEqual([]);
  });

  test('one of several results is enough', () => {
    const survival = { ours: changes({ a: 1 }), theirs: changes({}) };
    expect(findLost({ ...survival, results: [changes({}), changes({ a: 1 })] })).toEqual([]);
  });

  test('W11: a merge that applies both changes in full never loses a line', () => {
    const side = fc.dictionary(
      fc.constantFrom('a', 'b', 'c', 'd'),
      fc.integer({ min: -3, max: 3 }),
    );
    fc.assert(
      fc.property(side, side, (ours, theirs) => {
        const sum = Object.fromEntries(
          ['a', 'b', 'c', 'd'].map((line) => [line, (ours[line] ?? 0) + (theirs[line] ?? 0)]),
        );
        const results = [changes(sum)];
        expect(findLost({ ours: changes(ours), theirs: changes(theirs), results })).toEqual([]);
      }),
    );
  });
});

describe('resolutions', () => {
  const hunk = { line: 1, ours: ['mine'], base: [], theirs: ['yours'] };

  test('what stands in a hunk is not expected', () => {
    const merged = changes({ outside: 1, mine: 1, yours: 1, old: 0 });
    expect([...outsideHunks(merged, [{ ...hunk, base: ['old'] }])]).toEqual([
      ['outside', 1],
      ['mine', 0],
      ['yours', 0],
      ['old', -1],
    ]);
  });

  test('W11: of two additions, each side must leave something', () => {
    expect(droppedSides([hunk], [changes({ mine: 1 })])).toEqual([
      { side: 'theirs', lines: ['yours'] },
    ]);
    expect(droppedSides([hunk], [changes({ mine: 1 }), changes({ yours: 1 })])).toEqual([]);
    const edited = { ...hunk, base: ['was'] };
    expect(droppedSides([edited, { ...hunk, base: null }], [changes({})])).toEqual([]);
  });
});

test('brackets and blanks are not significant, words in any script are', () => {
  expect(['}', '', '  });', '---', 'x', 'ü', '中', '1'].filter(isSignificant)).toEqual([
    'x',
    'ü',
    '中',
    '1',
  ]);
});
