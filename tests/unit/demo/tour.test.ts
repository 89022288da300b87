import { expect, test } from 'vitest';
import { mailThatMattered, renderTour, type TourTask } from '../../../src/cli/demo/tour.ts';
import { PLAIN_STYLES } from '../../../src/cli/text/style.ts';
import { asActorName, asEnvelopeId, asTaskId } from '../../../src/kernel/index.ts';
import { shellWord } from '../../../src/kernel/shell-word.ts';
import { type MailRow, NO_USAGE, type RunRow } from '../../../src/protocol/index.ts';

const run: RunRow = {
  id: 'demo-1',
  name: 'demo',
  state: 'done',
  reason: null,
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: '2026-01-01T00:00:15.000Z',
  base: '0'.repeat(40),
  branch: 'troupe/demo-1/main',
  usage: NO_USAGE,
};

const task = (id: string, parts: Partial<TourTask> = {}): TourTask => ({
  id,
  owner: 'ada',
  attempt: 1,
  conflicts: 0,
  interrupted: false,
  command: null,
  gates: ['npm test'],
  ...parts,
});

function mail(from: string, to: string, text: string, parts: Partial<MailRow> = {}): MailRow {
  return {
    v: 1,
    n: 1,
    seq: 1,
    id: asEnvelopeId('env_1'),
    at: '2026-01-01T00:00:05.000Z',
    to: asActorName(to),
    from: asActorName(from),
    fromIncarnation: 1,
    lane: 'normal',
    type: 'chat.message',
    body: { text },
    state: 'seen',
    ...parts,
  };
}

test('of the mail, what the team says to each other and what goes back is shown', () => {
  const rows = [
    mail('user', 'lead', 'The goal'),
    mail('supervisor', 'ada', 'Your task', { type: 'task.assign' }),
    mail('ada', 'lead', 'A question'),
    mail('lead', 'ada', 'Stop', { lane: 'interrupt' }),
    mail('supervisor', 'ada', 'Again', { type: 'task.rework' }),
    mail('supervisor', 'lead', 'It is done', { type: 'task.finished' }),
  ];
  expect(mailThatMattered(rows).map((row) => row.body.text)).toEqual([
    'A question',
    'Stop',
    'Again',
  ]);
});

test('the tour tells what happened and what to type', () => {
  const text = renderTour(
    {
      run,
      folder: 'my demo',
      tasks: [
        task('table', { attempt: 2 }),
        task('dedent', { owner: 'bo', conflicts: 1 }),
        task('slugify', { owner: 'cy', interrupted: true }),
        task('api', { owner: 'supervisor', command: 'npm run docs' }),
      ],
      mail: [
        mail('lead', 'cy', `Stop ${'and go on '.repeat(30)}`, { lane: 'interrupt' }),
        mail('supervisor', 'ada', 'Task table comes back.\n\nWhy it is not done yet:\nexit 1', {
          type: 'task.rework',
          task: asTaskId('table'),
        }),
      ],
      graph: ['*   abc Merge table', '|\\'],
      stat: ' a.js | 2 +-\n',
    },
    PLAIN_STYLES,
  );
  expect(text).toMatchInlineSnapshot(`
    "
    How it went
      table    ada      its first work did not pass the gate \`npm test\`: reworked
      dedent   bo       its merge was in conflict with one before it: reworked
      slugify  cy       told by mail to change course, in the middle of a command
      api      command  a command task, without a model: npm run docs

    The mail that mattered
      lead → cy, in the middle of its turn
        Stop and go on and go on and go on and go on and go on and go on and go on and go on and go on
        and go on and go on and go on and go on and go on and go on and go on and go on and go on and g…
      supervisor → ada task.rework about table
        Why it is not done yet: exit 1

    The branches: git log --graph main..troupe/demo-1/main
      *   abc Merge table
      |\\

    What it changed: troupe diff demo-1 --stat
       a.js | 2 +-

    Look further
      cd 'my demo'
      troupe tasks                      every task with its state, owner and tries
      troupe tail                       all mail; \`troupe tail cy\` is one mailbox
      troupe diff table                 what one task changed
      troupe diff demo-1                what the whole run changed
      troupe merge demo-1 --dry-run     what a merge into your branch would do
      troupe merge demo-1 && npm test   have it, and see the tests pass
    "
  `);
});

test('a run that failed is not offered for a merge', () => {
  const tour = { folder: 'd', tasks: [task('a')], mail: [], graph: [], stat: '' };
  const text = renderTour({ ...tour, run: { ...run, state: 'failed' } }, PLAIN_STYLES);
  expect(text).not.toContain('troupe merge');
  expect(text).toContain('troupe worktrees');
});

test('a folder is written as a shell takes it', () => {
  expect([shellWord('a/b-1'), shellWord("it's é")]).toEqual(['a/b-1', `'it'\\''s é'`]);
});
