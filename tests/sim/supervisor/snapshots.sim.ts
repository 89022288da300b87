/**
 * S8: state from a snapshot and the records after it is the state of full replay, for random histories of the production loop and
 * a snapshot at any point of them. A field that does not survive the way to bytes and back fails here.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { expect, test } from 'vitest';
import { readJournal } from '../../../src/journal/index.ts';
import type { Files } from '../../../src/kernel/index.ts';
import { forgetVolatile } from '../../../src/mailbox/index.ts';
import { StructuredCodec } from '../../../src/platform/index.ts';
import type { StoredRunRecord, TaskSpec } from '../../../src/protocol/index.ts';
import type { CommandWork } from '../../../src/supervisor/effects/executor.ts';
import { freezeState, openSnapshot, packSnapshot } from '../../../src/supervisor/snapshot.ts';
import { applyRecord, makeRunState, type RunState } from '../../../src/supervisor/state.ts';
import { pickNext } from '../../../src/tasks/index.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { task } from '../../support/team.ts';
import { DIRECTORY } from '../journal/explorer.ts';
import { MailWorld, simRun } from '../journal/mail-world.ts';

const seed = process.env['TROUPE_SEED'] ?? String(process.hrtime.bigint());
const FORMAT = { codec: new StructuredCodec(), version: 'sim' };
const NAMES = ['lead', 'ada', 'bo', 'user', 'nobody'];

/** A random graph of commands, some of which touch the same files. */
function tasks(random: SeededRandom): TaskSpec[] {
  return Array.from({ length: 3 + random.below(12) }, (_, index) => {
    const needs = Array.from({ length: index }, (_one, need) => `t${need}`);
    return task({
      id: `t${index}`,
      run: random.pick(['ok', 'ok', 'fail', 'hold']) ?? 'ok',
      needs: needs.filter(() => random.next() < 0.15),
      touches: random.next() < 0.4 ? [`src/${random.below(3)}/**`] : [],
    });
  });
}

/** Commands that end, fail, or hang until all is closed, as their text says. */
function commands(): CommandWork {
  const held: (() => void)[] = [];
  const rest = { signal: null, left: [], text: '', cut: false, durationMs: 1 };
  return {
    run: async ({ command }) => {
      if (command !== 'hold') return { ...rest, code: command === 'ok' ? 0 : 1, why: 'exit' };
      await new Promise<void>((resolve) => {
        held.push(resolve);
      });
      return { ...rest, code: null, why: 'killed' };
    },
    kill: () => undefined,
    idle: async () => undefined,
    clear: async () => undefined,
    readPage: async () => ({ text: '', from: 0, next: 0, size: 0 }),
    close: async () => {
      for (const end of held) end();
      return [];
    },
  };
}

const pack = (state: RunState): Uint8Array =>
  packSnapshot(freezeState(state, FORMAT), null, FORMAT);

interface History {
  readonly fresh: () => RunState;
  readonly records: readonly StoredRunRecord[];
  /** The living state now and then, with the seq of its last record. */
  readonly live: readonly { readonly seq: number; readonly bytes: Uint8Array }[];
}

async function history(random: SeededRandom): Promise<History> {
  const disk = new MemoryFiles();
  const file = simRun({ tasks: tasks(random) });
  const live: { seq: number; bytes: Uint8Array }[] = [];
  for (let life = 0; life < 3; life += 1) {
    const mutate = (files: Files): Files => files;
    const rest = { mutate, facts: [], commands: commands(), unreadMax: 10_000 };
    const options = { disk, file, seed: String(life), ...rest };
    const world = await MailWorld.open(options);
    if (world.state.run.ended !== null) break;
    await world.begin();
    const steps = 5 + random.below(20);
    for (let step = 0; step < steps && world.state.run.ended === null; step += 1) {
      await act(world, random, `${life}-${step}`);
      live.push({ seq: world.state.lastSeq, bytes: pack(world.state) });
    }
    await world.stop();
  }
  const records: StoredRunRecord[] = [];
  for await (const record of readJournal({ files: disk, directory: DIRECTORY })) {
    records.push(record as unknown as StoredRunRecord);
  }
  return { fresh: () => makeRunState(file), records, live };
}

async function act(world: MailWorld, random: SeededRandom, id: string): Promise<void> {
  const to = random.pick(NAMES) ?? 'ada';
  const text = random.pick([`keep ${id}`, `forward bo ${id}`, `die ${id}`]) ?? 'keep';
  if (random.next() < 0.8) {
    const lane = random.next() < 0.2 ? 'interrupt' : 'normal';
    await Promise.all([world.offer({ id: `o${id}`, to, text, lane }), world.settle()]);
  } else {
    await world.clock.advance(1000 * random.below(10));
  }
  await world.settle();
}

function fold(state: RunState, records: readonly StoredRunRecord[]): RunState {
  for (const record of records) applyRecord(state, record);
  return state;
}

function reopened(state: RunState, bytes: Uint8Array): RunState {
  const opened = openSnapshot(bytes, state.file, FORMAT);
  if (opened === null) throw new Error('the snapshot was refused');
  return opened.state;
}

/** The facts, and which tasks would start in which order; without how the indexes came to be. */
function facts(state: RunState): unknown {
  const { graph, ...rest } = state;
  const order: string[] = [];
  pickNext(graph, (_key, node) => {
    order.push(node.spec.id);
    return false;
  });
  const nodes = Array.from(graph.nodes.values(), (node) => {
    const { height, slot: _slot, ...known } = node as typeof node & { slot: number };
    return node.state === 'done' ? known : { ...known, height };
  });
  forgetVolatile(rest.mail);
  return { ...rest, nodes, order, counts: graph.index.counts };
}

test(`S8: a snapshot at any record and the rest is full replay (TROUPE_SEED=${seed})`, async () => {
  let checked = 0;
  for (let round = 0; round < 10; round += 1) {
    const random = new SeededRandom(`${seed}/${round}`);
    const { fresh, records, live } = await history(random);
    const full = fold(fresh(), records);
    for (let at = 0; at <= records.length; at += 1 + random.below(12)) {
      const before = fold(fresh(), records.slice(0, at));
      const after = reopened(before, pack(before));
      deepStrictEqual(after, before);
      deepStrictEqual(fold(after, records.slice(at)), full);
      checked += 1;
    }
    // The living state has indexes that decisions have used; what it says is the same.
    const wanted = facts(fold(fresh(), records));
    for (const { seq, bytes } of live) {
      const tail = records.filter(({ s }) => s > seq);
      deepStrictEqual(facts(fold(reopened(full, bytes), tail)), wanted);
      checked += 1;
    }
  }
  expect(checked).toBeGreaterThan(50);
  process.stdout.write(`${checked} snapshots checked\n`);
});

test("S8: what is of another version or shape, or not whole, is refused; what is not plain can't be frozen", () => {
  const file = simRun();
  const state = makeRunState(file);
  const bytes = pack(state);
  deepStrictEqual(openSnapshot(bytes, file, FORMAT)?.state, state);
  expect(openSnapshot(bytes, file, { ...FORMAT, version: 'other' })).toBeNull();
  expect(openSnapshot(bytes.subarray(0, 40), file, FORMAT)).toBeNull();
  const { wallMs: _wallMs, ...lacking } = state;
  for (const one of [lacking, { ...state, more: 1 }] as unknown as RunState[]) {
    expect(openSnapshot(pack(one), file, FORMAT)).toBeNull();
  }
  expect(() => pack({ ...state, more: () => 1 } as unknown as RunState)).toThrow();
});
