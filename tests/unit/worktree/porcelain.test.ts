import { expect, test } from 'vitest';
import { parseSummary } from '../../../src/worktree/diff.ts';
import { parseMergeTree, parseStatus, parseTreeList } from '../../../src/worktree/porcelain.ts';
import { excludedChanges, parseStaged } from '../../../src/worktree/stage.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);

test('a list of trees is read with locks, reasons and odd paths', () => {
  const text = [
    `worktree /repo\0HEAD ${A}\0branch refs/heads/main\0\0`,
    `worktree /trees/new\nline \0HEAD ${B}\0detached\0locked\0\0`,
    `worktree /gone\0HEAD ${B}\0branch refs/heads/x/y\0locked on a stick\0prunable gitdir file points to non-existent location\0\0`,
    'worktree /bare.git\0bare\0\0',
  ].join('');
  expect(parseTreeList(text)).toEqual([
    {
      path: '/repo',
      head: A,
      branch: 'main',
      bare: false,
      detached: false,
      locked: null,
      prunable: null,
    },
    {
      path: '/trees/new\nline ',
      head: B,
      branch: null,
      bare: false,
      detached: true,
      locked: '',
      prunable: null,
    },
    {
      path: '/gone',
      head: B,
      branch: 'x/y',
      bare: false,
      detached: false,
      locked: 'on a stick',
      prunable: 'gitdir file points to non-existent location',
    },
    {
      path: '/bare.git',
      head: null,
      branch: null,
      bare: true,
      detached: false,
      locked: null,
      prunable: null,
    },
  ]);
  expect(parseTreeList('')).toEqual([]);
});

test('a status is read with both names of a rename', () => {
  expect(parseStatus(' M a b\0R  new\0old\0?? d/\n\0')).toEqual([
    { path: 'a b', code: ' M' },
    { path: 'new', code: 'R ' },
    { path: 'old', code: 'R ' },
    { path: 'd/\n', code: '??' },
  ]);
  expect(parseStatus('')).toEqual([]);
});

test('a merge report is read with stages and messages; a clean one is only a tree', () => {
  const text = `${A}\x00100644 ${B} 1\tf\n\x00100644 ${B} 2\tf\n\x00100644 ${B} 3\tf\n\0\x001\0f\n\0Auto-merging\0Auto-merging f\n\x002\0f\n\0g\0CONFLICT (rename/rename)\0both\n\0`;
  expect(parseMergeTree(text)).toEqual({
    tree: A,
    stages: new Map([['f\n', [1, 2, 3]]]),
    messages: [
      { paths: ['f\n'], type: 'Auto-merging', text: 'Auto-merging f' },
      { paths: ['f\n', 'g'], type: 'CONFLICT (rename/rename)', text: 'both' },
    ],
  });
  expect(parseMergeTree(`${A}\0`)).toEqual({ tree: A, stages: new Map(), messages: [] });
  expect(parseMergeTree('')).toEqual({ tree: '', stages: new Map(), messages: [] });
});

test('a diff summary joins states and counts, also of renames and binary files', () => {
  const raw = [
    `:100644 100644 ${A} ${B} M\0a\0`,
    `:100644 100644 ${A} ${B} R090\0old\0new\0`,
    `:000000 100644 ${A} ${B} A\0b.bin\0`,
  ].join('');
  expect(parseSummary(`${raw}1\t2\ta\x003\t0\t\0old\0new\0-\t-\tb.bin\0`)).toEqual([
    { path: 'a', oldPath: null, status: 'modified', added: 1, removed: 2 },
    { path: 'new', oldPath: 'old', status: 'renamed', added: 3, removed: 0 },
    { path: 'b.bin', oldPath: null, status: 'added', added: null, removed: null },
  ]);
  expect(parseSummary('')).toEqual([]);
});

test('W6: excluded paths go back to what the base has', () => {
  const staged = parseStaged(
    `100644 ${A} 0\tkept\x00100644 ${B} 0\tchanged\x00100644 ${A} 0\tnew\x00100644 ${A} 2\tclash\0`,
  );
  const base = new Map([
    ['kept', `100644 ${A}`],
    ['changed', `100644 ${A}`],
    ['gone', `120000 ${B}`],
    ['clash', `100644 ${B}`],
  ]);
  expect(excludedChanges(staged, base)).toEqual([
    `0 ${'0'.repeat(40)}\tchanged`,
    `0 ${'0'.repeat(40)}\tnew`,
    `0 ${'0'.repeat(40)}\tclash`,
    `100644 ${A}\tchanged`,
    `120000 ${B}\tgone`,
    `100644 ${B}\tclash`,
  ]);
});
