/** Damage at or below the watermark: never truncated, everything else kept, the gap named. */
import { expect, test } from 'vitest';
import type { Damage } from '../../../src/journal/index.ts';
import { DIRECTORY, FIRST, range, SECOND, World } from './support.ts';

interface Found {
  readonly world: World;
  readonly seqs: number[];
  readonly gaps: readonly Damage[];
  readonly torn: unknown;
}

/** Ten records and a seal (1–12), damaged, then recovered; the damaged bytes must still be there. */
async function recovered(damage: (lines: string[]) => string | Uint8Array): Promise<Found> {
  const world = new World();
  await world.filled(10);
  await world.put(damage(await world.lines()));
  const before = await world.bytes();
  const gapsRead: Damage[] = [];
  const read = await world.read({ onGap: (gap) => gapsRead.push(gap) });
  const { journal, seqs } = await world.recovered();
  const { gaps, torn } = journal.report;
  expect(await world.bytes()).toEqual(before);
  expect(read.map((record) => record.s)).toEqual(seqs);
  expect(gapsRead).toEqual(gaps);
  await journal.append({ k: 'after' }).durable;
  await journal.close();
  const again = await world.recovered();
  expect(again.journal.report.gaps).toEqual(gaps);
  expect(again.seqs.slice(0, seqs.length)).toEqual(seqs);
  expect(again.seqs.slice(seqs.length)).toEqual(
    range((seqs.at(-1) ?? 0) + 1, again.seqs.at(-1) ?? 0),
  );
  await again.journal.close();
  return { world, seqs, gaps, torn };
}

const joined = (lines: string[]): string => `${lines.join('\n')}\n`;
const without = (...lost: number[]): number[] => range(1, 12).filter((seq) => !lost.includes(seq));
const change = (lines: string[], seq: number, edit: (line: string) => string): string =>
  joined(lines.map((line, index) => (index === seq - 1 ? edit(line) : line)));

test('J5: a byte that flipped in a record costs that record alone', async () => {
  const found = await recovered((lines) => change(lines, 5, (line) => line.replace('ada', 'adb')));
  expect(found.seqs).toEqual(without(5));
  expect(found.gaps).toMatchObject([
    { file: FIRST, line: 5, cause: 'checksum', fromSeq: 5, toSeq: 5 },
  ]);
  expect(found.torn).toBeNull();
});

test('J5: writing goes on in a new segment, so that the damaged bytes stay as they are', async () => {
  const { world } = await recovered((lines) =>
    change(lines, 5, (line) => line.replace('ada', 'adb')),
  );
  expect((await world.lines(SECOND)).length).toBe(3);
});

test('J5: when only the crc of a record is damaged, the next record proves its content', async () => {
  for (const to of ['0', 'z']) {
    const edit = (line: string): string => `${line.slice(0, -3)}${line.at(-3) === to ? '1' : to}"}`;
    const found = await recovered((lines) => change(lines, 5, edit));
    expect(found.seqs).toEqual(range(1, 12));
    expect(found.gaps).toMatchObject([{ line: 5, fromSeq: 5, toSeq: 4 }]);
  }
});

test('J4: a line that was taken out is missed, though each one left is intact by itself', async () => {
  const found = await recovered((lines) => joined(lines.filter((_, index) => index !== 4)));
  // The record behind the hole can't be told from a forged one: its crc stands on the lost one.
  expect(found.seqs).toEqual(without(5, 6));
  expect(found.gaps).toMatchObject([{ line: 5, fromSeq: 5, toSeq: 6 }]);
});

test('J4: a line that is there twice counts once', async () => {
  const found = await recovered((lines) =>
    joined(lines.flatMap((line, i) => (i === 4 ? [line, line] : [line]))),
  );
  expect(found.seqs).toEqual(range(1, 12));
  expect(found.gaps).toMatchObject([{ line: 6, fromSeq: 6, toSeq: 5 }]);
});

