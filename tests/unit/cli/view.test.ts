import { expect, test } from 'vitest';
import { PLAIN_STYLES } from '../../../src/cli/text/style.ts';
import { widthOf } from '../../../src/cli/text/width.ts';
import { depthsOf, drawView } from '../../../src/cli/view/draw.ts';
import { linesOf, type OutputOf } from '../../../src/cli/view/lines.ts';
import type { ViewModel } from '../../../src/cli/view/model.ts';
import { exitOf, renderSummary, type SummaryInput } from '../../../src/cli/view/summary.ts';
import { eventsOf } from '../../../src/events/index.ts';
import { asActorName, asEnvelopeId, asProcId, asTaskId } from '../../../src/kernel/ids.ts';
import type { StoredRunRecord, TaskState } from '../../../src/protocol/record.ts';
import type { ActorRow, RunRow, TaskRow } from '../../../src/protocol/shapes.ts';
import { NO_USAGE } from '../../../src/protocol/usage.ts';

const AT = '2026-01-01T00:00:00.000Z';

const RUN: RunRow = {
  id: 'docs-1',
  name: 'docs',
  state: 'running',
  reason: null,
  startedAt: AT,
  endedAt: null,
  base: 'a'.repeat(40),
  branch: 'troupe/docs-1/main',
  usage: { ...NO_USAGE, inputTokens: 1200, costUsd: 0.25 },
};

const linesOfRecord = (record: StoredRunRecord, outputOf: OutputOf): string[] =>
  eventsOf(record, 'docs-1').flatMap((event) => linesOf(event, outputOf));

function task(id: string, state: TaskState, more: Partial<TaskRow> = {}): TaskRow {
  return {
    id,
    title: `Do ${id}`,
    state,
    reason: null,
    owner: null,
    attempt: 1,
    needs: [],
    branch: null,
    commit: null,
    worktree: null,
    usage: NO_USAGE,
    ...more,
  };
}

const ADA: ActorRow = {
  name: 'ada',
  kind: 'teammate',
  incarnation: 1,
  state: 'thinking',
  reason: null,
  task: 'parser',
  since: AT,
  usage: NO_USAGE,
};

function model(more: Partial<ViewModel> = {}): ViewModel {
  return {
    run: RUN,
    tasks: [
      task('parser', 'running', { owner: 'ada' }),
      task('lint', 'blocked', {
        needs: ['parser'],
        reason: { kind: 'task', text: 'waits for parser (running)' },
      }),
      task('docs', 'done'),
    ],
    actors: [ADA, { ...ADA, name: 'bo', state: 'idle', task: null }],
    lastMail: { from: 'ada', to: 'lead', text: 'half\nway' },
    elapsedMs: 65_000,
    now: Date.parse(AT) + 12_000,
    hint: 'Ctrl-C stops',
    ...more,
  };
}

const draw = (given: ViewModel, columns: number, rows: number): string[] =>
  drawView(given, { columns, rows }, PLAIN_STYLES);

test('the view shows tasks as a tree, who works on what, the last mail, cost and time', () => {
  expect(draw(model(), 80, 24)).toEqual([
    'docs-1  running  1/3 tasks  1m05s  $0.25 1.2k tokens',
    '● parser  Do parser  running ada',
    '·   lint  Do lint  blocked: waits for parser (running)',
    '✓ docs    Do docs  done',
    '',
    'ada thinking on parser, 12s',
    '',
    '✉ ada → lead: half way',
    'Ctrl-C stops',
  ]);
});

test('with too little room the tasks that tell most stay, in their order', () => {
  const many = Array.from({ length: 40 }, (_, index) => task(`t${index}`, 'done'));
  const tasks = [...many, task('late', 'running', { owner: 'ada' }), task('bad', 'failed')];
  const lines = draw(model({ tasks, actors: [] }), 60, 12);
  expect(lines.length).toBeLessThan(12);
  expect(lines.join('\n')).toContain('● late');
  expect(lines.join('\n')).toContain('✗ bad');
  expect(lines.join('\n')).toContain('… and 37 more tasks');
});

test('never wider than the terminal and never as high, whatever the size', () => {
  const tasks = Array.from({ length: 30 }, (_, index) =>
    task(`task-with-a-long-name-${index}`, index % 2 === 0 ? 'running' : 'failed', {
      title: '日本語の長い題名 with a long title that goes on and on and on',
      needs: index === 0 ? [] : [`task-with-a-long-name-${index - 1}`],
      reason: { kind: 'gate', text: 'gate npm test failed with\u001B[31m colours and a long text' },
    }),
  );
  for (const columns of [10, 20, 40, 79, 200]) {
    for (const rows of [2, 3, 6, 10, 30, 100]) {
      const lines = draw(model({ tasks, hint: 'x'.repeat(300) }), columns, rows);
      expect(lines.length).toBeLessThan(Math.max(2, rows));
      for (const line of lines) {
        expect(widthOf(line)).toBeLessThanOrEqual(columns);
        expect(line).not.toContain('\u001B');
      }
    }
  }
});

test('depth follows the needs and is bounded, also for a long chain', () => {
  const chain = Array.from({ length: 50 }, (_, index) =>
    task(`t${index}`, 'blocked', { needs: index === 0 ? [] : [`t${index - 1}`] }),
  );
  const depths = depthsOf(chain);
  expect([depths.get('t0'), depths.get('t1'), depths.get('t49')]).toEqual([0, 1, 6]);
});

function record(more: Partial<StoredRunRecord>): StoredRunRecord {
  return { s: 1, d: 1, k: 'task', at: AT, ...more };
}

