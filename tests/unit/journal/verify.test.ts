import { expect, test } from 'vitest';
import { DIRECTORY, FIRST, SECOND, World } from './support.ts';

test('an intact journal has no problems', async () => {
  const world = new World();
  await world.filled(3);
  expect(await world.verify()).toMatchObject({
    ok: true,
    name: 'r1',
    segments: 1,
    records: 5,
    lastSeq: 5,
    watermark: 4,
    problems: [],
  });
});

test('the doctor changes nothing', async () => {
  const world = new World();
  await world.filled(3);
  await world.put(`${(await world.text()).replace('"n":1', '"n":7')}{"s":`);
  const before = await world.bytes();
  await world.verify();
  expect(await world.bytes()).toEqual(before);
  expect(await world.files.list(DIRECTORY)).toEqual([FIRST]);
});

test('every problem is named with file, line and offset', async () => {
  const world = new World();
  await world.filled(20, { limits: { segmentBytesMax: 400 } });
  const files = await world.files.list(DIRECTORY);
  const third = files[2] ?? '';
  const first = await world.lines(FIRST);
  await world.put(first.map((line, i) => (i === 1 ? line.replace('ada', 'adb') : line)).join('\n'));
  const second = await world.lines(SECOND);
  await world.put(`${second.join('\r\n')}\r\n`, SECOND);
  const lines = await world.lines(third);
  await world.put(`${[lines[0], 'oops', ...lines.slice(1)].join('\n')}\n`, third);
  const last = files.at(-1) ?? '';
  await world.put(`${await world.text(last)}{"s":9`, last);
  const { ok, problems } = await world.verify();
  expect(ok).toBe(false);
  expect(
    problems.map(({ kind, file, line, detail }) => `${file} ${line} ${kind}: ${detail}`),
  ).toMatchInlineSnapshot(`
    [
      "000000000001.jsonl 2 gap: Record 2 is lost (checksum, 55 damaged bytes).",
      "000000000001.jsonl 6 no-line-feed: The last line misses its line feed.",
      "000000000002.jsonl 1 line-endings: 6 lines end with CR LF.",
      "000000000003.jsonl 2 junk: 4 bytes after record 13 are no part of the log (format).",
      "000000000005.jsonl 3 torn-tail: The log ends in the middle of record 27; it was never acknowledged.",
    ]
  `);
  expect(problems[0]?.offset).toBe((first[0]?.length ?? 0) + 1);
});

test('a torn tail alone is no failure', async () => {
  const world = new World();
  await world.filled(3);
  await world.put(`${await world.text()}{"s":6`);
  const { ok, problems } = await world.verify();
  expect(ok).toBe(true);
  expect(problems).toMatchObject([{ kind: 'torn-tail', file: FIRST, line: 6 }]);
});

test('a journal that is not there is a problem, not an exception', async () => {
  expect((await new World().verify()).problems).toMatchObject([{ kind: 'missing' }]);
});
