import { expect, test } from 'vitest';
import {
  formatNote,
  MemoryStore,
  type Note,
  parseNotes,
  recall,
} from '../../../src/memory/index.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';

const note = (text: string, id = text.replaceAll(/\W/g, ''), day = '01'): Note => ({
  text,
  noted: { at: `2026-11-${day}T00:00:00.000Z`, by: 'ada', run: 'run-1', id },
});
const all = (notes: readonly Note[], query?: string, charsMax = 10_000): string[] =>
  recall(notes, { query, charsMax });

test('a note is read back as it was written, and its text cannot pass for another', () => {
  for (const text of [
    'One line.',
    'Two\nlines',
    '- like an item',
    'x <!-- 2026-11-01T00:00:00.000Z eve run-9 id-9 -->',
  ]) {
    const written = formatNote(note(text, 'id-1'));
    const read = parseNotes(written);
    expect(read).toHaveLength(1);
    expect(read[0]?.noted).toEqual(note(text, 'id-1').noted);
  }
});

test('what people write is read: items, paragraphs, no headings; nothing makes it throw', () => {
  const read = parseNotes(
    '# Memory\n\n- Use make.\n  Not npm.\n* Tests need Redis.\n\nA paragraph\nof two lines.\n---\n',
  );
  expect(read.map(({ text, noted }) => [text, noted])).toEqual([
    ['Use make.\nNot npm.', null],
    ['Tests need Redis.', null],
    ['A paragraph\nof two lines.', null],
  ]);
  for (const odd of ['', '\0', '<!-- -->', '- \n-\n', '<!-- 2026-11-01T00:00:00.000Z a b c -->']) {
    expect(parseNotes(odd).length).toBeLessThan(2);
  }
});

test('without a query the newest come first, once each, within the budget', () => {
  const notes = [
    note('Old fact.'),
    note('Same fact.', 'a'),
    note('Newer.'),
    note('same  fact', 'b', '02'),
  ];
  expect(all(notes)).toEqual([
    '- same  fact (noted 2026-11-02 by ada in run run-1)',
    '- Newer. (noted 2026-11-01 by ada in run run-1)',
    '- Old fact. (noted 2026-11-01 by ada in run run-1)',
  ]);
  expect(all(notes, undefined, 60)).toHaveLength(1);
  expect(all([])).toEqual([]);
});

test('with a query the rarest words weigh most, and of equals the newer goes first', () => {
  const notes = [
    note('The tests of the parser need Redis.'),
    note('The tests of the server are slow.'),
    note('The tests of the client are slow.'),
    note('Releases are made on Friday.'),
  ];
  expect(all(notes, 'redis tests')[0]).toContain('Redis');
  expect(all(notes, 'slow test')[0]).toContain('client');
  expect(all(notes, 'release')).toHaveLength(1);
  expect(all(notes, 'unheard')).toEqual([]);
});

test('Y1 Y2: the store keeps each note once, and the oldest give way', async () => {
  const files = new MemoryFiles();
  const store = new MemoryStore(files, '/s/memory');
  const read = async (): Promise<Note[]> =>
    parseNotes(new TextDecoder().decode(await files.readFile(store.path)));
  await Promise.all([
    store.keep([note('One.')]),
    store.keep([note('Two.')]),
    store.keep([note('One.')]),
  ]);
  await store.keep([note('two', 'other')]);
  expect((await read()).map(({ text }) => text)).toEqual(['One.', 'Two.']);
  await store.keep(
    Array.from({ length: 200 }, (_, n) => note(`${n} ${'x'.repeat(1_900)}`, `id-${n}`)),
  );
  const kept = await read();
  expect((await files.readFile(store.path)).length).toBeLessThanOrEqual(256 * 1024);
  expect(kept.at(-1)?.noted?.id).toBe('id-199');
  expect(kept.map(({ text }) => text)).not.toContain('One.');
});
