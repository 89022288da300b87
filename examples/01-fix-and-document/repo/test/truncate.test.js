import assert from 'node:assert/strict';
import { test } from 'node:test';
import { truncate } from '../src/index.js';

test('a short text stays as it is', () => {
  assert.equal(truncate('harbour', 20), 'harbour');
});

test('a long text is cut, without a space before the ellipsis', () => {
  assert.equal(truncate('the harbour at night', 5), 'the…');
});

test('a text that fits exactly stays as it is', () => {
  assert.equal(truncate('harbour', 7), 'harbour');
});
