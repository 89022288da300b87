/**
 * What an agent costs beside its model: a turn against the bare SDK's call of the same request, the delay of a token with
 * fifty that stream at once, and the memory of a thread that waits.
 */
import { fork, spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
import { Actors } from './agent-actors.mjs';
import { median } from './stats.mjs';

const BARE = new URL('./agent-bare.mjs', import.meta.url);
const HISTORY = 100;
const TURNS = 60;
const ACTORS = 50;
const LETTER = 'Please look at the parser once more and say what you would change in it. '.repeat(
  6,
);

export async function agentRows() {
  const server = fork(new URL('./agent-server.mjs', import.meta.url));
  const port = await new Promise((resolve) => server.once('message', resolve));
  try {
    const origin = `http://127.0.0.1:${port}`;
    const rows = [];
    for (const measure of [turnRow, streamRow, memoryRow]) {
      rows.push(await measure(origin));
      process.stderr.write(`  ${rows.at(-1).detail}\n`);
    }
    return rows;
  } finally {
    server.disconnect();
  }
}

class Bare {
  #worker;
  #done = () => {};

  constructor(onLive) {
    this.#worker = new Worker(BARE, { workerData: { live: onLive !== undefined } });
    this.#worker.on('message', (told) => {
      if (told.done === true) this.#done();
      else onLive(told.live);
    });
  }

  call(baseURL, body) {
    const done = new Promise((resolve) => {
      this.#done = resolve;
    });
    this.#worker.postMessage({ baseURL, body });
    return done;
  }

  close() {
    return this.#worker.terminate();
  }
}

/** 200 messages before the first that counts. Both take turns, so that the machine is the same for both. */
async function turnRow(origin) {
  const baseUrl = `${origin}/50/0`;
  const actors = new Actors({ baseUrl });
  const bare = new Bare();
  try {
    await actors.start('lead');
    for (let turn = 0; turn < HISTORY; turn += 1) await actors.turn('lead', LETTER);
    const times = { ours: [], bare: [] };
    let messages = 0;
    for (let turn = 0; turn < TURNS; turn += 1) {
      const ours = performance.now();
      await actors.turn('lead', LETTER);
      times.ours.push(performance.now() - ours);
      const body = JSON.parse(await (await fetch(`${origin}/last`)).text());
      messages = body.messages.length;
      const start = performance.now();
      await bare.call(baseUrl, body);
      // The first call loads the SDK.
      if (turn > 0) times.bare.push(performance.now() - start);
    }
    const [ours, sdk] = [median(times.ours.slice(1)), median(times.bare)];
    return {
      what: `a turn of the loop against the SDK's bare call (${2 * HISTORY} to ${messages} messages, ${actors.tools.length} tools)`,
      ratio: ours / sdk,
      bound: 1.3,
      detail: `${ours.toFixed(1)} against ${sdk.toFixed(1)} ms, 50 deltas without a pause; ${(ours - sdk).toFixed(1)} ms more`,
    };
  } finally {
    await actors.close();
    await bare.close();
  }
}

/** From the moment that the server sent it to the main thread, where watchers are told. */
async function streamRow(origin) {
  const baseUrl = `${origin}/60/20`;
  const now = () => performance.timeOrigin + performance.now();
  let delays = [];
  const onLive = (data) => {
    const at = now();
    for (const sent of data.trim().split(' ')) delays.push(at - Number(sent));
  };
  const actors = new Actors({ baseUrl, onLive });
  const names = Array.from({ length: ACTORS }, (_, index) => `ada-${index}`);
  const bare = names.map(() => new Bare(onLive));
  const p99 = () => delays.toSorted((a, b) => a - b)[Math.floor(delays.length * 0.99)];
  try {
    for (const name of names) await actors.start(name);
    const measured = { ours: [], bare: [] };
    for (let round = 0; round < 6; round += 1) {
      delays = [];
      await Promise.all(names.map((name) => actors.turn(name, LETTER)));
      const ours = p99();
      // The same request: most of what a call costs a thread is to write its tools and messages down.
      const body = JSON.parse(await (await fetch(`${origin}/last`)).text());
      delays = [];
      await Promise.all(bare.map((one) => one.call(baseUrl, body)));
      // The first round loads the SDK in all threads.
      if (round === 0) continue;
      measured.ours.push(ours);
      measured.bare.push(p99());
    }
    const [ours, sdk] = [median(measured.ours), median(measured.bare)];
    return {
      what: `delay of a token, p99, ${ACTORS} actors at once against ${ACTORS} bare SDKs in threads`,
      ratio: ours / sdk,
      bound: 1.5,
      detail: `${ours.toFixed(1)} against ${sdk.toFixed(1)} ms; 50 tokens a second each`,
    };
  } finally {
    await actors.close();
    await Promise.all(bare.map((one) => one.close()));
  }
}

const IDLE_MIB = 25;

function memoryRow() {
  const measure = (what) => {
    const path = new URL('./agent-memory.mjs', import.meta.url).pathname;
    const ran = spawnSync(process.execPath, ['--expose-gc', path, what], { encoding: 'utf8' });
    if (ran.status !== 0) throw new Error(`${what}: ${ran.stderr}`);
    return Number(ran.stdout);
  };
  const [actor, worker] = [measure('actor'), measure('worker')];
  return {
    what: `memory of an idle actor's thread beyond that of an empty worker, of ${IDLE_MIB} MiB`,
    ratio: (actor - worker) / IDLE_MIB,
    bound: 1,
    detail: `${actor.toFixed(1)} against ${worker.toFixed(1)} MiB a thread, of 20`,
  };
}
