/**
 * The same work on what people use for it, side by side in one run: senders in a closed loop, each waits until its message
 * is called stored. Peers that do not sync before that are marked; the journal does.
 */
import { bodyOf, makeFolder, micros, perSecond, quantile } from './disk.mjs';
import { openBenchJournal } from './journal-load.mjs';
import { openPeers } from './peer-stores.mjs';
import { tell } from './peer-tools.mjs';
import { median } from './stats.mjs';

const ROUNDS = 3;
const MS = 700;
/** Targets T3 and T4; T3 may stay 20 % below the figures it was taken from. */
const LEAST = {
  'Redis stream, appendfsync always': { 200: 2.4, 4096: 4 },
  'NATS JetStream, file, as it comes': { 200: 4.3 },
  'better-sqlite3 FULL, batched': { 200: 2.3 },
};
const WORKS = [
  { senders: 1, bytes: 200 },
  { senders: 64, bytes: 200 },
  { senders: 64, bytes: 4096 },
];

export async function peerRows() {
  const folder = makeFolder();
  const { journal } = await openBenchJournal(folder.directory);
  const own = {
    name: 'Troupe journal',
    durable: true,
    send: (text) => journal.append(JSON.parse(text)).durable,
    close: () => journal.close(),
  };
  const stores = [own, ...(await openPeers(folder.directory))];
  try {
    const found = await measureAll(stores);
    return stores.flatMap((store) => rowsOf(store, found));
  } finally {
    for (const store of stores) {
      await store.close().catch((error) => tell(`${store.name}: ${error.message}`));
    }
    folder.dispose();
  }
}

async function measureAll(stores) {
  const found = new Map();
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const work of WORKS) {
      for (const store of stores) {
        const key = keyOf(store, work);
        found.set(key, [...(found.get(key) ?? []), await measure(store, work)]);
      }
    }
  }
  return found;
}

const keyOf = (store, { senders, bytes }) => `${store.name} ${senders} ${bytes}`;

async function measure(store, { senders, bytes }) {
  const latencies = [];
  const text = JSON.stringify(bodyOf(bytes, 1));
  const began = performance.now();
  const until = began + MS;
  const sender = async () => {
    while (performance.now() < until) {
      const start = performance.now();
      await store.send(text);
      latencies.push((performance.now() - start) * 1000);
    }
  };
  await Promise.all(Array.from({ length: senders }, sender));
  const rate = (latencies.length * 1000) / (performance.now() - began);
  return { rate, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}

function rowsOf(store, found) {
  return WORKS.map((work) => {
    const rounds = found.get(keyOf(store, work));
    const own = median(found.get(keyOf({ name: 'Troupe journal' }, work)).map(({ rate }) => rate));
    const rate = median(rounds.map((round) => round.rate));
    const p50 = micros(median(rounds.map((round) => round.p50)));
    const p99 = micros(median(rounds.map((round) => round.p99)));
    const least = work.senders === 64 ? LEAST[store.name]?.[work.bytes] : undefined;
    const mark = store.durable ? '' : ' (not synced)';
    return {
      what: `${work.senders} × ${work.bytes} B: Troupe against ${store.name}${mark}`,
      ratio: own / rate,
      bound: null,
      ...(least === undefined ? {} : { least }),
      detail: `${perSecond(rate)}, p50 ${p50}, p99 ${p99}`,
    };
  });
}
