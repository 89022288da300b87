import { expect, test } from 'vitest';
import { type ActorWire, makeActorWire } from '../../../src/actors/index.ts';
import { TroupeError } from '../../../src/kernel/index.ts';
import type { Downward, Upward } from '../../../src/protocol/index.ts';
import { envelope, mail } from '../../support/threads/starts.ts';

interface Far {
  readonly wire: ActorWire;
  readonly batches: Upward[][];
  push(...messages: readonly Downward[]): void;
}

function far(): Far {
  const batches: Upward[][] = [];
  const wire = makeActorWire({
    send: (text) => batches.push(JSON.parse(text) as Upward[]),
    workplace: null,
  });
  return { wire, batches, push: (...messages) => wire.receive(JSON.stringify(messages)) };
}

const gone = new TroupeError({ code: 'actors/gone', message: 'gone' });

test('requests of one tick travel together, and each reply finds its request', async () => {
  const { wire, batches, push } = far();
  const first = wire.port.request({ type: 'idle', why: 'end' });
  const second = wire.port.request({ type: 'delivered', n: [1] });
  expect(batches).toEqual([]);
  await Promise.resolve();
  expect(batches.map((batch) => batch.map(({ id }) => id))).toEqual([[1, 2]]);

  push(
    { type: 'reply', id: 2, reply: { type: 'noted' } },
    { type: 'reply', id: 1, reply: { type: 'committed', seq: 9 } },
    { type: 'reply', id: 77, reply: { type: 'noted' } },
  );
  expect(await first).toEqual({ type: 'committed', seq: 9 });
  expect(await second).toEqual({ type: 'noted' });
});

test('a fragment waits for no reply', async () => {
  const { wire, batches } = far();
  expect(await wire.port.request({ type: 'live', event: 'text', data: 'x' })).toEqual({
    type: 'noted',
  });
  expect(batches).toHaveLength(1);
});

test('fragments wait for what has arrived by now, and text that follows on text is one of them', async () => {
  const batches: Upward[][] = [];
  const deferred: (() => void)[] = [];
  const { port } = makeActorWire({
    send: (text) => batches.push(JSON.parse(text) as Upward[]),
    workplace: null,
    defer: (flush) => deferred.push(flush),
  });
  const say = (event: 'text' | 'thinking' | 'reset', data: string): void => {
    void port.request({ type: 'live', event, data });
  };
  const told = (): unknown[] =>
    batches
      .splice(0)
      .map((batch) =>
        batch.map(({ request }) =>
          request.type === 'live' ? [request.event, request.data] : request.type,
        ),
      );
  say('thinking', 'hm');
  say('text', 'a');
  await Promise.resolve();
  say('text', 'b');
  say('reset', 'cut');
  say('reset', 'again');
  say('text', 'c');
  await Promise.resolve();
  expect(told()).toEqual([]);
  expect(deferred).toHaveLength(1);
  deferred.pop()?.();
  expect(told()).toEqual([
    [
      ['thinking', 'hm'],
      ['text', 'ab'],
      ['reset', 'cut'],
      ['reset', 'again'],
      ['text', 'c'],
    ],
  ]);

  // What is asked for takes along the fragments before it: their order is that in which they were said.
  say('text', 'd');
  void port.request({ type: 'idle', why: 'end' }).catch(() => undefined);
  await Promise.resolve();
  expect(told()).toEqual([[['text', 'd'], 'idle']]);
});

test('A7: mail is given once, most urgent lane first', () => {
  const { wire, push } = far();
  push(mail(1, 'one'), mail(2, 'two', 'interrupt'));
  push({
    type: 'mail',
    envelopes: [envelope(2, 'two', 'interrupt'), envelope(3, 'three', 'control')],
  });
  expect(wire.port.takeMail().map(({ n }) => n)).toEqual([3, 2, 1]);
  push(mail(1, 'one'));
  expect(wire.port.takeMail()).toEqual([]);
});

test('waiting for mail ends with mail, with the signal, or with the wire', async () => {
  const { wire, push } = far();
  const signal = new AbortController();
  const waits = [wire.port.waitForMail(signal.signal), wire.port.waitForMail(signal.signal)];
  push(mail(1, 'one'));
  await Promise.all(waits);
  await wire.port.waitForMail(signal.signal);
  wire.port.takeMail();

  const aborted = wire.port.waitForMail(signal.signal);
  signal.abort(new Error('stop'));
  await expect(aborted).rejects.toThrow('stop');
  await expect(wire.port.waitForMail(signal.signal)).rejects.toThrow('stop');

  const cut = wire.port.waitForMail(new AbortController().signal);
  wire.close(gone);
  await expect(cut).rejects.toBe(gone);
});

test('the workplace is the one that was told last', () => {
  const { wire, push } = far();
  const place = (root: string) => ({ task: null, root, writable: false, fence: 1 });
  expect(wire.port.workplace()).toBeNull();
  push({ type: 'mail', envelopes: [], workplace: place('/a') });
  expect(wire.port.workplace()?.root).toBe('/a');
  push({
    type: 'reply',
    id: 1,
    reply: {
      type: 'acted',
      result: { type: 'result', call: 'c' as never, tool: 'claim_task', ok: true, text: '' },
      workplace: place('/b'),
    },
  });
  expect(wire.port.workplace()?.root).toBe('/b');
});

test('each interrupt calls each handler once, until it is taken back', () => {
  const { wire } = far();
  const calls: string[] = [];
  const forget = wire.port.onInterrupt(() => calls.push('a'));
  wire.port.onInterrupt(() => calls.push('b'));
  wire.interrupt();
  forget();
  wire.interrupt();
  expect(calls).toEqual(['a', 'b', 'b']);
});

test('A3: what is pending rejects when the wire is closed, and all that comes after', async () => {
  const { wire, push } = far();
  const pending = wire.port.request({ type: 'idle', why: 'end' });
  wire.close(gone);
  wire.close(new TroupeError({ code: 'other', message: '' }));
  await expect(pending).rejects.toBe(gone);
  await expect(wire.port.request({ type: 'idle', why: 'end' })).rejects.toBe(gone);
  push(mail(1, 'late'));
  expect(wire.port.takeMail()).toEqual([]);
});