test('J4: lines that changed places are noticed', async () => {
  const found = await recovered((lines) => {
    const swapped = [...lines];
    [swapped[4], swapped[5]] = [swapped[5] ?? '', swapped[4] ?? ''];
    return joined(swapped);
  });
  expect(found.gaps.length).toBeGreaterThan(0);
  expect(found.seqs).toEqual(expect.arrayContaining(without(5, 6, 7)));
});

test('two records glued together by a lost line feed are both kept', async () => {
  for (const between of ['', 'X', '\0\0\0']) {
    const found = await recovered((lines) => {
      const [five, six] = [lines[4] ?? '', lines[5] ?? ''];
      return joined([...lines.slice(0, 4), `${five}${between}${six}`, ...lines.slice(6)]);
    });
    expect(found.seqs).toEqual(range(1, 12));
    expect(found.torn).toBeNull();
  }
});

test('J5: a line feed that fell into a record costs that record alone', async () => {
  const found = await recovered((lines) => change(lines, 5, (line) => line.replace('ada', 'a\na')));
  expect(found.seqs).toEqual(without(5));
});

test('junk between records costs nothing, and is named', async () => {
  for (const junk of ['', 'hello', '\0'.repeat(900), '{"s":6,"d":5,"k":"x"}', '{"s":']) {
    const found = await recovered((lines) =>
      joined([...lines.slice(0, 5), junk, ...lines.slice(5)]),
    );
    expect(found.seqs).toEqual(range(1, 12));
    expect(found.gaps).toMatchObject([{ line: 6, cause: 'format', fromSeq: 6, toSeq: 5 }]);
  }
});

test('nulls in front of a record on its own line cost nothing', async () => {
  const found = await recovered((lines) => change(lines, 5, (line) => `\0\0\0${line}`));
  expect(found.seqs).toEqual(range(1, 12));
});

test('J5: a sector of nulls costs the records it touches and the one that stands on them', async () => {
  const found = await recovered((lines) => {
    const text = joined(lines);
    return `${text.slice(0, 300)}${'\0'.repeat(200)}${text.slice(500)}`;
  });
  expect(found.gaps.length).toBe(1);
  const [gap] = found.gaps;
  const lost = range(gap?.fromSeq ?? 0, gap?.toSeq ?? 0);
  expect(found.seqs).toEqual(without(...lost));
  // 200 bytes over records of some 70: four touched, and one behind them.
  expect(lost.length).toBeLessThanOrEqual(5);
});

test('J5: two places of damage are two gaps', async () => {
  const found = await recovered((lines) =>
    joined(lines.map((line, i) => (i === 2 || i === 7 ? line.replace('ada', 'bda') : line))),
  );
  expect(found.seqs).toEqual(without(3, 8));
  expect(found.gaps.map(({ line }) => line)).toEqual([3, 8]);
});

test('J5: the last acknowledged record is covered by the seal', async () => {
  const found = await recovered((lines) => change(lines, 11, (line) => line.replace('ada', 'bda')));
  expect(found.seqs).toEqual(without(11));
  expect(found.gaps).toMatchObject([{ fromSeq: 11, toSeq: 11 }]);
});

test('a damaged head costs the head alone', async () => {
  const found = await recovered((lines) => change(lines, 1, (line) => line.replace('r1', 'r2')));
  expect(found.seqs).toEqual(without(1));
});

test('line ends that an editor made CR LF are read, and told', async () => {
  const world = new World();
  await world.filled(10);
  const lines = await world.lines();
  await world.put(`${lines.join('\r\n')}\r\n`);
  const { journal, seqs } = await world.recovered();
  expect(seqs).toEqual(range(1, 12));
  expect(journal.report).toMatchObject({ torn: null, gaps: [], crlfLines: 12 });
  await journal.append({ k: 'msg' }).durable;
  await journal.close();
  const { ok, problems } = await world.verify();
  expect(ok).toBe(true);
  expect(problems).toMatchObject([{ kind: 'line-endings', file: FIRST }]);
});

