import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slugify } from '../src/index.js';

test('words are joined by one hyphen', () => {
  assert.equal(slugify('  Small, sharp -- tools! '), 'small-sharp-tools');
});

test('accents go, their letters stay', () => {
  assert.equal(slugify('Crème Brûlée à la carte'), 'creme-brulee-a-la-carte');
});

test('nothing is left of what has neither letters nor digits', () => {
  assert.equal(slugify('…!?'), '');
});
