/**
 * The journal against what the disk itself can do, in one run (targets T1–T8 and T14). Raw is a loop of write + fdatasync
 * in Node, measured between the rounds, so that a busy machine slows both. T3 and T4 against other systems: `peers`.
 */

import { makeFolder, micros, perSecond, quantile, rawLoop } from './disk.mjs';
import { acrossThreads, inOneThread } from './journal-load.mjs';
import { recoveryRows } from './journal-recovery.mjs';
import { unreadRows } from './journal-unread.mjs';
import { median } from './stats.mjs';

const ROUNDS = 5;
const MS = 700;

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

/** Rounds of everything, interleaved. */
async function measure(directory) {
  const found = { raw: [], one: [], many: new Map(), cross: new Map() };
  for (let round = 0; round < ROUNDS; round += 1) {
    found.raw.push(rawLoop(directory, 200, 600));
    found.one.push(await inOneThread(directory, { senders: 1, bytes: 200, ms: MS }));
    found.raw.push(rawLoop(directory, 200, 600));
    for (const senders of [8, 64, 256]) {
      const many = await inOneThread(directory, { senders, bytes: 200, ms: MS });
      put(found.many, senders, many);
    }
    for (const senders of [1, 8, 64, 256]) {
      const threads = Math.min(senders, 8);
      put(
        found.cross,
        senders,
        await acrossThreads(directory, { senders, threads, bytes: 200, ms: MS }),
      );
    }
  }
  return found;
}

function put(map, key, value) {
  map.set(key, [...(map.get(key) ?? []), value]);
}

function oneThreadRows({ raw, one, many }) {
  const rawP50 = median(raw.map((round) => quantile(round, 0.5)));
  const rawRate = median(raw.map((round) => 1e6 / (round.reduce((a, b) => a + b) / round.length)));
  const p50 = median(one.map(({ latencies }) => quantile(latencies, 0.5)));
  const p99 = median(one.map(({ latencies }) => quantile(latencies, 0.99)));
  const rawP99 = median(raw.map((round) => quantile(round, 0.99)));
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
      ratio: rate / rawRate,
      least: 19.2,
      detail: `${perSecond(rate)} against ${perSecond(rawRate)}`,
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

function threadRows({ raw, many, cross }) {
  const rawP50 = median(raw.map((round) => quantile(round, 0.5)));
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
  const single = median(many.get(64).map((round) => round.rate));
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
      ratio: rate / single,
      least: 0.55,
      detail: `${perSecond(rate)} against ${perSecond(single)}`,
    },
  ];
}
