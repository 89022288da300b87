/** §3.4: who floods a run delays nobody by more than a turn, and what is on its way to the disk stays bounded. */
import { expect, test } from 'vitest';
import { asActorName } from '../../../src/kernel/index.ts';
import { NO_USAGE } from '../../../src/protocol/index.ts';
import type { RunEvent } from '../../../src/supervisor/inbox.ts';
import {
  COMMIT_BYTES_MAX,
  COMMIT_RECORDS_MAX,
  TURN_BYTES,
} from '../../../src/supervisor/limits.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { MailWorld } from '../journal/mail-world.ts';

const FLOOD = 10_000;

const idle = (_start: unknown, _port: unknown, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

async function begun(): Promise<MailWorld> {
  const world = await MailWorld.open({
    disk: new MemoryFiles(),
    seed: 'fair',
    mutate: (files) => files,
    facts: [],
    run: idle,
    unreadMax: 2 * FLOOD,
  });
  await world.begin();
  return world;
}

/** An answer of the lead, told from others by its text. */
function answer(id: number, text: string): RunEvent {
  const content = [{ type: 'text', text }] as const;
  const entry = { type: 'answer', content, usage: NO_USAGE, model: 'm', task: null, stop: 'end' };
  const request = { type: 'answer', entries: [entry], took: [], usage: NO_USAGE };
  return {
    type: 'request',
    name: asActorName('lead'),
    incarnation: 1,
    epoch: 1,
    upward: { id, request },
  } as unknown as RunEvent;
}

function flood(world: MailWorld, count: number, text: string): Promise<void>[] {
  return Array.from({ length: count }, (_, index) =>
    world.offer({ id: `f${index}`, to: 'bo', text, lane: 'normal' }),
  );
}

test('S9: one word among ten thousand letters of another is recorded after a bounded number of them', async () => {
  const world = await begun();
  const order: string[] = [];
  world.journal.subscribe((record) => {
    if (record['entries'] !== undefined) order.push('lead');
    if (record['mail'] !== undefined) order.push('user');
  });
  const sent = flood(world, FLOOD, 'one of many');
  world.post(answer(1, 'a word of mine'));
  await Promise.all(sent);
  await world.journal.flush();
  expect(order.filter((who) => who === 'user')).toHaveLength(FLOOD);
  const before = order.indexOf('lead');
  expect(before).toBeGreaterThanOrEqual(0);
  expect(before).toBeLessThanOrEqual(COMMIT_RECORDS_MAX + TURN_BYTES / 512);
  process.stdout.write(`the word came after ${before} of ${FLOOD} letters\n`);
  await world.stop();
});

test('S9: a command comes before all that waits, and is not kept by it', async () => {
  const world = await begun();
  const sent = flood(world, FLOOD, 'one of many');
  let letters = 0;
  const stopped = new Promise<number>((resolve) => {
    world.journal.subscribe((record) => {
      letters += record['mail'] === undefined ? 0 : 1;
      if (JSON.stringify(record['run'] ?? '').includes('run.stop-requested')) resolve(letters);
    });
  });
  world.post({ type: 'stop', now: true, by: 'the test' });
  expect(await stopped).toBeLessThanOrEqual(COMMIT_RECORDS_MAX);
  await Promise.all(sent);
  await world.finished;
});

test('S9: what is on its way to the disk stays small, however much is sent, and all of it is recorded', async () => {
  const world = await begun();
  const text = 'x'.repeat(20_000);
  const sent = flood(world, 500, text);
  let most = 0;
  const looks = { over: false };
  const done = Promise.all(sent).then(() => {
    looks.over = true;
  });
  while (!looks.over) {
    most = Math.max(most, world.journal.queuedBytes);
    await Promise.resolve();
  }
  await done;
  expect(most).toBeGreaterThan(COMMIT_BYTES_MAX / 2);
  expect(most).toBeLessThan(2 * COMMIT_BYTES_MAX);
  expect(world.state.mail.boxes.get('bo')?.last).toBe(500);
  await world.stop();
});
