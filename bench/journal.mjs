/**
 * The journal against what the disk itself can do, in one run (targets T1–T8 and T14). Raw is a loop of write + fdatasync
 * in Node, measured between the rounds, so that a busy machine slows both. T3 and T4 against other systems: `peers`.
 */

import { bodyOf, makeFolder, micros, openRaw, perSecond, quantile } from './disk.mjs';
import { acrossThreads, inOneThread, openBenchJournal } from './journal-load.mjs';
import { recoveryRows } from './journal-recovery.mjs';
import { unreadRows } from './journal-unread.mjs';
import { median } from './stats.mjs';

const ROUNDS = 5;
const MS = 700;
/** One sender and raw take turns in slices this short. */
const SLICES = 40;
const SLICE_MS = 60;

export async function journalRows() {
  const folder = makeFolder();
  try {
    const measured = await measure(folder.directory);
    return [
      ...oneThreadRows(measured),
      ...threadRows(measured),
      ...(await unreadRows(folder.directory)),
      ...(await recoveryRows(folder.directory)),
    ];
  } finally {
    folder.dispose();
  }
}

/** Rounds of everything. What is compared is measured side by side, since a busy disk changes from second to second. */
async function measure(directory) {
  const raw = openRaw(directory, 200);
  const found = { ...(await oneSender(directory, raw)), many: new Map(), cross: new Map() };
  const compared = { overRaw: [], crossOverOne: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const senders of [8, 256]) {
      put(found.many, senders, await inOneThread(directory, { senders, bytes: 200, ms: MS }));
      put(found.cross, senders, await cross(directory, senders));
    }
    put(found.cross, 1, await cross(directory, 1));
    const before = rateOf(raw.run(MS / 4));
    const one = await inOneThread(directory, { senders: 64, bytes: 200, ms: MS });
    const after = rateOf(raw.run(MS / 4));
    const threads = await cross(directory, 64);
    const again = await inOneThread(directory, { senders: 64, bytes: 200, ms: MS });
    put(found.many, 64, one);
    put(found.cross, 64, threads);
    compared.overRaw.push((2 * one.rate) / (before + after));
    compared.crossOverOne.push((2 * threads.rate) / (one.rate + again.rate));
  }
  raw.close();
  return { ...found, ...compared };
}

const cross = (directory, senders) =>
  acrossThreads(directory, { senders, threads: Math.min(senders, 8), bytes: 200, ms: MS });

/** Microseconds of each write, of both in turns. */
async function oneSender(directory, rawFile) {
  const { journal } = await openBenchJournal(directory);
  const found = { raw: [], one: [] };
  for (let slice = 0; slice < SLICES; slice += 1) {
    found.raw.push(...rawFile.run(SLICE_MS));
    for (const until = performance.now() + SLICE_MS; performance.now() < until; ) {
      const began = performance.now();
      await journal.append(bodyOf(200, slice)).durable;
      found.one.push((performance.now() - began) * 1000);
    }
  }
  await journal.close();
  return found;
}

const rateOf = (times) => 1e6 / (times.reduce((a, b) => a + b) / times.length);

function put(map, key, value) {
  map.set(key, [...(map.get(key) ?? []), value]);
}

function oneThreadRows({ raw, one, overRaw, many }) {
  const rawP50 = quantile(raw, 0.5);
  const rawP99 = quantile(raw, 0.99);
  const p50 = quantile(one, 0.5);
  const p99 = quantile(one, 0.99);
  const busy = many.get(64);
  const rate = median(busy.map((round) => round.rate));
  const cpu = median(busy.map((round) => round.cpuMicros));
  const lag = median(busy.map((round) => round.lagMs));
  const rows = [
    {
      what: 'T1 one sender, durable ack p50 against raw p50',
      ratio: p50 / rawP50,
      bound: 1.6,
      detail: `${micros(p50)} against ${micros(rawP50)}`,
    },
    {
      // Where the disk alone takes longer than 4 × its own median, nothing on it can be better.
      what: 'T1 one sender, durable ack p99 against 4 × raw p50, or raw p99',
      ratio: p99 / Math.max(4 * rawP50, rawP99),
      bound: rawP99 > 4 * rawP50 ? 1.25 : 1,
      detail: `${micros(p99)}; raw p50 ${micros(rawP50)}, p99 ${micros(rawP99)}`,
    },
  ];
  for (const [senders, rounds] of many) {
    const perSync = median(rounds.map((round) => round.perSync));
    rows.push({
      what: `T2 messages a sync, ${senders} senders in one thread, a sender`,
      ratio: perSync / senders,
      least: 0.5,
      detail: `${perSync.toFixed(1)} messages a sync, ${perSecond(median(rounds.map((round) => round.rate)))}`,
    });
  }
  return [
    ...rows,
    {
      what: 'T3 64 senders, 200 B, against raw one by one',
      ratio: median(overRaw),
      least: 19.2,
      detail: `${perSecond(rate)}; median of ${ROUNDS} rounds`,
    },
    {
      what: 'T5 CPU a durable message, 64 senders, against 10 µs',
      ratio: cpu / 10,
      bound: 1.2,
      detail: `${cpu.toFixed(1)} µs, all threads of the process`,
    },
    {
      what: 'T14 loop lag p99 under that load against 10 ms',
      ratio: lag / 10,
      bound: 1,
      detail: `${lag.toFixed(1)} ms`,
    },
  ];
}

function threadRows({ raw, crossOverOne, cross }) {
  const rawP50 = quantile(raw, 0.5);
  const rows = [];
  for (const senders of [8, 64, 256]) {
    const perSync = median(cross.get(senders).map((round) => round.perSync));
    rows.push({
      what: `T2 messages a sync, ${senders} senders in 8 threads, a sender`,
      ratio: perSync / senders,
      least: 0.2,
      detail: `${perSync.toFixed(1)} messages a sync`,
    });
  }
  const cpu = median(cross.get(64).map((round) => round.cpuMicros));
  const p50 = median(cross.get(1).map(({ latencies }) => quantile(latencies, 0.5)));
  const rate = median(cross.get(64).map((round) => round.rate));
  return [
    ...rows,
    {
      what: 'T5 CPU a message, both ends and journal, against 100 µs',
      ratio: cpu / 100,
      bound: 1.2,
      detail: `${cpu.toFixed(1)} µs, 64 senders in 8 threads and a receiver`,
    },
    {
      what: 'T6 thread to thread, durable, p50 against raw p50 + 250 µs',
      ratio: p50 / (rawP50 + 250),
      bound: 1,
      detail: `${micros(p50)}, one sender`,
    },
    {
      what: 'T6 thread to thread, 64 senders, against one thread',
      ratio: median(crossOverOne),
      least: 0.55,
      detail: `${perSecond(rate)}; median of ${ROUNDS} rounds`,
    },
  ];
}