test('a line longer than any record may be is passed over, without holding it in memory', async () => {
  const limits = { reserveBytes: 0, windowBytes: 256, lineBytesMax: 1024 };
  const world = new World();
  await world.filled(10);
  const lines = await world.lines();
  await world.put(joined([...lines.slice(0, 5), '#'.repeat(9000), ...lines.slice(5)]));
  const { journal, seqs } = await world.recovered({ limits });
  expect(seqs).toEqual(range(1, 12));
  expect(journal.report.gaps).toMatchObject([{ fromSeq: 6, toSeq: 5 }]);
});

/** Three segments or more. */
async function segmented(): Promise<World> {
  const world = new World();
  await world.filled(12, { limits: { segmentBytesMax: 400 } });
  return world;
}

test('J5: a segment that is gone is a gap, named where the log goes on', async () => {
  const world = await segmented();
  const lost = (await world.lines(SECOND)).length;
  const first = (await world.lines(FIRST)).length;
  const all = (await world.read()).map((record) => record.s);
  await world.files.remove(`${DIRECTORY}/${SECOND}`);
  const { journal, seqs } = await world.recovered();
  const gone = range(first + 1, first + lost);
  expect(seqs).toEqual(all.filter((seq) => !gone.includes(seq)));
  expect(journal.report.gaps).toMatchObject([
    {
      file: '000000000003.jsonl',
      line: 1,
      cause: 'missing',
      fromSeq: first + 1,
      toSeq: first + lost,
    },
  ]);
});

test('J5: so is the first one', async () => {
  const world = await segmented();
  const first = (await world.lines(FIRST)).length;
  await world.files.remove(`${DIRECTORY}/${FIRST}`);
  const { journal } = await world.recovered();
  expect(journal.report.gaps).toMatchObject([{ cause: 'missing', fromSeq: 1, toSeq: first }]);
});

test('J5: the end of a segment that is not the last one is damage, not a torn tail', async () => {
  const world = await segmented();
  const text = await world.text(FIRST);
  const count = (await world.lines(FIRST)).length;
  await world.put(text.slice(0, -20), FIRST);
  const { journal, seqs } = await world.recovered();
  expect(journal.report.torn).toBeNull();
  expect(journal.report.gaps).toMatchObject([
    { file: FIRST, cause: 'incomplete', fromSeq: count, toSeq: count },
  ]);
  expect(seqs).toContain(count + 1);
  expect(await world.text(FIRST)).toBe(text.slice(0, -20));
});

test('J5: damage and a torn tail in one file: the one stays, the other is cut', async () => {
  const world = new World();
  await world.filled(10);
  const lines = await world.lines();
  const damaged = change(lines, 5, (line) => line.replace('ada', 'adb'));
  await world.put(`${damaged}{"s":13,"d":12,"k":"m`);
  const { journal, seqs } = await world.recovered();
  expect(seqs).toEqual(without(5));
  expect(journal.report).toMatchObject({ torn: { fromSeq: 13 }, gaps: [{ fromSeq: 5, toSeq: 5 }] });
  expect(await world.text()).toBe(damaged);
  expect(journal.append({ k: 'm' }).seq).toBe(14);
  await journal.flush();
  expect((await world.lines(SECOND)).length).toBe(2);
});

test('J5: damage at the end of a segment before an empty one is not forgotten', async () => {
  const world = new World();
  const first = await world.open();
  await first.append({ k: 'msg' }).durable;
  await first.close({ seal: false });
  const text = await world.text();
  await world.put(text.replace('"msg"', '"mag"'));
  await world.put('', SECOND);
  const { journal, seqs } = await world.recovered();
  expect(seqs).toEqual([1]);
  expect(journal.report.gaps).toMatchObject([{ file: FIRST, fromSeq: 2, toSeq: 2 }]);
  expect(journal.append({ k: 'msg' }).seq).toBe(4);
  await journal.close();
  const again = await world.recovered();
  expect(again.seqs).toEqual([1, 3, 4, 5]);
  expect(again.journal.report.gaps).toMatchObject([{ file: FIRST, fromSeq: 2, toSeq: 2 }]);
});
