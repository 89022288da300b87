import { expect, test } from 'vitest';
import { isTroupeError } from '../../../src/kernel/index.ts';
import { DIRECTORY, FIRST, SECOND, World } from './support.ts';

const RESERVE = { reserveBytes: 2000, fullRetryMs: 100 };

async function outcome(durable: Promise<void>): Promise<string> {
  try {
    await durable;
  } catch (error) {
    return isTroupeError(error) ? error.code : String(error);
  }
  return 'durable';
}

const reserveSize = async (world: World): Promise<number> =>
  (await world.files.stat(`${DIRECTORY}/reserve`))?.size ?? -1;

const body = (length: number): { k: string; x: string } => ({ k: 'm', x: 'x'.repeat(length) });

test('J10: on a full disk nothing of the batch stays, its senders are told, and later ones go on', async () => {
  const world = new World();
  const journal = await world.open({ limits: RESERVE });
  await journal.append(body(10)).durable;
  const before = await world.text();
  world.files.spaceLeft = 150;
  const first = journal.append(body(60));
  const second = journal.append(body(60));
  expect([await outcome(first.durable), await outcome(second.durable)]).toEqual([
    'journal/full',
    'journal/full',
  ]);
  expect(await world.text()).toBe(before);
  expect(await reserveSize(world)).toBe(1000);
  world.files.spaceLeft = 5000;
  await world.clock.advance(100);
  const third = journal.append(body(60));
  expect(third.seq).toBe(first.seq);
  expect(await outcome(third.durable)).toBe('durable');
  await journal.close();
  expect((await world.verify()).problems).toEqual([]);
});

test('J10: what waits behind the full batch is rejected with it, so that seqs stay dense', async () => {
  const world = new World();
  const journal = await world.open({ limits: { ...RESERVE, batchRecordsMax: 1 } });
  world.files.spaceLeft = 50;
  const waiting = [1, 2, 3].map(() => journal.append(body(60)).durable);
  for (const durable of waiting) expect(await outcome(durable)).toBe('journal/full');
  expect(journal.nextSeq).toBe(2);
});

test('J10: for a while after it `append` refuses at once, then tries again', async () => {
  const world = new World();
  const journal = await world.open({ limits: RESERVE });
  world.files.spaceLeft = 0;
  await outcome(journal.append(body(60)).durable);
  const refused = expect.objectContaining({ code: 'journal/full', retryable: true, exit: 75 });
  expect(() => journal.append(body(1))).toThrow(refused);
  await world.clock.advance(100);
  expect(await outcome(journal.append(body(1)).durable)).toBe('journal/full');
});

test('J10: a reserved record spends the reserve, which comes back before anything else is accepted', async () => {
  const world = new World();
  const journal = await world.open({ limits: RESERVE });
  world.files.spaceLeft = 0;
  await outcome(journal.append(body(60)).durable);
  const reserved = journal.append({ k: 'note', x: 'disk full' }, { reserved: true });
  expect(await outcome(reserved.durable)).toBe('durable');
  expect(await reserveSize(world)).toBe(-1);
  await world.clock.advance(200);
  expect(await outcome(journal.append(body(60)).durable)).toBe('journal/full');
  expect(await outcome(journal.append({ k: 'note' }, { reserved: true }).durable)).toBe('durable');
  world.files.spaceLeft = 9000;
  await world.clock.advance(200);
  expect(await outcome(journal.append(body(60)).durable)).toBe('durable');
  expect(await reserveSize(world)).toBe(1000);
  await journal.close();
  expect(await reserveSize(world)).toBe(-1);
  expect((await world.verify()).problems).toEqual([]);
});

test('J10: what was begun leaves the last of the reserve to the one record that tells why nothing follows', async () => {
  const world = new World();
  const journal = await world.open({ limits: RESERVE });
  world.files.spaceLeft = 0;
  const step = (): Promise<string> =>
    outcome(journal.append(body(300), { reserved: true }).durable);
  const steps: string[] = [];
  while (steps.at(-1) !== 'journal/full') steps.push(await step());
  expect(steps.length).toBeGreaterThan(1);
  const last = journal.append({ k: 'note', x: 'disk full' }, { reserved: 'last' });
  expect(await outcome(last.durable)).toBe('durable');
  await journal.close();
  expect((await world.verify()).problems).toEqual([]);
});

test('J10: when a new segment finds no room, the head is written once there is some', async () => {
  const world = new World();
  const journal = await world.open({ limits: { segmentBytesMax: 200 } });
  await journal.append(body(100)).durable;
  world.files.spaceLeft = 40;
  expect(await outcome(journal.append(body(10)).durable)).toBe('journal/full');
  expect(await world.text(SECOND)).toBe('');
  world.files.spaceLeft = null;
  await world.clock.advance(250);
  await journal.append(body(10)).durable;
  await journal.close();
  expect((await world.verify()).problems).toEqual([]);
  expect((await world.lines(SECOND))[0]).toContain('"k":"seg"');
});

test('J10: a batch that cannot be taken back is fail-stop', async () => {
  const world = new World();
  const journal = await world.open();
  world.files.spaceLeft = 10;
  world.files.fail({ kind: 'truncate', code: 'EIO' });
  expect(await outcome(journal.append(body(60)).durable)).toBe('journal/failed');
  expect((await journal.failed).exit).toBe(75);
});

test('a new journal on a full disk is refused, an old one opens and can be closed', async () => {
  const fresh = new World();
  fresh.files.spaceLeft = 20;
  await expect(fresh.open()).rejects.toMatchObject({ code: 'journal/full' });
  const world = new World();
  await world.filled(3);
  world.files.spaceLeft = 0;
  const { journal, seqs } = await world.recovered({ limits: RESERVE });
  expect(seqs).toEqual([1, 2, 3, 4, 5]);
  expect(await outcome(journal.append(body(1)).durable)).toBe('journal/full');
  await journal.close();
});

test('J6: on a full disk a torn tail is still set aside, from the space of the reserve', async () => {
  const world = new World();
  const journal = await world.open({ limits: RESERVE });
  await journal.append(body(10)).durable;
  await journal.close({ seal: false });
  const whole = await world.text();
  await world.put(`${whole}{"s":3,"d":2,"k":"m","x":"torn`);
  const handle = await world.files.open(`${DIRECTORY}/reserve`, 'append');
  handle.write(new Uint8Array(2000));
  world.files.spaceLeft = 0;
  const again = await world.open({ limits: RESERVE });
  expect(again.report.torn).toMatchObject({ file: FIRST, fromSeq: 3, bytes: 30 });
  expect(await world.text()).toBe(whole);
  await again.close();
});
