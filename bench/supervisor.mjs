/** What waking an actor costs: its thread, as the host starts it, until it serves; against a thread that does nothing. */

import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel, Worker } from 'node:worker_threads';
import { median } from './stats.mjs';

const ENTRY = new URL('../dist/threads/actor.js', import.meta.url);
const ROUNDS = 15;
/** Index of the word that an entry sets once it serves (`WORD.started`). */
const STARTED = 2;

export async function supervisorRows() {
  const bare = [];
  const actor = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await startBare());
    actor.push(await startActor());
  }
  return [
    {
      what: 'thread of an actor until it serves, against a bare worker',
      ratio: median(actor) / median(bare),
      bound: 2,
      detail: `${median(actor).toFixed(0)} ms against ${median(bare).toFixed(0)} ms, medians of ${ROUNDS}`,
    },
  ];
}

async function startBare() {
  const began = performance.now();
  const worker = new Worker("require('node:worker_threads').parentPort.postMessage(1)", {
    eval: true,
  });
  await new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
  const took = performance.now() - began;
  await worker.terminate();
  return took;
}

async function startActor() {
  const control = new MessageChannel();
  const data = new MessageChannel();
  const words = new Int32Array(new SharedArrayBuffer(4 * Int32Array.BYTES_PER_ELEMENT));
  const began = performance.now();
  const worker = new Worker(ENTRY, {
    workerData: { control: control.port2, data: data.port2, words },
    transferList: [control.port2, data.port2],
  });
  const failed = new Promise((_resolve, reject) => worker.once('error', reject));
  await Promise.race([started(words), failed]);
  const took = performance.now() - began;
  await worker.terminate();
  control.port1.close();
  data.port1.close();
  return took;
}

/** By a timer: a loop that spins takes the core that the thread needs to start. */
async function started(words) {
  while (Atomics.load(words, STARTED) !== 1) await sleep(1);
}
