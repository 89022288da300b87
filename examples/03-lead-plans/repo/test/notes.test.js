import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeNotes } from '../src/notes.js';

test('notes are numbered from one', () => {
  const notes = makeNotes();
  notes.add('milk');
  notes.add('stamps');
  assert.deepEqual(notes.all(), [
    { id: 1, text: 'milk' },
    { id: 2, text: 'stamps' },
  ]);
});
