import { afterEach, describe, expect, test } from 'vitest';
import { ThreadHost } from '../../../src/actors/index.ts';
import { leftOpen, openNow } from '../../support/threads/left-open.ts';
import { Listener, mail, startOf } from '../../support/threads/starts.ts';

const entry = new URL('../../support/threads/actor.mjs', import.meta.url);
const before = openNow();
let host = new ThreadHost({ entry });

afterEach(async () => {
  await host.close();
  host = new ThreadHost({ entry });
});

function start(behaviour: string): { handle: ReturnType<ThreadHost['start']>; heard: Listener } {
  const heard = new Listener();
  return { handle: host.start(startOf(behaviour), heard), heard };
}

test('A1: an actor that ends is told once, with its text', async () => {
  const { handle, heard } = start('finish');

  expect(await heard.exit()).toEqual({ kind: 'finished', text: 'ada done' });
  await handle.stop(0);
  await handle.kill();
  expect(heard.exits).toHaveLength(1);
});

test('A1: what an actor said before it ended arrives before its exit, in order', async () => {
  const { heard } = start('talk');

  await heard.exit();
  expect(heard.requests.map(({ request }) => request)).toEqual(
    Array.from({ length: 50 }, (_, n) => ({ type: 'delivered', n: [n] })),
  );
});

test('mail reaches the thread in order, and each position once', async () => {
  const { handle, heard } = start('echo');
  handle.post([mail(1, 'one'), mail(2, 'two')]);
  handle.post([mail(2, 'two'), mail(3, 'three')]);

  // Pieces of text that wait together may come as one.
  await heard.until(() => heard.live.join('').length >= 11);
  expect(heard.live.join('')).toBe('onetwothree');
});

test('a reply finds its request, and brings the new workplace', async () => {
  const { handle, heard } = start('ask');
  await heard.requested();
  handle.post([
    {
      type: 'reply',
      id: heard.requests[0]!.id,
      reply: {
        type: 'acted',
        result: { type: 'result', call: 'cal_1' as never, tool: 'bash', ok: true, text: '' },
        workplace: { task: null, root: '/tree', writable: false, fence: 0 },
      },
    },
  ]);

  expect(await heard.exit()).toEqual({ kind: 'finished', text: 'acted /tree' });
});

test('A6: an interrupt reaches a waiting actor together with the mail that was posted before', async () => {
  const { handle, heard } = start('interruptible');
  await heard.requested();
  handle.post([mail(1, 'stop that', 'interrupt')]);
  handle.interrupt();

  expect(await heard.exit()).toEqual({ kind: 'finished', text: 'interrupted' });
  expect(heard.live).toEqual(['stop that']);
});

test('an interrupt reaches an actor that never gives its loop back', async () => {
  const { handle, heard } = start('busy');
  await heard.requested();
  handle.interrupt();

  expect(await heard.exit()).toEqual({ kind: 'finished', text: 'saw it' });
});

test('a stop is asked for first', async () => {
  const { handle, heard } = start('echo');
  handle.post([mail(1, 'one')]);
  await heard.requested();

  await handle.stop(20_000);
  expect(heard.exits).toEqual([{ kind: 'finished', text: 'asked to stop' }]);
});

test('a stop ends a thread that is stuck in a loop, after its grace', async () => {
  const { handle, heard } = start('spin');
  await heard.requested();

  const stops = [handle.stop(60_000), handle.stop(50), handle.stop(30_000)];
  await Promise.all(stops);
  expect(heard.exits).toEqual([{ kind: 'killed' }]);
});

test('the heartbeat moves while the loop of the thread turns, and not when it is stuck', async () => {
  const { handle, heard } = start('echo');
  handle.post([mail(1, 'one')]);
  await heard.requested();
  const first = handle.heartbeat();
  handle.post([mail(2, 'two')]);
  await heard.requested(2);
  expect(handle.heartbeat()).toBeGreaterThan(first);

  const stuck = start('spin');
  await stuck.heard.requested();
  const seen = stuck.handle.heartbeat();
  await handle.stop(20_000);
  expect(stuck.handle.heartbeat() - seen).toBeLessThan(3);
});

