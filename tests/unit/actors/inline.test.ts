import { expect, test } from 'vitest';
import { type ActorRun, InlineHost } from '../../../src/actors/index.ts';
import { VirtualClock } from '../../../src/testing/index.ts';
import { Listener, mail, startOf } from '../../support/threads/starts.ts';

function started(run: ActorRun, clock?: VirtualClock) {
  const host = new InlineHost({ run, ...(clock === undefined ? {} : { clock }) });
  const heard = new Listener();
  return { host, heard, handle: host.start(startOf('-'), heard) };
}

const untilStopped: ActorRun = async (_start, port, signal) => {
  await port.waitForMail(signal);
};

test('the run gets a copy of its start and talks in strings', async () => {
  const { heard, handle } = started(async (start, port) => {
    const reply = await port.request({ type: 'delivered', n: [1] });
    return { kind: 'finished', text: `${start.name} ${reply.type}` };
  });
  await heard.requested();
  handle.post([{ type: 'reply', id: 1, reply: { type: 'noted' } }]);
  expect(await heard.exit()).toEqual({ kind: 'finished', text: 'ada noted' });
  expect(handle.heartbeat()).toBe(1);
});

test('A1: what was said before the end comes before the exit', async () => {
  const { heard } = started(async (_start, port) => {
    void port.request({ type: 'delivered', n: [1] }).catch(() => {});
  });
  await heard.exit();
  expect(heard.requests).toHaveLength(1);
});

test('A6: an interrupt finds the mail that was posted before it; taken mail interrupts nobody', async () => {
  const seen: string[] = [];
  const { heard, handle } = started(async (_start, port, signal) => {
    port.onInterrupt(() => seen.push(`interrupt ${port.takeMail().length}`));
    await port.waitForMail(signal).catch(() => {});
    seen.push(`awake ${port.takeMail().length}`);
  });
  await Promise.resolve();
  handle.post([mail(1, 'one')]);
  handle.interrupt();
  await heard.exit();
  expect(seen).toEqual(['interrupt 1', 'awake 0']);
});

test('a stop is asked for, and forced after its grace', async () => {
  const clock = new VirtualClock();
  const polite = started(untilStopped, clock);
  await polite.handle.stop(1_000);
  expect(polite.heard.exits).toEqual([{ kind: 'finished' }]);

  const deaf = started(() => new Promise(() => {}), clock);
  const stopping = deaf.handle.stop(1_000);
  await clock.advance(1_000);
  await stopping;
  expect(deaf.heard.exits).toEqual([{ kind: 'killed' }]);
});

test('A1: an exit is told once, and a killed run is heard no more', async () => {
  const { host, heard, handle } = started(async (_start, port, signal) => {
    await port.waitForMail(signal).catch(() => {});
    await port.request({ type: 'idle', why: 'end' }).catch(() => {});
  });
  await handle.kill();
  await handle.stop(0);
  await host.close();
  expect(heard.exits).toEqual([{ kind: 'killed' }]);
  expect(heard.requests).toEqual([]);
});
