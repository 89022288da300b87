import { expect, test } from 'vitest';
import { INLINE_BYTES_MAX } from '../../../src/journal/index.ts';
import { asActorName, asCallId, asEnvelopeId, asTaskId } from '../../../src/kernel/index.ts';
import { sha256Hex } from '../../../src/platform/index.ts';
import type { Mail, RunRecord } from '../../../src/protocol/index.ts';
import { byReference, textOf } from '../../../src/supervisor/outtake.ts';
import { noteTaskTexts } from '../../../src/supervisor/task-texts.ts';
import { task } from '../../support/team.ts';

const LONG = `é${'x'.repeat(INLINE_BYTES_MAX)}`;
const BYTES = LONG.length + 1;
const HEAD = `é${'x'.repeat(1022)}\n… (${BYTES} bytes in all)`;
const hash = (text: string): string => sha256Hex(new TextEncoder().encode(text));
const ada = asActorName('ada');
const record = (more: Partial<RunRecord>): RunRecord => ({ k: 'task', at: 'now', ...more });
const mail = (text: string): Mail => ({ to: ada, body: { text, task: 'one' } }) as unknown as Mail;

test('M8: a record in which nothing is large is written as it is', () => {
  const small = record({
    mail: [mail('hello')],
    tasks: [{ type: 'task.verified', id: asTaskId('a') }],
  });
  const out = byReference(small, hash);
  expect(out.record).toEqual(small);
  expect(out.payloads.size).toBe(0);
});

const item = { n: 1, id: asEnvelopeId('env_1'), from: ada, type: 'chat.message' as const };

test('M8: letters, results and decisions keep their heads beside the reference; the same payload is one', () => {
  const out = byReference(
    record({
      mail: [mail(LONG)],
      entries: [
        {
          type: 'mail',
          items: [
            { ...item, text: 'small' },
            { ...item, text: LONG },
          ],
        },
        { type: 'result', call: asCallId('c'), tool: 'task', ok: true, text: LONG },
      ],
      decisions: [
        {
          actor: ada,
          call: asCallId('c'),
          tool: 'write_file',
          input: { path: 'a', content: LONG },
          effect: 'allow',
          rule: 'r',
          reason: '',
        },
      ],
    }),
    hash,
  );
  const ref = { blob: hash(LONG), bytes: BYTES };
  expect(out.record.mail?.[0]?.body).toEqual({ text: HEAD, task: 'one', ...ref });
  expect(out.record.entries).toMatchObject([
    { items: [{ text: 'small' }, { text: HEAD, ...ref }] },
    { text: HEAD, ...ref },
  ]);
  const input = JSON.stringify({ path: 'a', content: LONG });
  expect(out.record.decisions?.[0]).toMatchObject({
    input: { path: 'a', content: HEAD },
    blob: hash(input),
  });
  expect(textOf(out, ref)).toBe(LONG);
  expect([...out.payloads.keys()].toSorted()).toEqual([hash(LONG), hash(input)].toSorted());
});

test('M8: fields of a letter beside its text are short as well', () => {
  const body = { text: LONG, summary: LONG };
  const out = byReference(record({ mail: [{ ...mail(''), body }] }), hash);
  expect(out.record.mail?.[0]?.body).toMatchObject({ text: HEAD, summary: HEAD });
  expect(out.record.texts?.map(({ at }) => at)).toEqual(['mail.0.body.summary']);
});

test('M8 S10: other texts name their place; commands and what else steers the run stay whole', () => {
  const spec = { ...task({ id: 'one', prompt: LONG }), verify: [] };
  const out = byReference(
    record({
      tasks: [
        { type: 'task.added', task: spec, by: ada },
        { type: 'task.added', task: task({ id: 'two', run: LONG }), by: ada },
        {
          type: 'task.released',
          id: asTaskId('three'),
          counts: 'attempt',
          reason: { kind: 'agent', text: LONG },
          rework: LONG,
        },
      ],
    }),
    hash,
  );
  const places = ['tasks.0.task.prompt', 'tasks.2.reason.text', 'tasks.2.rework'];
  expect(out.record.texts?.map(({ at }) => at)).toEqual(places);
  expect(out.record.tasks?.[0]).toMatchObject({ task: { prompt: HEAD } });
  expect(out.record.tasks?.[1]).toMatchObject({ task: { run: LONG } });
  expect(out.record.tasks?.[2]).toMatchObject({ reason: { text: HEAD }, rework: HEAD });
  const refs = new Map();
  noteTaskTexts(refs, out.record);
  expect([...refs.keys()]).toEqual(['one/prompt', 'three/rework']);
});