test.each([
  ['fail', { kind: 'crashed', code: 'agent/odd', message: 'it went wrong' }],
  ['stuck', { kind: 'crashed', code: 'script/unmatched', message: 'no turn 3' }],
])('a run that ends badly tells its code: %s', async (behaviour, expected) => {
  expect(await start(behaviour).heard.exit()).toEqual(expected);
});

describe('A3: a hundred pending calls reject at once when the thread dies', () => {
  const cases: readonly {
    readonly how: string;
    readonly behaviour: string;
    readonly exit: unknown;
    readonly die: (handle: ReturnType<ThreadHost['start']>) => void;
  }[] = [
    {
      how: 'by kill',
      behaviour: 'spin',
      exit: { kind: 'killed' },
      die: (handle) => void handle.kill(),
    },
    {
      how: 'by exit(3)',
      behaviour: 'exit',
      exit: { kind: 'crashed', code: 'exit', message: expect.stringContaining('code 3') },
      die: (handle) => handle.post([mail(1, 'now')]),
    },
    {
      how: 'by an uncaught error',
      behaviour: 'throw',
      exit: { kind: 'crashed', code: 'uncaught', message: 'thrown beside the run' },
      die: (handle) => handle.post([mail(1, 'now')]),
    },
    {
      how: 'at its heap limit',
      behaviour: 'heap',
      exit: { kind: 'crashed', code: 'out-of-memory', message: expect.any(String) },
      die: (handle) => handle.post([mail(1, 'now')]),
    },
  ];

  test.each(cases)('$how', async ({ behaviour, exit, die }) => {
    const limited = new ThreadHost({ entry, resourceLimits: { maxOldGenerationSizeMb: 24 } });
    const heard = new Listener();
    const handle = limited.start(startOf(behaviour), heard);
    await heard.requested();
    const calls = Array.from({ length: 100 }, () => handle.inspect());
    die(handle);

    const settled = await Promise.allSettled(calls);
    expect(heard.exits).toEqual([exit]);
    expect(new Set(settled.map((one) => one.status === 'rejected' && one.reason.code))).toEqual(
      new Set(['actors/gone']),
    );
    await expect(handle.inspect()).rejects.toMatchObject({ code: 'actors/gone' });
    await limited.close();
  });

  test('when its entry is missing', async () => {
    const missing = new ThreadHost({ entry: new URL('./no-such-entry.mjs', import.meta.url) });
    const heard = new Listener();
    const handle = missing.start(startOf('echo'), heard);
    const calls = Array.from({ length: 100 }, () => handle.inspect());

    const settled = await Promise.allSettled(calls);
    expect(settled.every((one) => one.status === 'rejected')).toBe(true);
    expect(heard.exits).toMatchObject([{ kind: 'crashed', code: 'entry-missing' }]);
  });
});

test('A2: an entry that no thread can be made of is told as an exit', async () => {
  const broken = new ThreadHost({ entry: new URL('https://example.invalid/entry.mjs') });
  const heard = new Listener();
  broken.start(startOf('echo'), heard);

  expect(await heard.exit()).toMatchObject({ kind: 'crashed', code: 'start-failed' });
});

test('a closed host ends what it runs and starts nothing more', async () => {
  const { heard } = start('hang');
  await heard.requested();
  await host.close();
  expect(heard.exits).toEqual([{ kind: 'killed' }]);

  const late = start('hang');
  expect(await late.heard.exit()).toEqual({ kind: 'killed' });
});

test('no thread, port or timer is left', async () => {
  const many = Array.from({ length: 4 }, () => start('echo'));
  for (const { handle } of many) handle.post([mail(1, 'one')]);
  await Promise.all(many.map(({ heard }) => heard.requested()));
  await Promise.all(many.map(({ handle }) => handle.stop(20_000)));

  expect(await leftOpen(before)).toEqual(before);
});
