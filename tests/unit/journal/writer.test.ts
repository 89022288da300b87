import { expect, test } from 'vitest';
import { isTroupeError } from '../../../src/kernel/index.ts';
import { DIRECTORY, FIRST, range, SECOND, World } from './support.ts';

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return isTroupeError(error) ? error.code : String(error);
  }
  return 'none';
}

/** One line an operation on the segments: `write datasync write datasync`. */
function traced(world: World): string[] {
  const trace: string[] = [];
  world.files.before = ({ kind, path }) => {
    if (path === DIRECTORY) trace.push(kind === 'syncDirectory' ? 'folder' : kind);
    else if (path.endsWith('.jsonl')) trace.push(kind);
  };
  return trace;
}

test('J8: a new journal is durable, with all the folders above it, when open resolves', async () => {
  const world = new World();
  await world.open();
  const after = new World(world.files.crash('none'));
  const { journal, seqs } = await after.recovered();
  expect(seqs).toEqual([1]);
  expect(journal.report).toMatchObject({ created: false, lastSeq: 1, torn: null, gaps: [] });
});

test('J8: an acknowledged record survives a power cut, an unacknowledged one may not', async () => {
  const world = new World();
  const journal = await world.open();
  const first = journal.append({ k: 'msg', to: 'ada', n: 1 });
  await first.durable;
  journal.append({ k: 'msg', to: 'ada', n: 2 });
  expect(first.seq).toBe(2);
  const after = new World(world.files.crash('none'));
  expect((await after.recovered()).seqs).toEqual([1, 2]);
});

test('the seq is known at once, and dense', async () => {
  const journal = await new World().open();
  expect(journal.nextSeq).toBe(2);
  expect(range(2, 6).map(() => journal.append({ k: 'x' }).seq)).toEqual(range(2, 6));
  expect(journal.durableSeq).toBe(1);
  await journal.flush();
  expect(journal.durableSeq).toBe(6);
});

test('J8: all that is queued while a sync runs goes into the next, with one write and one sync', async () => {
  const world = new World();
  const journal = await world.open();
  const trace = traced(world);
  const sender = async (): Promise<void> => {
    for (let index = 0; index < 5; index += 1) await journal.append({ k: 'msg' }).durable;
  };
  await Promise.all(range(1, 64).map(sender));
  expect(trace.join(' ')).toBe(Array.from({ length: 5 }, () => 'write datasync').join(' '));
});

test('J8: acknowledgements come in order, also over batches', async () => {
  const journal = await new World().open({ limits: { batchRecordsMax: 3 } });
  const order: number[] = [];
  const all = range(1, 10).map(async () => {
    const { seq, durable } = journal.append({ k: 'msg' });
    await durable;
    order.push(seq);
  });
  await Promise.all(all);
  expect(order).toEqual(range(2, 11));
});

test('a batch holds no more records and bytes than its limits, and a larger record goes alone', async () => {
  const world = new World();
  const journal = await world.open({ limits: { batchRecordsMax: 4, batchBytesMax: 500 } });
  const sizes: number[] = [];
  world.files.before = ({ kind }) => {
    if (kind === 'write') sizes.push(0);
  };
  for (let index = 0; index < 9; index += 1) journal.append({ k: 'm' });
  await journal.flush();
  expect(sizes.length).toBe(3);
  for (const length of [200, 200, 900, 200]) journal.append({ k: 'm', x: 'x'.repeat(length) });
  await journal.flush();
  expect(sizes.length).toBe(3 + 3);
});

test('J1: `d` is the highest seq that was durable when the batch was formed', async () => {
  const world = new World();
  const journal = await world.open();
  journal.append({ k: 'a' });
  journal.append({ k: 'b' });
  await journal.flush();
  journal.append({ k: 'c' });
  await journal.close();
  expect((await world.read()).map(({ s, d, k }) => `${s} ${d} ${k}`)).toEqual([
    '1 0 seg',
    '2 1 a',
    '3 1 b',
    '4 3 c',
    '5 4 seal',
  ]);
});

