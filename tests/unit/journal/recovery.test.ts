/** What recovery does with a tail that a crash tore, and with what a killed process left. */
import { expect, test } from 'vitest';
import type { FileOperation } from '../../../src/testing/memory-files.ts';
import { DIRECTORY, FIRST, range, SECOND, World } from './support.ts';

/** A journal with records 1–4, none of them sealed: 4 is above the watermark. */
async function unsealed(): Promise<World> {
  const world = new World();
  const journal = await world.open();
  for (let index = 0; index < 3; index += 1) await journal.append({ k: 'msg', index }).durable;
  await journal.close({ seal: false });
  return world;
}

const tornFiles = async (world: World): Promise<string[]> =>
  (await world.files.list(DIRECTORY)).filter((name) => name.startsWith('torn-'));

test('recovery gives every record in order and goes on with the next seq', async () => {
  const world = new World();
  await world.filled(3);
  const { journal, seqs } = await world.recovered();
  expect(seqs).toEqual(range(1, 5));
  expect(journal.report).toMatchObject({ created: false, segments: 1, records: 5, lastSeq: 5 });
  expect(journal.append({ k: 'msg' }).seq).toBe(6);
  await journal.close();
  expect((await world.read()).map((record) => record.s)).toEqual(range(1, 7));
  expect((await world.verify()).problems).toEqual([]);
});

test('recovery parses only what `select` wants', async () => {
  const world = new World();
  await world.filled(3);
  const { seqs } = await world.recovered({ select: (head) => head.address === 'ada' });
  expect(seqs).toEqual([2, 3, 4]);
});

test('J6: a torn tail is set aside, cut, synced and told', async () => {
  const world = await unsealed();
  const whole = await world.text();
  const torn = '{"s":5,"d":4,"k":"msg","text":"half a rec';
  await world.put(whole + torn);
  const { journal, seqs } = await world.recovered();
  expect(seqs).toEqual(range(1, 4));
  const kept = 'torn-5-20260101T000000000Z';
  expect(journal.report.torn).toEqual({
    file: FIRST,
    line: 5,
    offset: whole.length,
    fromSeq: 5,
    records: 0,
    bytes: torn.length,
    kept,
  });
  expect(await world.text()).toBe(whole);
  expect(await world.text(kept)).toBe(torn);
  const after = new World(world.files.crash('none'));
  expect(await after.text()).toBe(whole);
  expect(await after.text(kept)).toBe(torn);
});

test.each([
  ['binary garbage', '\u0001\u0002þÿ\nmore\n'],
  ['a run of nulls', '\0'.repeat(5000)],
  ['a run of nulls and a line feed', `${'\0'.repeat(700)}\n`],
  ['half a record', '{"s":5,'],
  ['a record of another chain', '{"s":5,"d":4,"k":"msg","c":"00000000"}\n'],
  ['a record of the wrong seq', '{"s":9,"d":4,"k":"msg","c":"12345678"}\n'],
])('J6: %s behind the last record is a torn tail', async (_what, tail) => {
  const world = await unsealed();
  const whole = await world.text();
  await world.put(whole + tail);
  const { journal, seqs } = await world.recovered();
  expect(seqs).toEqual(range(1, 4));
  expect(journal.report).toMatchObject({ torn: { fromSeq: 5 }, gaps: [] });
  await journal.append({ k: 'msg' }).durable;
  await journal.close();
  expect((await world.verify()).problems).toEqual([]);
  expect((await world.read()).map((record) => record.s)).toEqual(range(1, 6));
});

test('J6: intact records behind the tear were never acknowledged; they go with it, and it is said', async () => {
  const world = await unsealed();
  const journal = await world.open();
  for (let index = 0; index < 3; index += 1) journal.append({ k: 'msg', text: 'x'.repeat(40) });
  await journal.flush();
  await journal.close({ seal: false });
  const lines = await world.lines();
  const broken = lines.map((line, index) => (index === 4 ? line.replace('xxx', 'xyx') : line));
  await world.put(`${broken.join('\n')}\n`);
  const again = await world.recovered();
  expect(again.seqs).toEqual(range(1, 4));
  expect(again.journal.report.torn).toMatchObject({ fromSeq: 5, line: 5, records: 2 });
});

