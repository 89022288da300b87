import { expect, test } from 'vitest';
import { asTaskId } from '../../../src/kernel/index.ts';
import { othersInConflict } from '../../../src/supervisor/decide/conflict-letter.ts';
import { conflictNote, lostText } from '../../../src/supervisor/effects/conflict-note.ts';
import { OTHERS_TOLD_MAX } from '../../../src/supervisor/limits.ts';
import { Run, spec } from '../tasks/support.ts';

function landed(run: Run, id: string, commit: string): void {
  run.claim(id);
  run.finish(id);
  run.verified(id);
  run.apply({ type: 'task.done', id: asTaskId(id), commit });
}

test('a note of a conflict has both sides, what stood before, and the commit that both began from', () => {
  const hunk = { line: 3, ours: ['mine'], base: ['old'], theirs: ['other'] };
  const file = { path: 'a.ts', kind: 'content', text: '', hunks: [hunk], cut: true };
  const note = conflictNote({ base: 'b0b0', mergeHead: 'cafe', files: [file] });
  expect(note).toContain('begun from commit b0b0');
  expect(note).toContain('git diff b0b0 cafe');
  expect(note.slice(note.indexOf('a.ts (content)'))).toBe(
    [
      'a.ts (content)',
      'a.ts:3',
      '<<<<<<< your work',
      'mine',
      '||||||| before both',
      'old',
      '=======',
      'other',
      '>>>>>>> the integration branch',
      '(there is more of it in the file)',
    ].join('\n'),
  );
  expect(conflictNote({ base: null, mergeHead: 'cafe', files: [] })).toContain(
    'no commit in common',
  );
});

test('lines that would be lost are told, with whose they are', () => {
  const text = lostText([
    { path: 'a.ts', side: 'ours', lines: ['theirs 1', 'theirs 2'] },
    { path: 'a.ts', side: 'theirs', lines: ['mine'] },
  ]);
  expect(text).toBe(
    'A merge would lose lines that one side added: a.ts.\na.ts, from the integration branch:\n  theirs 1\n  theirs 2\na.ts, from your work:\n  mine',
  );
});

test('the tasks that changed the files are named, the newest first, with what their workers say', () => {
  const run = new Run(spec('one'), spec('two', { title: 'Greet all' }), spec('three'));
  landed(run, 'one', 'c1');
  landed(run, 'two', 'c4');
  landed(run, 'three', 'c5');
  const of = (...touched: string[]): string | null =>
    othersInConflict(
      run.graph,
      ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'].map((commit) => ({
        commit,
        touches: touched.includes(commit),
      })),
    );
  expect(of('c1', 'c5')).toBe(
    'What changed these files meanwhile:\n- three (three) by ada, merged as c5: did three\n- one (one) by ada, merged as c1: did one',
  );
  // Of the several commits of a task only the last is on record; what nobody of the run did has no summary.
  expect(of('c2')).toContain('- two (Greet all) by ada, merged as c4: did two');
  expect(of('c6')).toBeNull();
  expect(of()).toBeNull();
});

test('a conflict with very many is told in few lines', () => {
  const ids = Array.from({ length: OTHERS_TOLD_MAX + 3 }, (_, index) => `t${index}`);
  const run = new Run(...ids.map((id) => spec(id)));
  for (const id of ids) landed(run, id, `of-${id}`);
  const text = othersInConflict(
    run.graph,
    ids.map((id) => ({ commit: `of-${id}`, touches: true })),
  );
  expect(text?.split('\n')).toHaveLength(OTHERS_TOLD_MAX + 2);
  expect(text).toContain('- and 3 more');
});
