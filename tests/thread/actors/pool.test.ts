import { afterEach, expect, test } from 'vitest';
import { PoolHost } from '../../../src/actors/index.ts';
import { asActorName } from '../../../src/kernel/index.ts';
import { leftOpen, openNow } from '../../support/threads/left-open.ts';
import { Listener, mail, startOf } from '../../support/threads/starts.ts';

const entry = new URL('../../support/threads/subagent.mjs', import.meta.url);
const before = openNow();
let host = new PoolHost({ entry, maxThreads: 1, maxQueue: 2 });

afterEach(async () => {
  await host.close();
  host = new PoolHost({ entry, maxThreads: 1, maxQueue: 2 });
});

function start(behaviour: string): { handle: ReturnType<PoolHost['start']>; heard: Listener } {
  const heard = new Listener();
  return { handle: host.start(startOf(behaviour), heard), heard };
}

function startAwaited(
  behaviour: string,
  name: string,
  awaitedBy?: string,
): { handle: ReturnType<PoolHost['start']>; heard: Listener } {
  const heard = new Listener();
  const awaited = awaitedBy === undefined ? {} : { awaitedBy: asActorName(awaitedBy) };
  return { handle: host.start({ ...startOf(behaviour, name), ...awaited }, heard), heard };
}

test('a job talks over a port of its own and ends with its text', async () => {
  const { handle, heard } = start('echo');
  handle.post([mail(1, 'before it has a thread')]);
  await heard.requested();
  expect(heard.live).toEqual(['before it has a thread']);

  await handle.stop(20_000);
  expect(heard.exits).toEqual([{ kind: 'finished', text: 'asked to stop' }]);
});

test('A1: what a job said before it ended arrives before its exit', async () => {
  const { heard } = start('talk');

  await heard.exit();
  expect(heard.requests).toHaveLength(50);
});

test('an interrupt reaches a job with the mail that was posted before', async () => {
  const { handle, heard } = start('interruptible');
  await heard.requested();
  handle.post([mail(1, 'stop that', 'interrupt')]);
  handle.interrupt();

  await heard.exit();
  expect(heard.live).toEqual(['stop that']);
});

test('one job more than the bounds allow is refused by the name of the bound', async () => {
  const running = [start('hang'), start('hang'), start('hang')];
  await running[0]!.heard.requested();

  const refused = await start('hang').heard.exit();
  expect(refused).toEqual({
    kind: 'crashed',
    code: 'pool-full',
    message: 'The pool of subagents is full: 1 run (bound maxThreads) and 2 wait (bound maxQueue)',
  });

  // A place that is given back can be used.
  await running[2]!.handle.kill();
  const next = start('finish');
  await running[1]!.handle.kill();
  await running[0]!.handle.kill();
  expect(await next.heard.exit()).toEqual({ kind: 'finished', text: 'ada done' });
});

test('a job that waits for a job of its own holds no slot, however deep', async () => {
  const parent = start('hang');
  await parent.heard.requested();
  const child = startAwaited('hang', 'child', 'ada');
  await child.heard.requested();
  const grandchild = startAwaited('finish', 'grandchild', 'child');
  await grandchild.heard.exit();

  // Who waits for nobody takes a slot as before: the child holds the only one again.
  const other = startAwaited('finish', 'other');
  await child.handle.kill();
  expect(other.heard.exits).toEqual([]);
  await parent.handle.kill();
  expect(await other.heard.exit()).toMatchObject({ kind: 'finished' });
});

test('a job is ended by force while it runs, spins or waits, and the pool goes on', async () => {
  const spinning = start('spin');
  const waiting = start('echo');
  await spinning.heard.requested();
  await waiting.handle.stop(20_000);
  await spinning.handle.stop(20);

  expect(spinning.heard.exits).toEqual([{ kind: 'killed' }]);
  expect(waiting.heard.exits).toEqual([{ kind: 'killed' }]);
  expect(waiting.heard.requests).toEqual([]);
  expect(await start('finish').heard.exit()).toMatchObject({ kind: 'finished' });
});

test('a thread is used again, and nothing of a job reaches the next one', async () => {
  expect(await start('count').heard.exit()).toEqual({ kind: 'finished', text: '0' });

  const first = start('interruptible');
  await first.heard.requested();
  first.handle.post([mail(1, 'for the first')]);
  first.handle.interrupt();
  first.handle.interrupt();
  await first.heard.exit();

  const second = start('echo');
  second.handle.post([mail(1, 'for the second')]);
  await second.heard.requested();
  await second.handle.stop(20_000);
  expect(second.heard.live).toEqual(['for the second']);

  // The same thread: what its modules hold has stayed, so an entry must hold nothing.
  expect(await start('count').heard.exit()).toEqual({ kind: 'finished', text: '1' });
});

test.each([
  ['exit', { kind: 'crashed', code: 'uncaught', message: expect.stringContaining('code: 3') }],
  ['throw', { kind: 'crashed', code: 'uncaught', message: 'thrown beside the run' }],
  ['heap', { kind: 'crashed', code: 'out-of-memory', message: expect.any(String) }],
])('a job that takes its thread down ends alone: %s', async (behaviour, expected) => {
  const small = new PoolHost({
    entry,
    maxThreads: 1,
    resourceLimits: { maxOldGenerationSizeMb: 24 },
  });
  const heard = new Listener();
  const handle = small.start(startOf(behaviour), heard);
  const next = new Listener();
  small.start(startOf('finish'), next);
  await heard.requested();
  handle.post([mail(1, 'now')]);
  expect(await heard.exit()).toEqual(expected);

  expect(await next.exit()).toMatchObject({ kind: 'finished' });
  await small.close();
});

test.each([
  ['fail', { kind: 'crashed', code: 'agent/odd', message: 'it went wrong' }],
  ['stuck', { kind: 'crashed', code: 'script/unmatched', message: 'no turn 3' }],
])('a job that ends badly tells its code: %s', async (behaviour, expected) => {
  expect(await start(behaviour).heard.exit()).toEqual(expected);
});

test('an entry that is missing ends every job that is open, and not the process', async () => {
  const missing = new PoolHost({
    entry: new URL('./no-such-entry.mjs', import.meta.url),
    maxThreads: 1,
  });
  const heard = Array.from({ length: 3 }, () => new Listener());
  for (const listener of heard) missing.start(startOf('echo'), listener);

  for (const listener of heard) {
    expect(await listener.exit()).toMatchObject({ kind: 'crashed', code: 'entry-missing' });
  }
  await missing.close();
});

test('a closed pool ends what it runs, starts nothing more and leaves nothing open', async () => {
  const { heard } = start('spin');
  await heard.requested();
  await host.close();
  expect(heard.exits).toEqual([{ kind: 'killed' }]);

  expect(await start('finish').heard.exit()).toMatchObject({ code: 'start-failed' });
  expect(await leftOpen(before)).toEqual(before);
});