test('a last record that only misses its line feed is kept', async () => {
  const world = await unsealed();
  const whole = await world.text();
  await world.put(whole.slice(0, -1));
  const { journal, seqs } = await world.recovered();
  expect(seqs).toEqual(range(1, 4));
  expect(journal.report.torn).toBeNull();
  expect(await world.text()).toBe(whole);
});

test('so is one whose line feed was in a sector that got lost', async () => {
  const world = await unsealed();
  const whole = await world.text();
  await world.put(`${whole.slice(0, -1)}${'\0'.repeat(600)}`);
  const { journal, seqs } = await world.recovered();
  expect(seqs).toEqual(range(1, 4));
  expect(journal.report.torn).toMatchObject({ fromSeq: 5 });
  expect(await world.text()).toBe(whole);
});

test('an empty folder, an empty file and a torn head all become a new journal', async () => {
  const head = (await (await unsealed()).lines())[0] ?? '';
  for (const content of ['', head.slice(0, 40), '\0'.repeat(512)]) {
    const world = new World();
    await world.files.makeDirectory(DIRECTORY);
    await world.put(content);
    const { journal, seqs } = await world.recovered();
    expect(seqs).toEqual([]);
    expect(journal.report.created).toBe(true);
    await journal.append({ k: 'msg' }).durable;
    expect((await world.verify()).problems).toEqual([]);
    expect(await world.files.list(DIRECTORY)).toContain(FIRST);
  }
});

test('an empty last segment, left by a roll that was cut short, is used', async () => {
  const world = new World();
  await world.filled(2);
  await world.put('', SECOND);
  const { journal, seqs } = await world.recovered();
  expect(seqs).toEqual(range(1, 4));
  await journal.append({ k: 'msg' }).durable;
  await journal.close();
  expect((await world.lines(SECOND))[0]).toContain('"segment":2');
  expect((await world.verify()).problems).toEqual([]);
});

test('J12: the last segment and the folder are synced before anything is accepted', async () => {
  const world = await unsealed();
  const killed = new World(world.files.crash('kill'));
  const operations: FileOperation[] = [];
  killed.files.before = (operation) => operations.push(operation);
  const journal = await killed.open();
  const synced = operations.filter(({ kind }) => kind === 'datasync' || kind === 'syncDirectory');
  expect(synced.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
    `datasync ${DIRECTORY}/${FIRST}`,
    `syncDirectory ${DIRECTORY}`,
    'syncDirectory /runs/r1',
    'syncDirectory /runs',
    'syncDirectory /',
  ]);
  expect(journal.durableSeq).toBe(4);
});

test('J12: what a killed process wrote and nobody synced is durable once recovery gave it', async () => {
  const world = await unsealed();
  const journal = await world.open();
  world.files.before = ({ kind }) => {
    if (kind === 'datasync') world.files.before = null;
  };
  const killed = await new Promise<World>((resolve) => {
    world.files.before = ({ kind }) => {
      if (kind === 'datasync') resolve(new World(world.files.crash('kill')));
    };
    journal.append({ k: 'msg', text: 'in the page cache' });
  });
  expect((await killed.recovered()).seqs).toEqual(range(1, 5));
  const after = new World(killed.files.crash('none'));
  expect((await after.recovered()).seqs).toEqual(range(1, 5));
});

test('J12: a sync that fails during recovery ends it with exit 75', async () => {
  const world = await unsealed();
  world.files.fail({ kind: 'datasync', code: 'EIO' });
  await expect(world.open()).rejects.toMatchObject({ code: 'journal/failed', exit: 75 });
});

test('a folder that can not be read is exit 75, an error of the caller stays his own', async () => {
  const world = await unsealed();
  world.files.fail({ kind: 'open', code: 'EACCES' });
  await expect(world.open()).rejects.toMatchObject({ code: 'journal/failed', exit: 75 });
  const onRecord = (): never => {
    throw new RangeError('a bug of the fold');
  };
  await expect(world.open({ onRecord })).rejects.toThrow(RangeError);
});

