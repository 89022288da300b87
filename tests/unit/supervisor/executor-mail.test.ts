/** M8 at the executor: who receives mail receives the whole, and what an actor is told keeps its order meanwhile. */
import { expect, test } from 'vitest';
import { asActorName, asEnvelopeId } from '../../../src/kernel/index.ts';
import type { ActorStart, Downward, Envelope } from '../../../src/protocol/index.ts';
import { Executor, type ExecutorDeps } from '../../../src/supervisor/effects/executor.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';

function envelope(n: number, text: string, blob?: string): Envelope {
  return {
    v: 1,
    n,
    seq: n,
    id: asEnvelopeId(`env_${n}`),
    at: '',
    to: asActorName('ada'),
    from: asActorName('user'),
    fromIncarnation: 1,
    lane: 'normal',
    type: 'chat.message',
    body: blob === undefined ? { text } : { text, blob, bytes: 9 },
  };
}

function world(get: (id: string) => Promise<Uint8Array>) {
  const told: string[] = [];
  const posted = (message: Downward): string =>
    message.type === 'mail'
      ? message.envelopes.map(({ n, body }) => `${n} ${body.text}`).join(', ')
      : 'reply';
  const executor = new Executor({
    clock: new VirtualClock(),
    logger: { log: () => undefined },
    blobs: { get, put: () => Promise.reject(new Error('not here')) },
    hosts: {
      thread: {
        start: (start: ActorStart) => ({
          post: (messages: readonly Downward[]) =>
            told.push(...messages.map((message) => `${start.name}: ${posted(message)}`)),
          interrupt: () => told.push(`${start.name}: interrupt`),
          heartbeat: () => 0,
        }),
      },
    },
    directories: { journal: '/j', outputs: '/o' },
    durableSeq: () => 0,
    fail: (error: Error) => told.push(error.message),
  } as unknown as ExecutorDeps);
  const start = (name: string): void => {
    const parts = { name: asActorName(name), incarnation: 1 } as ActorStart;
    executor.execute({ type: 'actor.start', host: 'thread', start: parts }, 1);
  };
  const post = (name: string, ...envelopes: Envelope[]): void =>
    executor.execute(
      {
        type: 'actor.post',
        name: asActorName(name),
        incarnation: 1,
        messages: [{ type: 'mail', envelopes }],
      },
      1,
    );
  start('ada');
  start('bo');
  return { executor, told, post };
}

const ada = { name: asActorName('ada'), incarnation: 1 };

test('M4, M5, M8: mail, replies and interrupts of one actor stay in order behind a payload; others do not wait', async () => {
  const open: (() => void)[] = [];
  const { executor, told, post } = world(
    (id) =>
      new Promise((resolve) => {
        open.push(() => resolve(new TextEncoder().encode(`whole ${id}`)));
      }),
  );
  post('ada', envelope(1, 'small'));
  post('ada', envelope(2, 'head', 'x'), envelope(3, 'small'));
  post('ada', envelope(4, 'small'));
  executor.execute({ type: 'reply', ...ada, id: 7, reply: { type: 'noted' } }, 1);
  executor.execute({ type: 'actor.interrupt', ...ada }, 1);
  post('bo', envelope(1, 'small'));
  expect(told).toEqual(['ada: 1 small', 'bo: 1 small']);
  open[0]?.();
  await executor.drain();
  post('ada', envelope(5, 'small'));
  expect(told.slice(2)).toEqual([
    'ada: 2 whole x, 3 small',
    'ada: 4 small',
    'ada: reply',
    'ada: interrupt',
    'ada: 5 small',
  ]);
});

test('M8: what cannot be read is named behind its head, and the run goes on', async () => {
  const { executor, told, post } = world(() => Promise.reject(new Error('x is missing')));
  post('ada', envelope(1, 'head', 'x'));
  await executor.drain();
  expect(told).toEqual(['ada: 1 head\n[the rest cannot be read: x is missing]']);
});
