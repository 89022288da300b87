/** T7: what a send costs when a million letters are unread, against an empty mailbox: check, stamp, record, apply. */
import { applyMailRecord } from '../dist/mailbox/apply.js';
import { checkSend, stampMail } from '../dist/mailbox/send.js';
import { makeMailState } from '../dist/mailbox/state.js';
import { openBenchJournal } from './journal-load.mjs';
import { median } from './stats.mjs';

const UNREAD = 1_000_000;
const ROUNDS = 60;
const SENDS = 500;
const LIMITS = { unreadMax: 10 * UNREAD, bytesMax: Number.MAX_SAFE_INTEGER };
const DIRECTORY = { known: ['ada'], live: () => 'live' };
const BOB = { name: 'bob', incarnation: 1, epoch: 1 };
const AT = '2026-01-01T00:00:00.000Z';

export async function unreadRows(directory) {
  const full = makeMailState(LIMITS);
  for (let index = 0; index < UNREAD; index += 1) apply(full, recordOf(full, index), index + 1);
  const { journal } = await openBenchJournal(directory);
  const costs = { full: [], empty: [] };
  const waits = { full: [], empty: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    // A new empty mailbox each time, so that it stays one; in turns, so that both meet the same machine.
    for (const [name, state] of round % 2 === 0 ? pair(full) : pair(full).toReversed()) {
      const began = process.cpuUsage();
      const start = performance.now();
      const sent = [];
      for (let index = 0; index < SENDS; index += 1) {
        const record = recordOf(state, index);
        const { seq, durable } = journal.append(record);
        apply(state, record, seq);
        sent.push(durable);
      }
      await Promise.all(sent);
      waits[name].push(performance.now() - start);
      const used = process.cpuUsage(began);
      costs[name].push((used.user + used.system) / SENDS);
    }
  }
  await journal.close();
  const cpu = [median(costs.full), median(costs.empty)];
  const wait = [median(waits.full), median(waits.empty)];
  return [
    {
      what: 'T7 CPU a send, a million unread against none',
      ratio: cpu[0] / cpu[1],
      bound: 1.1,
      detail: `${cpu[0].toFixed(1)} against ${cpu[1].toFixed(1)} µs; ${SENDS} durable sends take ${wait[0].toFixed(1)} against ${wait[1].toFixed(1)} ms`,
    },
  ];
}

const pair = (full) => [
  ['full', full],
  ['empty', makeMailState(LIMITS)],
];

function recordOf(state, index) {
  const draft = {
    to: 'ada',
    lane: 'normal',
    type: 'chat.message',
    body: { text: `message ${index} ${'x'.repeat(120)}` },
  };
  const check = checkSend(state, draft, DIRECTORY, { from: 'bob' });
  if (check.kind !== 'ok') throw new Error(check.kind);
  return { k: 'msg', to: 'ada', at: AT, mail: [stampMail(state, draft, BOB, `env_${index}`)] };
}

function apply(state, record, seq) {
  applyMailRecord(state, { ...record, s: seq, d: seq - 1 });
}