test('one line per important thing, with its time, and escapes made visible', () => {
  const id = asTaskId('parser');
  const lines = linesOfRecord(
    record({
      tasks: [
        {
          type: 'task.claimed',
          id,
          by: asActorName('ada'),
          incarnation: 1,
          attempt: 2,
          leaseUntil: AT,
        },
        { type: 'task.verified', id },
        { type: 'task.failed', id, reason: { kind: 'gate', text: 'no\u0007' } },
      ],
      mail: [
        {
          to: asActorName('lead'),
          from: asActorName('ada'),
          fromIncarnation: 1,
          e: 1,
          n: 1,
          id: asEnvelopeId('env_1'),
          lane: 'normal',
          type: 'chat.message',
          body: { text: 'two\nlines' },
        },
      ],
    }),
    (name) => `/out/${name}.log`,
  );
  expect(lines).toEqual([
    `${AT} task parser started by ada (try 2)\n`,
    `${AT} task parser failed: no\\u{7}\n`,
    `${AT} mail ada → lead: two lines\n`,
  ]);
});

test('the summary says what was done, what not and why, the branch and what to type next', () => {
  const text = renderSummary(
    {
      run: { ...RUN, state: 'failed', reason: { kind: 'attempts', text: 'lint failed' } },
      tasks: [
        task('parser', 'done'),
        task('lint', 'failed', { reason: { kind: 'gate', text: 'gate npm run lint failed' } }),
      ],
      changes: { commit: 'b'.repeat(40), files: 3 },
      elapsedMs: 65_000,
      word: { from: 'lead', text: 'Two\nlines' },
      finalGate: null,
      outputs: new Map([['lint', '/out/prc_1.log']]),
      command: (line) => line,
    },
    PLAIN_STYLES,
  );
  expect(text).toBe(`
docs-1 failed: lint failed
  1 of 2 tasks done in 1m05s, cost $0.25, 1.2k tokens
  ✓ parser  Do parser
  ✗ lint  Do lint (failed: gate npm run lint failed)
      output: /out/prc_1.log

lead says: Two
  lines

Branch troupe/docs-1/main: 3 files changed, at bbbbbbbbbbbb.

Next:
  troupe tasks lint --run docs-1
  troupe diff docs-1 --stat
  troupe merge docs-1   # without lint
  troupe tail --run docs-1
`);
});

const ENDED: SummaryInput = {
  run: { ...RUN, state: 'done', usage: NO_USAGE },
  tasks: [],
  changes: { commit: 'b'.repeat(40), files: 1 },
  elapsedMs: 1_000,
  word: null,
  finalGate: null,
  outputs: new Map(),
  command: (line) => `${line} --workspace repo`,
};

test('no model, no usage; a title that is the id is not told twice; one file is one file', () => {
  const text = renderSummary(
    { ...ENDED, tasks: [task('a', 'done', { title: 'a' })] },
    PLAIN_STYLES,
  );
  expect(text).toContain('  1 of 1 task done in 1s\n  ✓ a\n');
  expect(text).toContain(': 1 file changed, at bbbbbbbbbbbb.');
  expect(text).toContain('  troupe merge docs-1 --workspace repo\n');
});

test('a run whose final gate failed is not offered as if it were finished', () => {
  const text = renderSummary(
    {
      ...ENDED,
      run: { ...ENDED.run, state: 'failed' },
      finalGate: { gate: 'npm test', output: '/out/prc_9.log' },
    },
    PLAIN_STYLES,
  );
  expect(text).toContain('  ✗ final gate npm test\n      output: /out/prc_9.log\n');
  expect(text).toMatch(/troupe merge docs-1 .*# its final gate failed: npm test\n/);
});

test('a command task is started by nobody; a failed gate names the whole path of its output', () => {
  const id = asTaskId('json');
  const gate = 'x'.repeat(300);
  const lines = linesOfRecord(
    record({
      tasks: [
        {
          type: 'task.claimed',
          id,
          by: asActorName('supervisor'),
          incarnation: 0,
          attempt: 1,
          leaseUntil: AT,
        },
        {
          type: 'task.gate',
          id,
          gate,
          stage: 'task',
          commit: null,
          ok: false,
          exit: 1,
          output: asProcId('prc_1'),
          tries: 1,
        },
      ],
    }),
    (name) => `/${'long/'.repeat(60)}${name}.log`,
  );
  expect(lines[0]).toBe(`${AT} task json started (command)\n`);
  expect(lines[2]).toBe(`${AT}   its output: /${'long/'.repeat(60)}prc_1.log\n`);
});

test('an interrupted run names resume first', () => {
  const text = renderSummary(
    { ...ENDED, run: { ...RUN, state: 'interrupted' }, changes: null },
    PLAIN_STYLES,
  );
  expect(text).toContain('Next:\n  troupe resume docs-1 --workspace repo\n');
  expect(text).not.toContain('troupe merge');
});

test('exit codes follow how the run ended', () => {
  expect(
    (['done', 'failed', 'cancelled', 'budget', 'interrupted'] as const).map((state) =>
      exitOf(state),
    ),
  ).toEqual([0, 1, 1, 3, 130]);
});

test('the last hooks of a run are told when they fail: nobody reads mail any more', () => {
  const hook = (on: 'run_finished' | 'task_finished', outcome: 'failed' | 'none') => ({
    hook: 'ring',
    on,
    outcome,
    reason: 'it ended with exit 1',
    ms: 1,
  });
  const record = {
    s: 9,
    d: 8,
    k: 'perm',
    at: 't',
    hooks: [
      hook('run_finished', 'failed'),
      hook('run_finished', 'none'),
      hook('task_finished', 'failed'),
    ],
  } as unknown as StoredRunRecord;
  expect(linesOfRecord(record, () => '')).toEqual([
    't the hook ring (run_finished) failed: it ended with exit 1\n',
  ]);
});