test('short writes are continued', async () => {
  const world = new World();
  const journal = await world.open();
  world.files.writeBytesMax = 7;
  for (let index = 0; index < 5; index += 1) journal.append({ k: 'msg', index });
  await journal.close();
  expect((await world.verify()).problems).toEqual([]);
  expect((await world.read()).length).toBe(7);
});

test('J7: a segment rolls at its size, and its entry is durable before its first record counts', async () => {
  const world = new World();
  const journal = await world.open({ limits: { segmentBytesMax: 600 } });
  const trace = traced(world);
  for (let index = 0; index < 6; index += 1)
    await journal.append({ k: 'm', x: 'x'.repeat(90) }).durable;
  const batch = 'write datasync';
  expect(trace.join(' ')).toBe(
    [batch, batch, batch, batch, 'open close', batch, 'folder', batch].join(' '),
  );
  await journal.close();
  const seqs = (await world.read()).map((record) => record.s);
  expect(seqs).toEqual(range(1, seqs.length));
  const head: unknown = JSON.parse((await world.lines(SECOND))[0] ?? '');
  const before = (await world.lines(FIRST)).at(-1) ?? '';
  expect(head).toMatchObject({ k: 'seg', v: 1, segment: 2, prev: before.slice(-10, -2) });
});

test('J7: a segment rolls after a day', async () => {
  const world = new World();
  const journal = await world.open();
  await world.clock.advance(24 * 60 * 60 * 1000);
  await journal.append({ k: 'm' }).durable;
  await journal.close();
  expect((await world.lines(SECOND)).length).toBe(3);
});

test('J9: a failed sync is fail-stop: everything waiting rejects, nothing is written or synced again', async () => {
  const world = new World();
  const journal = await world.open({ limits: { batchRecordsMax: 1 } });
  world.files.fail({ kind: 'datasync', code: 'EIO' });
  const waiting = [journal.append({ k: 'a' }), journal.append({ k: 'b' })];
  const trace = traced(world);
  for (const { durable } of waiting) expect(await codeOf(durable)).toBe('journal/failed');
  expect(await journal.failed).toMatchObject({ code: 'journal/failed', exit: 75 });
  expect(() => journal.append({ k: 'c' })).toThrow(expect.objectContaining({ exit: 75 }));
  expect(await codeOf(journal.flush())).toBe('journal/failed');
  await journal.close();
  await world.clock.advance(1000);
  expect(trace).toEqual(['write', 'datasync', 'close']);
});

test('J9: so is a failed sync of the folder, and a write error that has no explanation', async () => {
  for (const fault of ['syncDirectory', 'write'] as const) {
    const world = new World();
    const journal = await world.open({ limits: { segmentBytesMax: 1 } });
    world.files.fail({ kind: fault, code: 'EIO' });
    expect(await codeOf(journal.append({ k: 'a' }).durable)).toBe('journal/failed');
    expect((await journal.failed).exit).toBe(75);
  }
});

test('J9: a write that takes nothing and says nothing is fail-stop, not a loop', async () => {
  const world = new World();
  const journal = await world.open();
  world.files.writeBytesMax = 0;
  expect(await codeOf(journal.append({ k: 'a' }).durable)).toBe('journal/failed');
});

test('nothing is reported as unhandled when nobody watches `durable`', async () => {
  const world = new World();
  const journal = await world.open();
  world.files.fail({ kind: 'datasync', code: 'EIO' });
  journal.append({ k: 'a' });
  await journal.failed;
});

test('J11: after 20 ms of quiet a seal covers the last batch, once', async () => {
  const world = new World();
  const journal = await world.open();
  await journal.append({ k: 'a' }).durable;
  await world.clock.advance(19);
  expect(journal.durableSeq).toBe(2);
  await world.clock.advance(1);
  expect(journal.durableSeq).toBe(3);
  await world.clock.advance(10_000);
  expect((await world.read()).at(-1)).toEqual({ s: 3, d: 2, k: 'seal' });
  expect(world.clock.pending).toBe(0);
  await journal.close();
  expect(journal.durableSeq).toBe(3);
});

