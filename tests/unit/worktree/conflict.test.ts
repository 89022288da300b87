import { expect, test } from 'vitest';
import { describeConflict, kindOfStages, limitHunks } from '../../../src/worktree/conflict.ts';
import { parseHunks } from '../../../src/worktree/hunks.ts';
import { markerLines } from '../../../src/worktree/markers.ts';

const TEXT = [
  'top',
  '<<<<<<< ours',
  'mine',
  '||||||| base',
  '<<<<<<<<< inner',
  '=========',
  '>>>>>>>>> inner',
  '=======',
  'theirs',
  '>>>>>>> theirs',
  'between',
  '<<<<<<< ours\r',
  '=======\r',
  'only theirs\r',
  '>>>>>>> theirs\r',
  '',
].join('\n');

test('hunks are read in diff3 and plain form, with nested and CRLF markers', () => {
  expect(parseHunks(TEXT)).toEqual([
    {
      line: 2,
      ours: ['mine'],
      base: ['<<<<<<<<< inner', '=========', '>>>>>>>>> inner'],
      theirs: ['theirs'],
    },
    { line: 12, ours: [], base: null, theirs: ['only theirs\r'] },
  ]);
});

test('what is no whole set of markers is no hunk', () => {
  expect(parseHunks('Heading\n=======\ntext\n')).toEqual([]);
  expect(parseHunks('<<<<<<< a\nx\n=======\ny\n')).toEqual([]);
  expect(parseHunks('>>>>>>> b\n<<<<<<<no space\n')).toEqual([]);
});

test('left-over markers are found by their opening lines', () => {
  expect(markerLines(TEXT)).toEqual([2, 12]);
  expect(markerLines('Heading\n=======\n> quote\n>>>>>>> deep\n')).toEqual([]);
  expect(markerLines('<<<<<<< a\n>>>>>>> b\n')).toEqual([]);
});

test('a conflict is named by git, else by the stages that are there', () => {
  expect([[1, 2, 3], [2, 3], [1, 2], [1, 3], [1], [2]].map(kindOfStages)).toEqual([
    'content',
    'add/add',
    'modify/delete',
    'modify/delete',
    'modify/delete',
    'rename',
  ]);
  const merged = {
    tree: '',
    stages: new Map([['f', [1, 2, 3]]]),
    messages: [{ paths: ['f'], type: 'CONFLICT (contents)', text: 'CONFLICT (content): in f' }],
  };
  expect(describeConflict(merged, 'f', TEXT)).toMatchObject({ kind: 'content', cut: false });
});

test('a long conflict is cut and says so', () => {
  const lines = Array.from({ length: 300 }, (_, index) => `line ${index}`);
  const hunk = { line: 1, ours: lines, base: null, theirs: [] };
  expect(limitHunks([hunk])).toMatchObject({ cut: true, hunks: [{ ours: lines.slice(0, 200) }] });
  expect(limitHunks(Array.from({ length: 30 }, () => ({ ...hunk, ours: [] })))).toMatchObject({
    cut: true,
    hunks: { length: 20 },
  });
});