test('folders above that are not ours to open are left alone', async () => {
  const world = await unsealed();
  world.files.fail({ kind: 'syncDirectory', code: 'EACCES', path: '/runs' });
  const { seqs } = await world.recovered();
  expect(seqs).toEqual(range(1, 4));
});

test('J13: a recovery that ended before the cut leaves one copy, not one a try', async () => {
  const world = await unsealed();
  await world.put(`${await world.text()}{"s":5,"d`);
  for (let round = 0; round < 3; round += 1) {
    world.files.fail({ kind: 'truncate', code: 'EIO' });
    await expect(world.open()).rejects.toMatchObject({ code: 'journal/failed' });
    await world.clock.advance(1000);
  }
  await world.open();
  expect((await tornFiles(world)).length).toBe(1);
});

test('J13: two different tails of one moment are both kept', async () => {
  const world = await unsealed();
  const whole = await world.text();
  for (const tail of ['{"s":5,"d', '{"s":5,"d":4,"k']) {
    await world.put(whole + tail);
    const journal = await world.open();
    expect(journal.report.torn?.bytes).toBe(tail.length);
  }
  expect(await tornFiles(world)).toEqual([
    'torn-5-20260101T000000000Z',
    'torn-5-20260101T000000000Z-2',
  ]);
});

test('J7: a newer format is refused and nothing is changed', async () => {
  const world = new World();
  const newer = '"k":"seg","v":2,"log":"log_x","name":"r1","segment":1,"prev":"00000000","at":""';
  const { Batch } = await import('../../../src/journal/batch.ts');
  const batch = new Batch();
  batch.begin(0);
  batch.add({ seq: 1, durable: 0 }, newer);
  await world.files.makeDirectory(DIRECTORY);
  await world.put(new Uint8Array([...batch.bytes, 1, 2, 3]));
  const before = await world.bytes();
  await expect(world.open()).rejects.toMatchObject({ code: 'journal/newer-version', exit: 2 });
  await expect(world.read()).rejects.toMatchObject({ code: 'journal/newer-version' });
  expect(await world.bytes()).toEqual(before);
  expect((await world.verify()).problems[0]).toMatchObject({ kind: 'newer-version', line: 1 });
});

test('a segment of another run among the own ones is refused, by file, and nothing is changed', async () => {
  const other = new World();
  await other.open({ limits: { segmentBytesMax: 100 } }).then(async (journal) => {
    await journal.append({ k: 'x' }).durable;
    await journal.append({ k: 'y' }).durable;
    await journal.close();
  });
  const world = new World();
  world.random.next();
  await world.filled(2);
  await world.put(await other.bytes(SECOND), SECOND);
  const before = await world.bytes(SECOND);
  const refused = {
    code: 'journal/foreign',
    exit: 2,
    data: { file: `${DIRECTORY}/${SECOND}`, field: 'log' },
  };
  await expect(world.open()).rejects.toMatchObject(refused);
  await expect(world.read()).rejects.toMatchObject({ code: 'journal/foreign' });
  expect(await world.bytes(SECOND)).toEqual(before);
  const { ok, problems } = await world.verify();
  expect(ok).toBe(false);
  expect(problems.some(({ kind, file }) => kind === 'foreign-log' && file === SECOND)).toBe(true);
});

test('the journal of another run, copied in as a whole, is refused by its name', async () => {
  const world = new World();
  await world.filled(1, { name: 'another-run' });
  const refused = { code: 'journal/foreign', data: { field: 'name', found: 'another-run' } };
  await expect(world.open()).rejects.toMatchObject(refused);
});

test('files that are no segments are left alone', async () => {
  const world = new World();
  await world.filled(1);
  for (const name of ['notes.txt', '1.jsonl', '000000000002.jsonl.tmp', 'x000000000001.jsonl']) {
    await world.put('not ours', name);
  }
  const { journal, seqs } = await world.recovered();
  expect(seqs).toEqual([1, 2, 3]);
  expect(journal.report.segments).toBe(1);
});
