import { describe, expect, test } from 'vitest';
import {
  EVENT_TYPES,
  eventsOf,
  liveEvent,
  makeRedactor,
  matchesTopic,
} from '../../../src/events/index.ts';
import {
  asActorName,
  asCallId,
  asEnvelopeId,
  asProcId,
  asTaskId,
} from '../../../src/kernel/index.ts';
import { NO_USAGE, type StoredRunRecord, type TroupeEvent } from '../../../src/protocol/index.ts';

const ada = asActorName('ada');
const parser = asTaskId('parser');

const record = (part: Partial<StoredRunRecord>): StoredRunRecord => ({
  s: 7,
  d: 6,
  k: 'step',
  at: '2026-01-01T00:00:00.000Z',
  ...part,
});

/** One line an event. */
const trace = (events: readonly TroupeEvent[]): string[] =>
  events.map(({ cursor, type, actor, incarnation, task, parent, data }) =>
    [
      cursor,
      type,
      `${actor ?? '-'}/${incarnation ?? '-'}`,
      task ?? '-',
      ...(parent === undefined ? [] : [`<${parent}`]),
      JSON.stringify(data),
    ].join(' '),
  );

describe('E1: events of a record', () => {
  test('a step: the answer, what it took in, what it sends', () => {
    const events = eventsOf(
      record({
        a: ada,
        i: 2,
        e: 3,
        took: [4, 5],
        entries: [
          {
            type: 'mail',
            items: [{ n: 4, id: asEnvelopeId('env_4'), from: ada, type: 'chat.message', text: '' }],
          },
          {
            type: 'answer',
            task: parser,
            model: 'scripted/x',
            content: [
              { type: 'text', text: 'I read it.' },
              { type: 'call', id: asCallId('cal_1'), name: 'read_file', input: {} },
            ],
            stop: 'calls',
            usage: NO_USAGE,
          },
          { type: 'result', call: asCallId('cal_1'), tool: 'read_file', ok: true, text: 'abc' },
        ],
        mail: [
          {
            to: asActorName('lead'),
            from: ada,
            fromIncarnation: 2,
            e: 3,
            n: 1,
            id: asEnvelopeId('env_9'),
            lane: 'normal',
            type: 'chat.message',
            task: parser,
            body: { text: 'hello' },
          },
        ],
      }),
      'run-1',
    );
    const usage = JSON.stringify(NO_USAGE);
    expect(trace(events)).toEqual([
      `7.0 answer.committed ada/2 parser {"model":"scripted/x","stop":"calls","usage":${usage},"calls":["read_file"],"text":"I read it."}`,
      '7.1 call.ended ada/2 - {"call":"cal_1","tool":"read_file","ok":true,"text":"abc"}',
      '7.2 mail.seen ada/2 - {"n":4,"id":"env_4"}',
      '7.3 mail.seen ada/2 - {"n":5}',
      '7.4 mail.accepted ada/2 parser {"to":"lead","from":"ada","id":"env_9","lane":"normal","type":"chat.message","body":{"text":"hello"}}',
    ]);
    expect(events[0]).toMatchObject({ id: 'run-1:7.0', run: 'run-1', at: record({}).at });
  });

  test('a decision with all kinds of changes', () => {
    const events = eventsOf(
      record({
        to: ada,
        run: [{ type: 'run.resumed', term: 2 }],
        actors: [
          {
            type: 'actor.added',
            name: asActorName('sub-1'),
            kind: 'subagent',
            profile: {
              name: 'helper',
              description: '',
              prompt: '',
              model: null,
              tools: null,
              restart: 'temporary',
            },
            parent: ada,
            depth: 1,
          },
          { type: 'actor.started', name: ada, incarnation: 3, epoch: 4 },
        ],
        tasks: [
          { type: 'task.done', id: parser, commit: null },
          {
            type: 'task.claimed',
            id: parser,
            by: ada,
            incarnation: 3,
            attempt: 1,
            leaseUntil: 'then',
          },
        ],
        trees: [{ type: 'tree.removed', owner: 'parser', path: '/t' }],
        procs: [
          {
            type: 'proc.started',
            id: asProcId('prc-1'),
            command: 'npm test',
            cwd: '/t',
            actor: null,
            task: parser,
          },
        ],
        decisions: [
          {
            actor: ada,
            call: asCallId('cal_1'),
            tool: 'bash',
            input: {},
            effect: 'deny',
            rule: 'r',
            reason: 'no',
          },
        ],
        dead: [{ n: 3, id: asEnvelopeId('env_3'), what: 'dead', reason: 'stopped' }],
      }),
      'run-1',
    );
    expect(events.map(({ cursor, type, actor, task }) => [cursor, type, actor, task])).toEqual([
      ['7.0', 'run.resumed', undefined, undefined],
      ['7.1', 'actor.added', 'sub-1', undefined],
      ['7.2', 'actor.started', 'ada', undefined],
      ['7.3', 'task.done', undefined, 'parser'],
      ['7.4', 'task.claimed', 'ada', 'parser'],
      ['7.5', 'tree.removed', undefined, undefined],
      ['7.6', 'proc.started', undefined, 'parser'],
      ['7.7', 'decision.made', 'ada', undefined],
      ['7.8', 'mail.dead', 'ada', undefined],
    ]);
    expect(events[1]?.parent).toBe('ada');
    expect(events.filter(({ type }) => !(type in EVENT_TYPES))).toEqual([]);
  });

  test('a record without changes has no events', () => {
    expect(eventsOf(record({}), 'run-1')).toEqual([]);
  });

  test('a long text is bounded, and says what is missing', () => {
    const [event] = eventsOf(
      record({ run: [{ type: 'run.warned', text: 'x'.repeat(2_500) }] }),
      'r',
    );
    expect(event?.data['text']).toBe(`${'x'.repeat(2_000)}… (500 more characters)`);
  });

  test('a fragment repeats the last durable cursor', () => {
    const event = liveEvent({
      cursor: '7.1',
      at: 'now',
      run: 'run-1',
      actor: 'ada',
      event: 'text',
      text: 'Bearer abcdefgh1',
    });
    expect(event).toMatchObject({
      cursor: '7.1',
      type: 'live.text',
      data: { text: 'Bearer [redacted]' },
    });
  });
});

