import { expect, test } from 'vitest';
import { INLINE_BYTES_MAX } from '../../../src/journal/index.ts';
import { asActorName, asCallId } from '../../../src/kernel/index.ts';
import { type ActorRequest, NO_USAGE } from '../../../src/protocol/index.ts';
import { Intake } from '../../../src/supervisor/effects/intake.ts';
import type { RunEvent } from '../../../src/supervisor/inbox.ts';

const LONG = 'x'.repeat(INLINE_BYTES_MAX + 1);
const HEAD = `${'x'.repeat(1024)}\n… (${LONG.length} bytes in all)`;

/** A store that ends one `put` when it is told to. */
function world() {
  const decided: RunEvent[] = [];
  const failed: string[] = [];
  const open: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const intake = new Intake({
    blobs: {
      put: (bytes) =>
        new Promise((resolve, reject) => {
          open.push({ resolve: () => resolve({ blob: 'b', bytes: bytes.length }), reject });
        }),
    },
    decide: (event) => decided.push(event),
    failed: (event, error) => failed.push(`${event.type}: ${error.message}`),
  });
  return { intake, decided, failed, open };
}

const send = (token: number, text: string): RunEvent => ({
  type: 'send',
  token,
  to: 'ada',
  text,
  lane: 'normal',
  id: null,
});

const request = (id: number, what: ActorRequest): RunEvent => ({
  type: 'request',
  name: asActorName('ada'),
  incarnation: 1,
  epoch: 1,
  upward: { id, request: what },
});

const message = (text: string): ActorRequest => ({
  type: 'act',
  call: asCallId('cal_1'),
  tool: 'send_message',
  input: { to: 'lead', text },
});

test('M4, M8: what is small is decided at once; behind something large of its sender it waits, others do not', async () => {
  const { intake, decided, open } = world();
  intake.take(send(1, 'small'));
  expect(decided).toHaveLength(1);
  intake.take(send(2, LONG));
  intake.take(send(3, 'small'));
  intake.take(send(4, LONG));
  intake.take(request(1, message('small')));
  intake.take({ type: 'sweep', beats: {} });
  expect(decided.map((event) => event.type)).toEqual(['send', 'request', 'sweep']);
  open[0]?.resolve();
  await expect.poll(() => open.length).toBe(2);
  open[1]?.resolve();
  await intake.idle();
  const sends = decided.filter((event) => event.type === 'send');
  expect(sends.map((event) => [event.token, event.text, event.payload ?? null])).toEqual([
    [1, 'small', null],
    [2, HEAD, { blob: 'b', bytes: LONG.length }],
    [3, 'small', null],
    [4, HEAD, { blob: 'b', bytes: LONG.length }],
  ]);
});

test('M8: a message of an actor, and the answer that asked for it, go on by reference, before its end', async () => {
  const { intake, decided, open } = world();
  const usage = NO_USAGE;
  const block = { type: 'call' as const, id: asCallId('cal_1'), name: 'send_message' };
  const content = [{ ...block, input: { to: 'lead', text: LONG } }];
  const entry = {
    type: 'answer' as const,
    task: null,
    model: 'm',
    content,
    stop: 'calls' as const,
  };
  intake.take(request(1, { type: 'answer', took: [], entries: [{ ...entry, usage }], usage }));
  intake.take(request(2, message(LONG)));
  const exit = { kind: 'stopped' } as never;
  intake.take({ type: 'actor.exited', name: asActorName('ada'), incarnation: 1, epoch: 1, exit });
  intake.take({ type: 'stopped', left: [] });
  expect(decided).toEqual([]);
  open[0]?.resolve();
  await expect.poll(() => open.length).toBe(2);
  open[1]?.resolve();
  await intake.idle();
  expect(decided.map((event) => event.type)).toEqual([
    'request',
    'request',
    'actor.exited',
    'stopped',
  ]);
  expect(decided[0]).toMatchObject({
    upward: {
      request: { entries: [{ content: [{ input: { to: 'lead', text: HEAD }, blob: 'b' }] }] },
    },
  });
  expect(decided[1]).toMatchObject({
    payload: { blob: 'b', bytes: LONG.length },
    upward: { request: { input: { to: 'lead', text: HEAD } } },
  });
});

test('M8: what cannot be stored is not decided and told; what comes after it is', async () => {
  const { intake, decided, failed, open } = world();
  intake.take(send(1, LONG));
  intake.take(send(2, 'small'));
  open[0]?.reject(new Error('full'));
  await intake.idle();
  expect(failed).toEqual(['send: full']);
  expect(decided).toMatchObject([{ token: 2 }]);
});
