/**
 * What an event costs the supervisor's process until every subscriber has it: derived from its record, redacted, written down
 * and sent over real sockets to another process. 100 subscribers against one.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventsOf } from '../dist/events/derive.js';
import { EventHub } from '../dist/events/hub.js';
import { startIpcServer } from '../dist/ipc/server.js';
import { median } from './stats.mjs';

const EVENTS = 6_000;
/** Events of one moment: a busy team of fifty. */
const STEP = 40;
const MANY = 100;
const ROUNDS = 3;
const MOMENT_MS = 20;
const CLIENTS = fileURLToPath(new URL('./wire-clients.mjs', import.meta.url));

export async function wireRows() {
  const one = [];
  const many = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    one.push(await cpuPerEvent(1));
    many.push(await cpuPerEvent(MANY));
  }
  return [
    {
      what: `CPU of an event for ${MANY} subscribers, against one (${STEP} events every 20 ms)`,
      ratio: median(many) / median(one),
      bound: 3,
      detail: `${median(many).toFixed(1)} µs against ${median(one).toFixed(1)} µs`,
    },
  ];
}

async function cpuPerEvent(clients) {
  const directory = mkdtempSync(join(tmpdir(), 'troupe-wire-bench-'));
  const hub = new EventHub();
  const server = await startIpcServer({
    directory,
    socketPath: join(directory, 's.sock'),
    pid: process.pid,
    startedAt: '',
    control: {
      desk: {},
      subscribe: () => ({ run: 'r1', cursor: '0', events: hub.subscribe({ run: 'r1' }) }),
      tap: (_params, take) => hub.tap({ run: 'r1' }, take),
    },
    logger: { log: () => undefined },
  });
  const token = readFileSync(join(directory, 'token'), 'utf8');
  const child = fork(CLIENTS, [server.file.socket, token, String(clients)]);
  await said(child, 'ready');
  const before = process.cpuUsage();
  for (let seq = 1; seq <= EVENTS; seq += 1) {
    for (const event of eventsOf(recordOf(seq), 'r1')) hub.publish(event);
    if (seq % STEP !== 0) continue;
    // No faster than all read: what is dropped for one who falls behind would cost nothing.
    const all = said(child, 'all');
    child.send(seq);
    await Promise.all([all, new Promise((resolve) => setTimeout(resolve, MOMENT_MS))]);
  }
  const { user, system } = process.cpuUsage(before);
  child.kill();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
  return (user + system) / EVENTS;
}

/** Rejects when a subscriber was dropped or its process went away. */
function said(child, word) {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error('the subscribers went away'));
    const heard = (message) => {
      child.off('message', heard);
      child.off('exit', gone);
      if (message === word) resolve();
      else reject(new Error(`the subscribers said ${message}, not ${word}`));
    };
    child.on('message', heard);
    child.on('exit', gone);
  });
}

/** A letter, as agents write them. */
function recordOf(s) {
  const text = 'The parser takes quoted fields now; the tests for it are in test/parser. '.repeat(
    4,
  );
  const at = '2026-01-01T00:00:00.000Z';
  const mail = { to: 'bo', from: 'ada', fromIncarnation: 1, e: 1, n: s, id: `env_ada_1_${s}` };
  return {
    s,
    k: 'step',
    at,
    a: 'ada',
    i: 1,
    mail: [{ ...mail, lane: 'normal', type: 'chat.message', body: { text } }],
  };
}