describe('E2: redaction', () => {
  const key = ['-----BEGIN RSA PRIVATE KEY-----', 'abc', '-----END RSA PRIVATE KEY-----'].join(
    '\n',
  );
  test.each([
    [`x sk-ant-${'a'.repeat(30)} y`, 'x [redacted] y'],
    [`ghp_${'A1'.repeat(18)}`, '[redacted]'],
    [`github_pat_${'A1_'.repeat(10)}`, '[redacted]'],
    ['AKIAIOSFODNN7EXAMPLE', '[redacted]'],
    [`eyJhbGciOiJI.${'e'.repeat(20)}.${'s'.repeat(20)}!`, '[redacted]!'],
    ['Authorization: Bearer abc.def-123456', 'Authorization: Bearer [redacted]'],
    [`${key}\nrest`, '-----BEGIN RSA PRIVATE KEY-----[redacted]\nrest'],
    [
      `-----BEGIN PRIVATE KEY-----\n${'MIIE'.repeat(16)}\nMII`,
      '-----BEGIN PRIVATE KEY-----[redacted]',
    ],
    ['https://me:hunter2@host/x', 'https://me:[redacted]@host/x'],
    ['my-own-value and my-own', '[redacted] and my-own'],
    ['a task-runner, a disk-space, ask-me', 'a task-runner, a disk-space, ask-me'],
  ])('%s', (text, expected) => {
    expect(makeRedactor(['my-own-value', 'a']).text(text)).toBe(expected);
  });

  test('takes no longer for a text that was made to slow it down', () => {
    const hostile = ['eyJ-', 'sk-', '-----BEGIN ', '://a:', 'Bearer '].map((part) =>
      part.repeat(15_000),
    );
    for (const text of hostile) expect(makeRedactor().text(text)).toEqual(expect.any(String));
  }, 2_000);

  test('reaches every string of the data', () => {
    const secret = `sk-${'a'.repeat(20)}`;
    const [event] = eventsOf(
      record({
        decisions: [
          {
            actor: ada,
            call: asCallId('c'),
            tool: 'bash',
            input: { env: [{ KEY: secret }], n: 1, none: null },
            effect: 'allow',
            rule: '',
            reason: 'known-value',
          },
        ],
      }),
      'run-1',
      { redactor: makeRedactor(['known-value']) },
    );
    expect(event?.data).toMatchObject({
      input: { env: [{ KEY: '[redacted]' }], n: 1, none: null },
      reason: '[redacted]',
    });
  });
});

test.each([
  ['task.*', 'task.done', true],
  ['task.*', 'tasks.done', false],
  ['*', 'mail.seen', true],
  ['*.failed', 'task.failed', true],
  ['*.failed', 'task.failed.twice', false],
  ['t*k*d*e', 'task.done', true],
  ['task.done', 'task.done', true],
  ['task', 'task.done', false],
  ['', 'task.done', false],
])('the topic %s and the type %s: %s', (glob, type, expected) => {
  expect(matchesTopic(glob, type)).toBe(expected);
});
