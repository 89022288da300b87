/** A client over the death of its supervisor: nothing is missed, nothing comes twice (I13, I14). */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Link, makeLink } from '../../src/client/index.ts';
import { isTroupeError } from '../../src/kernel/errors.ts';
import { CryptoRandom, SystemClock } from '../../src/platform/index.ts';
import type { TroupeEvent } from '../../src/protocol/event.ts';
import { openWorld, type World } from '../support/wire/world.ts';

let world: World;
let link: Link;
let connections: number;
let stop: AbortController;

beforeEach(async () => {
  world = await openWorld();
  connections = 0;
  stop = new AbortController();
  link = makeLink({
    clock: new SystemClock(),
    random: new CryptoRandom(),
    async connect() {
      // No token, no supervisor: as a front end finds it.
      const client = await world.client().catch((error: unknown) => {
        if (isTroupeError(error)) throw error;
        return null;
      });
      if (client !== null) connections += 1;
      return client;
    },
  });
});
afterEach(async () => {
  stop.abort();
  link.close();
  await world.end();
});

function collect(params: Parameters<Link['subscribe']>[0]): TroupeEvent[] {
  const seen: TroupeEvent[] = [];
  void (async () => {
    for await (const event of link.subscribe(params, stop.signal)) seen.push(event);
  })();
  return seen;
}

const cursors = (events: readonly TroupeEvent[]): string[] => events.map((event) => event.cursor);

test('I13: over restarts, with the socket gone meanwhile, each event comes once and in order', async () => {
  for (let count = 0; count < 5; count += 1) world.run.happen();
  const seen = collect({ from: '2.0' });
  await expect.poll(() => seen.length).toBe(3);
  for (let term = 0; term < 3; term += 1) {
    world.run.happen();
    await world.stop();
    await rm(join(world.directory, 's.sock'), { force: true });
    // It happened, and nobody was there to tell it.
    for (let count = 0; count < 300; count += 1) world.run.happen();
    await world.start();
    world.run.happen();
  }
  const all = cursors(world.run.stored).slice(2);
  await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(all.length);
  expect(cursors(seen)).toEqual(all);
  expect(connections).toBeGreaterThan(1);
});

test('I13: who begins with what happens from now on misses nothing either when it is cut off before the first event', async () => {
  world.run.happen();
  const seen = collect({});
  await expect.poll(() => world.server.file.pid).toBe(process.pid);
  await link.call('runs.list', {});
  await world.stop();
  world.run.happen();
  await world.start();
  await expect.poll(() => cursors(seen), { timeout: 5_000 }).toEqual(['2.0']);
});

test('I13: what was dropped for a slow reader is filled from the journal', async () => {
  const seen: string[] = [];
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  void (async () => {
    for await (const event of link.subscribe({ from: '0' }, stop.signal)) {
      if (seen.length === 0) await held;
      seen.push(event.cursor);
    }
  })();
  world.run.happen();
  await link.call('runs.list', {});
  for (let count = 0; count < 14_000; count += 1) {
    world.run.happen();
    if (count % 200 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await link.call('runs.list', {});
  go();
  await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(14_001);
  expect(seen).toEqual(cursors(world.run.stored));
});

test('I14: reading waits for the next supervisor; a change whose answer was lost is not sent again', async () => {
  await link.call('runs.list', {});
  await world.stop();
  const reading = link.call('runs.list', {});
  await world.start();
  expect(await reading).toEqual([]);
  const before = world.called.filter((one) => one.method === 'worktrees.clean').length;
  await link.call('worktrees.clean', {});
  expect(world.called.filter((one) => one.method === 'worktrees.clean')).toHaveLength(before + 1);
});

test('a request is given up with its signal, here and over there', async () => {
  const giveUp = new AbortController();
  const waiting = link.call('doctor.examine', {}, { signal: giveUp.signal });
  await expect.poll(() => world.called.some((one) => one.method === 'doctor.examine')).toBe(true);
  giveUp.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'client/cancelled' });
});
