/**
 * `kill -9` of real supervisors with real threads while clients write: what was acknowledged is there, each step is there
 * once, positions have no gap. `npm run soak -- --kills N` kills more often.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Client } from '../../src/client/index.ts';
import { isTroupeError } from '../../src/kernel/index.ts';
import type { StoredRunRecord } from '../../src/protocol/index.ts';
import { SeededRandom } from '../../src/testing/seeded-random.ts';
import { connectTo, listening, recordsOf, whenGoing } from '../support/supervised.ts';
import { makeWorld, type RunningCommand, type World } from './cli-world.ts';

const KILLS = Number(process.env['TROUPE_KILLS'] ?? '4');
const SENDERS = 4;
const seed = process.env['TROUPE_SEED'] ?? String(process.hrtime.bigint());

const TEAM = `version: 1
name: soak
model: scripted/script.yaml
members:
  teammates:
    - { name: holder, agent: holder }
    - { name: ada, agent: implementer }
    - { name: bo, agent: implementer }
agents:
  holder: { description: waits, prompt: Wait. }
tasks: [{ id: hold, prompt: Wait to be let go., agent: holder }]
limits: { turns: 10000 }
permissions: { default: allow }
`;

const SCRIPT = `version: 1
sections:
  - actor: holder
    on:
      - when: { mail: { contains: finish now } }
        answer: { calls: [{ complete_task: { summary: let go } }] }
    turns: [{ calls: [{ bash: { command: sleep 1700, timeout_ms: 1800000 } }] }]
    otherwise: { text: I wait. }
  - actor: ada
    on:
      - when: { mail: { contains: pass on } }
        answer: { calls: [{ send_message: { to: bo, text: from ada } }] }
    turns: []
    otherwise: { text: Heard. }
  - actor: bo
    turns: []
    otherwise: { text: Heard. }
`;

let world: World;
let running: RunningCommand | null;

beforeEach(() => {
  world = makeWorld();
  running = null;
});

afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.done;
  world.remove();
});

interface Ack {
  readonly id: string;
  readonly to: string;
  readonly n: number;
  readonly text: string;
}

/** Writes until the supervisor is gone; calls back at each acknowledgement. */
async function write(client: Client, name: string, onAck: (ack: Ack) => void): Promise<void> {
  for (let index = 0; ; index += 1) {
    const to = index % 2 === 0 ? 'ada' : 'bo';
    const text = `${index % 4 === 0 ? 'pass on' : 'keep'} ${name}-${index}`;
    try {
      const sent = await whenGoing(() =>
        client.call('mail.send', {
          run: 's1',
          to,
          text,
          interrupt: index % 7 === 0,
        }),
      );
      onAck({ id: sent.id, to, n: sent.n, text });
    } catch (error) {
      // Only the kill may end a sender.
      if (isTroupeError(error) && error.code === 'client/closed') return;
      throw error;
    }
  }
}

/** Kills it after so many acknowledgements; returns them all. */
async function writeUntilKilled(command: RunningCommand, after: number): Promise<Ack[]> {
  const acks: Ack[] = [];
  const clients: Client[] = [];
  for (let count = 0; count < SENDERS; count += 1) clients.push(await connectTo(world));
  const onAck = (ack: Ack): void => {
    acks.push(ack);
    if (acks.length === after) command.child.kill('SIGKILL');
  };
  await Promise.all(clients.map((client, index) => write(client, `${index}`, onAck)));
  await command.done;
  return acks;
}

interface Found {
  readonly boxes: ReadonlyMap<string, readonly { readonly id: string; readonly text: string }[]>;
  readonly problems: readonly string[];
}

/** Read by the test's own eyes: mailboxes, and steps that are there twice or in half. */
function readAll(records: readonly StoredRunRecord[]): Found {
  const boxes = new Map<string, { id: string; text: string }[]>();
  const once = new Set<string>();
  const problems: string[] = [];
  const note = (what: string): void => {
    if (once.has(what)) problems.push(`twice: ${what}`);
    once.add(what);
  };
  for (const [index, record] of records.entries()) {
    if (record.s !== index + 1) problems.push(`seq ${record.s} at ${index + 1}`);
    for (const { id, to, body } of record.mail ?? []) {
      note(`letter ${id}`);
      boxes.set(to, [...(boxes.get(to) ?? []), { id, text: body.text }]);
    }
    for (const n of record.took ?? []) note(`${record.a} took ${n}`);
    for (const entry of record.entries ?? []) {
      if (entry.type !== 'result') continue;
      note(`result of ${entry.call}`);
      const sent = (record.mail ?? []).some(({ from }) => from === record.a);
      if (entry.tool === 'send_message' && entry.ok !== sent) problems.push(`half: ${entry.call}`);
    }
  }
  return { boxes, problems };
}

function missing(acks: readonly Ack[], { boxes }: Found): Ack[] {
  return acks.filter(({ id, to, n, text }) => {
    const letter = boxes.get(to)?.[n - 1];
    return letter?.id !== id || letter.text !== text;
  });
}

test(`M1 M2 M3 M4 J8: ${KILLS} kills lose and double nothing (TROUPE_SEED=${seed})`, {
  timeout: 120_000 + KILLS * 15_000,
}, async () => {
  const random = new SeededRandom(seed);
  world.write('team.yaml', TEAM);
  world.write('script.yaml', SCRIPT);
  const acks: Ack[] = [];
  let args = ['run', 'team.yaml', '--run-id', 's1'];
  for (let kill = 0; kill < KILLS; kill += 1) {
    running = world.start(...args);
    args = ['resume', 's1'];
    await listening(world, running);
    // Some die as soon as they can be written to, in the middle of taking up what was left.
    const after = random.next() < 0.2 ? 1 : 1 + random.below(120);
    acks.push(...(await writeUntilKilled(running, after)));
    const found = readAll(await recordsOf(world, 's1'));
    const label = `kill ${kill} of TROUPE_SEED=${seed}`;
    expect(missing(acks, found), label).toEqual([]);
    expect(found.problems, label).toEqual([]);
  }

  running = world.start(...args);
  await listening(world, running);
  const client = await connectTo(world);
  const last = await whenGoing(() =>
    client.call('mail.send', {
      run: 's1',
      to: 'holder',
      text: 'finish now',
      interrupt: true,
    }),
  );
  expect(last.state).toBe('accepted');
  const ended = await running.done;
  expect(ended.code, ended.stdout + ended.stderr).toBe(0);
  const records = await recordsOf(world, 's1');
  const found = readAll(records);
  expect(missing(acks, found)).toEqual([]);
  expect(found.problems).toEqual([]);
  // M3: the run ended only when all was taken in; what was passed on is there as often as it was asked for.
  const took = new Set(records.flatMap(({ a, took }) => (took ?? []).map((n) => `${a} ${n}`)));
  for (const name of ['ada', 'bo']) {
    const box = found.boxes.get(name) ?? [];
    expect(box.filter((_letter, index) => !took.has(`${name} ${index + 1}`))).toEqual([]);
  }
  process.stdout.write(`${KILLS} kills, ${acks.length} acknowledged letters checked\n`);
});