test('J11: traffic puts the seal off, and one sleeper serves all of it', async () => {
  const world = new World();
  const journal = await world.open();
  for (let index = 0; index < 10; index += 1) {
    await journal.append({ k: 'a' }).durable;
    await world.clock.advance(15);
    expect(world.clock.pending).toBe(1);
  }
  expect((await world.read()).map((record) => record.k)).not.toContain('seal');
});

test('close writes what waits and a seal, is idempotent, and then takes nothing more', async () => {
  const world = new World();
  const journal = await world.open();
  const { durable } = journal.append({ k: 'a' });
  const closing = journal.close();
  expect(journal.close()).toBe(closing);
  expect(() => journal.append({ k: 'b' })).toThrow(
    expect.objectContaining({ code: 'journal/closed' }),
  );
  await closing;
  await durable;
  expect((await world.read()).map((record) => record.k)).toEqual(['seg', 'a', 'seal']);
  expect(world.clock.pending).toBe(0);
});

test('close without a seal adds nothing', async () => {
  const world = new World();
  const journal = await world.open();
  await journal.append({ k: 'a' }).durable;
  await journal.close({ seal: false });
  expect((await world.read()).map((record) => record.k)).toEqual(['seg', 'a']);
});

test('a record over the limit of a line is refused, one below it is whole', async () => {
  const world = new World();
  const journal = await world.open({ limits: { lineBytesMax: 4096 } });
  const refused = expect.objectContaining({ code: 'journal/record-too-large' });
  expect(() => journal.append({ k: 'm', x: 'x'.repeat(4096) })).toThrow(refused);
  expect(() => journal.append({ k: 'm', x: '€'.repeat(1400) })).toThrow(refused);
  const { seq } = journal.append({ k: 'm', x: '€'.repeat(1300) });
  await journal.close();
  expect((await world.read()).find((record) => record.s === seq)?.['x']).toBe('€'.repeat(1300));
});

test('more than the queue may hold is refused until the disk has caught up', async () => {
  const journal = await new World().open({ limits: { queueBytesMax: 1000 } });
  const send = (): unknown => journal.append({ k: 'm', x: 'x'.repeat(600) });
  send();
  send();
  expect(send).toThrow(expect.objectContaining({ code: 'journal/overloaded', retryable: true }));
  await journal.flush();
  send();
  await journal.flush();
});

test('J7: kinds of the journal itself are refused', async () => {
  const journal = await new World().open();
  expect(() => journal.append({ k: 'seal' })).toThrow('J7');
  expect(() => journal.append({ k: 'seg' })).toThrow('J7');
});

test('J21: a record waits for what it names, and all behind it for it; none of it blocks what came before', async () => {
  const world = new World();
  const journal = await world.open();
  let stored: () => void = () => undefined;
  const after = new Promise<null>((resolve) => {
    stored = () => resolve(null);
  });
  const first = journal.append({ k: 'msg', n: 1 });
  const named = journal.append({ k: 'msg', n: 2 }, { after });
  const behind = journal.append({ k: 'msg', n: 3 });
  await first.durable;
  expect([first.seq, named.seq, behind.seq]).toEqual([2, 3, 4]);
  expect(journal.durableSeq).toBe(2);
  expect((await world.read()).map(({ s }) => s)).toEqual([1, 2]);
  stored();
  await behind.durable;
  expect((await world.read()).map(({ n }) => n).slice(1)).toEqual([1, 2, 3]);
});

test('J21: it may be written in another form; what can never be stored stops the journal', async () => {
  const world = new World();
  const journal = await world.open();
  const heard: unknown[] = [];
  journal.subscribe(({ text }) => heard.push(text));
  const after = Promise.resolve({ k: 'msg', text: 'whole' });
  await journal.append({ k: 'msg', text: 'head' }, { after }).durable;
  expect((await world.read()).at(-1)).toMatchObject({ text: 'whole' });
  expect(heard).toEqual(['whole']);
  const lost = journal.append({ k: 'msg' }, { after: Promise.reject(new Error('no disk')) });
  expect(await codeOf(lost.durable)).toBe('journal/failed');
  expect(await codeOf(journal.flush())).toBe('journal/failed');
  expect((await new World(world.files.crash('all')).recovered()).seqs).toEqual([1, 2]);
});
