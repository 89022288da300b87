/** Loads on a journal on a real disk: senders in one thread, senders and a receiver in threads of their own. */
import * as path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { MessageChannel, Worker } from 'node:worker_threads';
import { openJournal } from '../dist/journal/journal.js';
import { CryptoRandom } from '../dist/platform/crypto-random.js';
import { SystemClock } from '../dist/platform/system-clock.js';
import { bodyOf, CountingFiles } from './disk.mjs';

let journals = 0;

export async function openBenchJournal(directory, options = {}) {
  journals += 1;
  const files = new CountingFiles();
  const journal = await openJournal({
    files,
    clock: new SystemClock(),
    random: new CryptoRandom(),
    directory: path.join(directory, `run-${journals}`, 'journal'),
    name: 'bench',
    ...options,
  });
  return { journal, files };
}

/** `senders` in a closed loop for `ms`, in this thread. */
export async function inOneThread(directory, { senders, bytes, ms }) {
  const { journal, files } = await openBenchJournal(directory);
  const latencies = [];
  let sent = 0;
  let until = performance.now() + 150;
  const sender = async () => {
    while (performance.now() < until) {
      const began = performance.now();
      sent += 1;
      await journal.append(bodyOf(bytes, sent)).durable;
      latencies.push((performance.now() - began) * 1000);
    }
  };
  const all = () => Promise.all(Array.from({ length: senders }, sender));
  await all();
  latencies.length = 0;
  sent = 0;
  files.syncs = 0;
  const lag = monitorEventLoopDelay({ resolution: 1 });
  lag.enable();
  const cpu = process.cpuUsage();
  const began = performance.now();
  until = began + ms;
  await all();
  const seconds = (performance.now() - began) / 1000;
  const used = process.cpuUsage(cpu);
  lag.disable();
  const { syncs } = files;
  await journal.close();
  return {
    latencies,
    rate: sent / seconds,
    perSync: sent / syncs,
    cpuMicros: (used.user + used.system) / sent,
    lagMs: lag.percentile(99) / 1e6,
  };
}

/** Sender threads → this thread → journal → receiver thread; a message is delivered when it is durable. */
export async function acrossThreads(directory, { senders, threads, bytes, ms }) {
  const { journal, files } = await openBenchJournal(directory);
  const toReceiver = new MessageChannel();
  const receiver = startThread({ role: 'receiver', port: toReceiver.port2 });
  let sent = 0;
  const workers = [];
  for (let index = 0; index < threads; index += 1) {
    const channel = new MessageChannel();
    const from = index * (senders / threads);
    const data = { role: 'sender', port: channel.port2, senders: senders / threads, bytes, from };
    workers.push(startThread(data));
    channel.port1.on('message', (messages) => {
      sent += messages.length;
      const last = messages.map(([, text]) => journal.append(JSON.parse(text))).at(-1);
      void last?.durable.then(() => {
        toReceiver.port1.postMessage(messages.map(([, , time]) => time));
        channel.port1.postMessage(messages.map(([sender]) => sender));
      });
    });
  }
  await pause(400);
  await ask(receiver);
  sent = 0;
  files.syncs = 0;
  const cpu = process.cpuUsage();
  const began = performance.now();
  await pause(ms);
  const seconds = (performance.now() - began) / 1000;
  const used = process.cpuUsage(cpu);
  const { syncs } = files;
  const latencies = await ask(receiver);
  const figures = {
    latencies,
    rate: latencies.length / seconds,
    perSync: sent / syncs,
    cpuMicros: (used.user + used.system) / sent,
  };
  for (const worker of workers) worker.postMessage('stop');
  await pause(20);
  await Promise.all([...workers, receiver].map((worker) => worker.terminate()));
  toReceiver.port1.close();
  await journal.close();
  return figures;
}

function startThread(data) {
  const file = new URL('./journal-thread.mjs', import.meta.url);
  return new Worker(file, { workerData: data, transferList: [data.port] });
}

const ask = (worker) =>
  new Promise((resolve) => {
    worker.once('message', resolve);
    worker.postMessage('report');
  });

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
