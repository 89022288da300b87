import { expect, test } from 'vitest';
import { safeLine, safeText } from '../../../src/cli/text/safe.ts';
import { COLOR_STYLES, PLAIN_STYLES, wantsColor } from '../../../src/cli/text/style.ts';
import { type Column, renderPairs, renderTable } from '../../../src/cli/text/table.ts';
import { duration, money, tokens } from '../../../src/cli/text/time.ts';
import { fit, pad, widthOf } from '../../../src/cli/text/width.ts';
import { NO_USAGE } from '../../../src/protocol/usage.ts';

test('escape sequences, bells, C1 and bidi marks become visible', () => {
  expect(safeText('\u001B[2J\u001B]0;title\u0007')).toBe('\\u{1b}[2J\\u{1b}]0;title\\u{7}');
  expect(safeText('a\u009Bb')).toBe('a\\u{9b}b');
  expect(safeText('user\u202Enimda')).toBe('user\\u{202e}nimda');
  expect(safeText('one\r\ntwo\tx')).toBe('one\ntwo\tx');
  expect(safeText('over\rwrite')).toBe('over\\u{d}write');
});

test('a cell is one line', () => {
  expect(safeLine('  one\n\n two\tthree ')).toBe('one two three');
});

test('a family emoji keeps its joiners', () => {
  expect(safeText('👩‍👧')).toBe('👩‍👧');
});

test('width counts columns, not characters', () => {
  expect(widthOf('abc')).toBe(3);
  expect(widthOf('日本')).toBe(4);
  expect(widthOf('e\u0301')).toBe(1);
  expect(widthOf('✓ ok')).toBe(4);
});

test('fit never is wider than asked, also with wide characters', () => {
  expect(fit('hello', 5)).toBe('hello');
  expect(fit('hello', 4)).toBe('hel…');
  expect(fit('日本語', 4)).toBe('日…');
  expect(fit('x', 0)).toBe('');
  expect(pad('日', 4)).toBe('日  ');
});

interface Row {
  readonly name: string;
  readonly note: string;
  readonly n: number;
}

const COLUMNS: readonly Column<Row>[] = [
  { head: 'NAME', cell: (row) => row.name },
  { head: 'N', cell: (row) => String(row.n), align: 'right' },
  { head: 'NOTE', cell: (row) => row.note, shrinkTo: 4 },
];

const rows: readonly Row[] = [
  { name: 'ada', note: 'a rather long note that goes on', n: 5 },
  { name: 'bo\u001B[31m', note: 'x', n: 1234 },
];

test('a table is aligned, escapes what it shows and has no trailing blanks', () => {
  expect(renderTable(COLUMNS, rows, { width: null, styles: PLAIN_STYLES })).toBe(
    [
      'NAME             N  NOTE',
      'ada              5  a rather long note that goes on',
      'bo\\u{1b}[31m  1234  x',
      '',
    ].join('\n'),
  );
});

test('a narrow terminal cuts the columns that may be cut', () => {
  const text = renderTable(COLUMNS, rows, { width: 30, styles: PLAIN_STYLES });
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(30);
  expect(text).toContain('…');
  const tiny = renderTable(COLUMNS, rows, { width: 5, styles: PLAIN_STYLES });
  expect(tiny).toContain('a r…');
});

test('colours do not count as width', () => {
  const styled: readonly Column<Row>[] = [
    { head: 'NAME', cell: (row) => row.name, style: (_row, styles) => styles.red },
    { head: 'N', cell: (row) => String(row.n) },
  ];
  const text = renderTable(styled, [rows[0]!], { width: 40, styles: COLOR_STYLES });
  expect(text).toContain('\u001B[31mada\u001B[39m   5');
});

test('pairs are aligned', () => {
  expect(
    renderPairs([
      ['a', '1'],
      ['long', '2'],
    ]),
  ).toBe('a     1\nlong  2\n');
});

test('colours are off without a terminal, with NO_COLOR, and on a dumb terminal', () => {
  expect(wantsColor(true, {})).toBe(true);
  expect(wantsColor(true, { NO_COLOR: '' })).toBe(true);
  expect(wantsColor(true, { NO_COLOR: '1' })).toBe(false);
  expect(wantsColor(true, { TERM: 'dumb' })).toBe(false);
  expect(wantsColor(false, {})).toBe(false);
});

test('durations and amounts are short', () => {
  expect([0, 9_400, 65_000, 3_600_000 * 2 + 180_000].map(duration)).toEqual([
    '0s',
    '9s',
    '1m05s',
    '2h03m',
  ]);
  expect(money(NO_USAGE)).toBe('-');
  expect(money({ ...NO_USAGE, costUsd: 0.421 })).toBe('$0.42');
  expect(money({ ...NO_USAGE, costUsd: 0.0031, estimated: true })).toBe('~$0.0031');
  expect(tokens({ ...NO_USAGE, inputTokens: 12_345 })).toBe('12.3k');
});

test('a column with a measure is cut to it where there is no terminal, too', () => {
  const rows = [{ text: 'x'.repeat(300) }];
  const shown = renderTable([{ head: 'REASON', cell: (row) => row.text, max: 20 }], rows, {
    width: null,
    styles: PLAIN_STYLES,
  });
  expect(shown).toBe(`REASON\n${'x'.repeat(19)}…\n`);
});
