/** What a person reads of each kind of rot, at the start, in the middle and at the end of a journal. */
import { expect, test } from 'vitest';
import { verifyJournal } from '../../../src/journal/index.ts';
import { DIRECTORY, World } from './support.ts';

type Rot = (line: string) => string;

const BIG = 16 * 1024 * 1024 + 1;
const ROTS: Record<string, Rot> = {
  'a flipped bit': (line) => line.replace('"d":', '"e":'),
  'a run of nulls': (line) => '\0'.repeat(line.length),
  'nulls inside': (line) => `${line.slice(0, 20)}\0\0\0${line.slice(23)}`,
  'a cut line': (line) => line.slice(0, 20),
  CRLF: (line) => `${line}\r`,
  'U+2028 inside': (line) => line.replace('"k":', '\u2028"k":'),
  'U+2028 as line end': (line) => `${line}\u2028`,
  'a 16 MiB line before it': (line) => `${'x'.repeat(BIG)}\n${line}`,
  'a line that is missing': () => '',
};

const known = { seq: 7, from: 'snapshots/000000000000007.snap' };

async function words(rot: Rot, at: number): Promise<string[]> {
  const world = new World();
  await world.filled(6);
  const lines = await world.lines();
  const line = rot(lines[at] ?? '');
  const all = line === '' ? lines.toSpliced(at, 1) : lines.with(at, line);
  await world.put(`${all.join('\n')}\n`);
  const { files } = world;
  const { problems } = await verifyJournal({ files, directory: DIRECTORY, name: 'r1', known });
  return problems.map(({ line: number, kind, detail }) => `${number} ${kind}: ${detail}`);
}

test.each([
  ['start', 0],
  ['middle', 3],
  ['end', 7],
] as const)('rot at the %s', async (_place, at) => {
  const told: Record<string, string[]> = {};
  for (const [name, rot] of Object.entries(ROTS)) told[name] = await words(rot, at);
  expect(told).toMatchSnapshot();
});

test('glued', async () => {
  const world = new World();
  await world.filled(6);
  const text = await world.text();
  const told: Record<string, unknown> = {};
  for (const at of [0, 3, 6]) {
    const lines = text.split('\n');
    await world.put(
      [...lines.slice(0, at), `${lines[at]}${lines[at + 1]}`, ...lines.slice(at + 2)].join('\n'),
    );
    told[at] = (await world.verify()).problems;
  }
  expect(told).toMatchSnapshot();
});
