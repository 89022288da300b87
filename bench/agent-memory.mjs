/** Prints how much larger this process is for each of twenty threads that wait, MiB. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Actors } from './agent-actors.mjs';

const THREADS = 20;
const EMPTY =
  "require('node:worker_threads').parentPort.on('message', () => {}).postMessage('up');";
const rss = () => {
  globalThis.gc();
  return process.memoryUsage.rss() / 1024 / 1024;
};

const actors = new Actors({ baseUrl: null });
const workers = [];
const before = rss();
for (let index = 0; index < THREADS; index += 1) {
  if (process.argv[2] === 'actor') await actors.start(`ada-${index}`);
  else {
    const worker = new Worker(EMPTY, { eval: true });
    workers.push(worker);
    await once(worker, 'message');
  }
}
console.log((rss() - before) / THREADS);
await actors.close();
await Promise.all(workers.map((worker) => worker.terminate()));
