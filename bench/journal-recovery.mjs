/**
 * T8: a start on a million records, against reading and parsing them line by line. The index (who has which mail, where) is
 * built from the first fields of each record; with a snapshot only what comes after is read.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { NodeFiles } from '../dist/platform/node-files.js';
import { openBenchJournal } from './journal-load.mjs';
import { median } from './stats.mjs';

const RECORDS = 1_000_000;
const AFTER = 20_000;
const ROUNDS = 3;

export async function recoveryRows(directory) {
  return [
    ...(await rowsOf(directory, { name: 'mail alone', least: 4, make: mailOf })),
    ...(await rowsOf(directory, { name: 'all kinds', least: 2, make: mixedOf })),
  ];
}

async function rowsOf(directory, kind) {
  const place = await fill(directory, kind.make);
  const parsed = [];
  const scanned = [];
  const resumed = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    parsed.push(await timed(() => parseAll(place)));
    scanned.push(await timed(() => recover(place, {})));
    resumed.push(await timed(() => recover(place, { snapshots: { restore: () => true } })));
  }
  fs.rmSync(path.dirname(place), { recursive: true });
  const parse = median(parsed);
  const scan = median(scanned);
  const resume = median(resumed);
  const rows = [
    {
      what: `T8 start on 1 M records (${kind.name}), against parsing them`,
      ratio: parse / scan,
      least: kind.least,
      detail: `${scan.toFixed(0)} ms against ${parse.toFixed(0)} ms`,
    },
  ];
  if (kind.least === 4) {
    rows.push({
      what: 'T8 the same with a snapshot 20 000 records before the end',
      ratio: parse / resume,
      least: 8,
      detail: `${resume.toFixed(0)} ms`,
    });
  }
  return rows;
}

async function fill(directory, make) {
  const { journal } = await openBenchJournal(directory);
  const place = journalFolder(directory);
  for (let n = 1; n <= RECORDS; n += 1) {
    journal.append(make(n));
    if (n % 20_000 === 0) await journal.flush();
    if (n === RECORDS - AFTER)
      await journal.writeSnapshot(new Uint8Array(1024), journal.nextSeq - 1);
  }
  await journal.close();
  return place;
}

/** The newest one. */
function journalFolder(directory) {
  const runs = fs.readdirSync(directory).filter((name) => name.startsWith('run-'));
  const number = (name) => Number(name.slice(4));
  const newest = runs.toSorted((a, b) => number(b) - number(a))[0];
  return path.join(directory, newest, 'journal');
}

/** As the supervisor records it, with what people and models write: quotes, lines, letters beyond ASCII. */
function mailOf(n) {
  const text = `Größe von "parser-${n}": 12 → 14.\nSee src/parser.js:${n % 900} – c'est déjà vu.\n\tok`;
  const sender = { from: `dev-${n % 7}`, fromIncarnation: 1, e: 1, n, id: `env_0mjuohs00${n}` };
  const mail = {
    to: `dev-${n % 16}`,
    ...sender,
    lane: 'normal',
    type: 'chat.message',
    body: { text },
  };
  return { k: 'msg', to: mail.to, at: '2026-01-01T00:00:00.000Z', mail: [mail] };
}

function mixedOf(n) {
  switch (n % 4) {
    case 0:
      return {
        k: 'step',
        a: `a${n % 16}`,
        i: 1,
        took: [n],
        entries: [{ type: 'result', text: 'y'.repeat(700) }],
      };
    case 1:
      return {
        k: 'task',
        at: '2026-01-01T00:00:00.000Z',
        tasks: [{ type: 'task.claimed', id: `t${n}` }],
      };
    case 2:
      return {
        k: 'proc',
        at: '2026-01-01T00:00:00.000Z',
        procs: [{ type: 'proc.ended', id: `p${n}`, code: 0 }],
      };
    default:
      return mailOf(n);
  }
}

async function recover(place, options) {
  const index = new Map();
  const { journal } = await openBenchJournal('', {
    directory: place,
    limits: { reserveBytes: 0 },
    ...options,
    onRecord: () => undefined,
    select: ({ s, address }) => {
      const seqs = index.get(address);
      if (seqs === undefined) index.set(address, [s]);
      else seqs.push(s);
      return false;
    },
  });
  await journal.close({ seal: false });
  if (journal.report.gaps.length > 0) throw new Error('the journal of the benchmark is damaged');
}

async function parseAll(place) {
  const files = new NodeFiles();
  let sum = 0;
  for (const name of (await files.list(place)).filter((one) => one.endsWith('.jsonl'))) {
    const bytes = Buffer.from(await files.readFile(path.join(place, name)));
    for (let start = 0; start < bytes.length; ) {
      const end = bytes.indexOf(10, start);
      if (end < 0) break;
      sum += JSON.parse(bytes.utf8Slice(start, end)).s;
      start = end + 1;
    }
  }
  return sum;
}

async function timed(run) {
  const began = performance.now();
  await run();
  return performance.now() - began;
}
