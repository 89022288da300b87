import { expect, test } from 'vitest';
import { applyCron, applyDamaged, cronRows, emptyBook, newJob } from '../../../src/cron/index.ts';
import { PLAIN_WISH } from '../../support/cron-world.ts';

const AT = Date.parse('2026-03-29T00:00:00Z');

function jobRecord(name: string, s: number) {
  const { job } = newJob({ ...PLAIN_WISH, name, everyMs: 60_000 }, { at: AT, id: 'a' });
  return { s, k: 'cron', what: 'job', name, body: job };
}

const brokenOf = (book: ReturnType<typeof emptyBook>): string[] =>
  cronRows(book).flatMap(({ name, broken }) => (broken === null ? [] : [name]));

test('C5 a job whose newest line is damaged is set aside by its name, whatever older lines say of it', () => {
  const book = emptyBook();
  for (const record of [jobRecord('old', 3), jobRecord('other', 4)]) applyCron(book, record);
  const line = JSON.stringify({ ...jobRecord('old', 9), body: { edited: true } });
  applyDamaged(book, line.slice(0, -20), 9);
  expect(brokenOf(book)).toEqual(['old']);
  expect([...book.jobs.keys()]).toEqual(['other']);
  // Added again, it is whole.
  applyCron(book, jobRecord('old', 12));
  expect(brokenOf(book)).toEqual([]);
});

test('C5 damage that a newer line has made good, and damage of other things, sets nothing aside', () => {
  const book = emptyBook();
  applyCron(book, jobRecord('a', 20));
  applyCron(book, { s: 21, k: 'cron', what: 'job.removed', name: 'gone' });
  applyDamaged(book, JSON.stringify(jobRecord('a', 5)), 5);
  applyDamaged(book, JSON.stringify(jobRecord('gone', 6)), 6);
  applyDamaged(book, '{"s":30,"k":"grant","what":"job","name":"a"', 30);
  applyDamaged(book, '\u0000\u0001', 31);
  expect(brokenOf(book)).toEqual([]);
  expect([...book.jobs.keys()]).toEqual(['a']);
});
