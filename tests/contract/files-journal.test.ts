/** The journal on the real disk: what the memory twin can't show. */
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  followJournal,
  type Journal,
  openJournal,
  readJournal,
  verifyJournal,
} from '../../src/journal/index.ts';
import { NodeFiles } from '../../src/platform/node-files.ts';
import { SeededRandom } from '../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';

let root: string;
let directory: string;
const files = new NodeFiles();

beforeEach(async () => {
  root = await fs.mkdtemp(path.join(os.tmpdir(), 'troupe-journal-'));
  directory = `${root}/runs/r1/journal`;
});

afterEach(() => fs.rm(root, { recursive: true }));

function open(): Promise<Journal> {
  return openJournal({
    files,
    clock: new VirtualClock(),
    random: new SeededRandom('disk'),
    directory,
    name: 'r1',
    limits: { reserveBytes: 100_000, segmentBytesMax: 20_000 },
  });
}

async function count(): Promise<number> {
  let records = 0;
  for await (const record of readJournal({ files, directory })) records = record.s;
  return records;
}

test('many senders, rolls, a torn tail, and a start that mends it', async () => {
  const journal = await open();
  const kept = ['reserve', 'reserve.last'].map((name) => files.stat(`${directory}/${name}`));
  expect((await Promise.all(kept)).map((stat) => stat?.size)).toEqual([50_000, 50_000]);
  const sender = async (name: string): Promise<void> => {
    for (let n = 0; n < 20; n += 1) {
      await journal.append({ k: 'msg', to: name, n, text: 'é\u2028'.repeat(30) }).durable;
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, index) => sender(`actor-${index}`)));
  await journal.close();
  expect((await files.list(directory)).filter((name) => name.startsWith('reserve'))).toEqual([]);
  const names = await files.list(directory);
  expect(names.length).toBeGreaterThan(2);
  const last = `${directory}/${names.at(-1) ?? ''}`;
  await fs.appendFile(last, '{"s":9999,"d":1,"k":"m');
  const again = await open();
  expect(again.report.torn).toMatchObject({ bytes: 22 });
  expect(again.report.lastSeq).toBe(journal.durableSeq);
  await again.close();
  expect((await verifyJournal({ files, directory })).problems).toEqual([]);
  expect(await count()).toBe(again.durableSeq);
});

test('a follower hears of appends and rolls from the system', async () => {
  const journal = await open();
  const stop = new AbortController();
  const seen: number[] = [];
  const clock = new VirtualClock();
  let sent = journal.durableSeq;
  for await (const record of followJournal({ files, clock, directory, signal: stop.signal })) {
    seen.push(record.s);
    if (record.k === 'last') stop.abort();
    else if (record.s === sent) {
      // The follower may be ahead of the sync, so it answers what it was sent last.
      const k = record.s > 400 ? 'last' : 'msg';
      for (let index = 0; index < 40; index += 1) {
        sent = journal.append({ k, text: 'x'.repeat(100) }).seq;
      }
    }
  }
  expect(seen).toEqual(Array.from(seen, (_, index) => index + 1));
  expect(seen.length).toBeGreaterThan(400);
  await journal.close();
});
