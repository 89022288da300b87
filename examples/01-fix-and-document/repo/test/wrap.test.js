import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wrap } from '../src/index.js';

test('lines are broken between words', () => {
  assert.equal(wrap('the harbour at night is calm', 12), 'the harbour\nat night is\ncalm');
});

test('a word that is longer than a line gets one of its own', () => {
  assert.equal(wrap('an extraordinarily long word', 8), 'an\nextraordinarily\nlong\nword');
});

test('line feeds in the text stay', () => {
  assert.equal(wrap('first line\n\nsecond one', 6), 'first\nline\n\nsecond\none');
});
