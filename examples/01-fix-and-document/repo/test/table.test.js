import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../src/index.js';

test('a column is as wide as its widest cell', () => {
  const rows = [
    ['readme.md', 'text'],
    ['a.js', 'code'],
  ];
  assert.equal(table(['NAME', 'KIND'], rows), 'NAME       KIND\nreadme.md  text\na.js       code');
});

test('numbers count by their digits', () => {
  const rows = [
    [128000, 'huge'],
    [7, 'tiny'],
  ];
  assert.equal(table(['SIZE', 'NOTE'], rows), 'SIZE    NOTE\n128000  huge\n7       tiny');
});

test('without rows the titles are left', () => {
  assert.equal(table(['NAME', 'KIND'], []), 'NAME  KIND');
});
