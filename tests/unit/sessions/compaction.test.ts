import { expect, test } from 'vitest';
import { asActorName, asCallId, asEnvelopeId, asTaskId } from '../../../src/kernel/index.ts';
import {
  type MailItem,
  NO_USAGE,
  type PlacedEntry,
  type SessionEntry,
} from '../../../src/protocol/index.ts';
import {
  digestTurns,
  ownNotes,
  planCompaction,
  tellTurns,
  todoLines,
} from '../../../src/sessions/index.ts';

function answer(...calls: { id: string; name: string; input: unknown }[]): SessionEntry {
  return {
    type: 'answer',
    task: null,
    model: 'm',
    content: [
      { type: 'text', text: `I call ${calls.length}.` },
      ...calls.map(({ id, ...call }) => ({ type: 'call' as const, id: asCallId(id), ...call })),
    ],
    stop: 'calls',
    usage: NO_USAGE,
  };
}

function result(call: string, text: string, ok = true): SessionEntry {
  return { type: 'result', call: asCallId(call), tool: 'bash', ok, text };
}

function letter(n: number, type: MailItem['type'], from: string, text: string): SessionEntry {
  const id = asEnvelopeId(`env_${n}`);
  const task = asTaskId('t');
  return { type: 'mail', items: [{ n, id, from: asActorName(from), type, task, text }] };
}

const place = (entries: readonly SessionEntry[]): PlacedEntry[] =>
  entries.map((entry, at) => ({ seq: at + 1, at: '', entry }));

const bash = (id: string) => ({ id, name: 'bash', input: { command: id } });

test('L23: of lists the newest that succeeded counts, of notes all that did', () => {
  const write = (id: string, text: string) => ({
    id,
    name: 'todo_write',
    input: { items: [{ text, state: 'doing' }] },
  });
  const note = (id: string, text: string) => ({ id, name: 'note_save', input: { text } });
  const entries = place([
    answer(write('a', 'first'), note('b', 'one'), note('c', 'never saved')),
    result('a', 'ok'),
    result('b', 'ok'),
    result('c', 'interrupted', false),
    answer(write('d', 'second'), note('e', 'two')),
    result('e', 'ok'),
    result('d', 'ok'),
    answer(write('f', 'third')),
  ]);
  const { todo, notes } = ownNotes(entries);
  expect(todoLines(todo)).toEqual(['[~] second']);
  expect(notes).toEqual(['one', 'two']);
});

test('L24: turns are kept whole, with the mail that they took in; at least the newest is', () => {
  const entries = place([
    letter(1, 'task.assign', 'supervisor', 'the task'),
    answer(bash('a'), bash('b')),
    result('b', 'x'.repeat(900)),
    result('a', 'ok'),
    letter(2, 'chat.message', 'user', 'not so fast'),
    answer(bash('c')),
    result('c', 'y'.repeat(5000)),
  ]);
  const plan = planCompaction(entries, { turnBytes: 0, letterBytes: 100, resultBytes: 1000 });
  expect(plan.keptFrom).toBe(5);
  expect(plan.kept).toHaveLength(3);
  expect(plan.letters.map((item) => item.n)).toEqual([1]);
  expect(plan.cut.map(({ call }) => call)).toEqual(['c']);
  const mild = planCompaction(entries, { turnBytes: 9000, letterBytes: 0, resultBytes: 9000 });
  expect(mild).toMatchObject({ keptFrom: 1, dropped: [], cut: [] });
});

test('the task’s letter is kept whatever its size, others of user and lead as far as there is room', () => {
  const entries = place([
    letter(1, 'task.assign', 'supervisor', 'z'.repeat(500)),
    letter(2, 'chat.message', 'bo', 'hello'),
    letter(3, 'chat.message', 'user', 'u'.repeat(60)),
    letter(4, 'chat.message', 'lead', 'short'),
    letter(5, 'chat.message', 'user', 'w'.repeat(60)),
    answer(bash('a')),
    result('a', 'ok'),
    answer(bash('b')),
    result('b', 'ok'),
  ]);
  const keep = (letterBytes: number): number[] =>
    planCompaction(entries, { turnBytes: 0, letterBytes, resultBytes: 1000 }).letters.map(
      (item) => item.n,
    );
  expect(keep(0)).toEqual([1]);
  expect(keep(570)).toEqual([1, 4, 5]);
  expect(keep(1000)).toEqual([1, 3, 4, 5]);
});

test('what is told of turns is shortened before anything is left out, and then the oldest goes', () => {
  const entries = place(
    Array.from({ length: 20 }, (_, at) => [
      answer(bash(`step-${at}`)),
      result(`step-${at}`, `${'begin '.repeat(100)}middle${' end'.repeat(100)}`),
    ]).flat(),
  );
  const all = tellTurns(entries, 100_000);
  expect(all).toContain('middle');
  const half = tellTurns(entries, 12_000);
  expect(half.length).toBeLessThanOrEqual(12_000);
  expect(half).toContain('step-0');
  expect(half).not.toContain('middle');
  const little = tellTurns(entries, 2000);
  expect(little.length).toBeLessThanOrEqual(2000);
  expect(little).toMatch(/^\(\d+ earlier steps are left out\)/);
  expect(little).toContain('step-19');
  const digest = digestTurns(entries, 4000);
  expect(digest.length).toBeLessThanOrEqual(4000);
  expect(digest).toContain('CALLED bash {"command":"step-19"}');
});
