/**
 * A mailbox on a journal against a model that is a list: send, take in, follow, take a snapshot, close, crash, reopen,
 * compact, in any order. `TROUPE_SEED=…` repeats a run.
 */
import { setImmediate as turn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  followJournal,
  type Journal,
  openJournal,
  type StoredRecord,
} from '../../../src/journal/index.ts';
import { asActorName, asEnvelopeId } from '../../../src/kernel/index.ts';
import {
  applyMailRecord,
  deliverable,
  type MailState,
  makeMailState,
  markDelivered,
  stampMail,
  stateOf,
} from '../../../src/mailbox/index.ts';
import type { RunRecord, StoredRunRecord } from '../../../src/protocol/index.ts';
import { CRASH_MODES, type CrashMode } from '../../../src/testing/memory-disk.ts';
import type { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { DIRECTORY, newDisk } from './explorer.ts';

const seed = Number(process.env['TROUPE_SEED'] ?? process.hrtime.bigint() % 2n ** 31n);
const AT = '2026-01-01T00:00:00.000Z';
const ada = asActorName('ada');

const command = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('send' as const), wait: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('take' as const), max: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('deliver' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('tick' as const), bytes: fc.nat(900) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('snapshot' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constantFrom('reopen' as const, 'compact' as const) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      mode: fc.constantFrom(...CRASH_MODES),
    }),
  },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

/** The model: letters in order of their places, and which of all that was promised. */
class Model {
  readonly letters: { id: string; seen: boolean }[] = [];
  /** So many letters, and so many of them seen, are promised. */
  acked = 0;
  readonly ackedSeen: Set<number> = new Set();

  send(id: string): void {
    this.letters.push({ id, seen: false });
  }

  take(n: number): void {
    const letter = this.letters[n - 1];
    if (letter !== undefined) letter.seen = true;
  }

  acknowledge(): void {
    this.acked = this.letters.length;
    for (const [index, { seen }] of this.letters.entries()) if (seen) this.ackedSeen.add(index + 1);
  }

  /** After a crash so many are left, and these are seen: never less than was promised, never other than was done. */
  crashed(left: number, seen: readonly number[]): void {
    expect(left).toBeGreaterThanOrEqual(this.acked);
    expect(left).toBeLessThanOrEqual(this.letters.length);
    for (const n of this.ackedSeen) expect(seen).toContain(n);
    for (const n of seen) expect(this.letters[n - 1]?.seen).toBe(true);
    this.letters.length = left;
    for (const [index, letter] of this.letters.entries()) letter.seen = seen.includes(index + 1);
    this.acknowledge();
  }
}

/** The product: a journal on a disk, the fold of it, and someone who follows. */
class System {
  disk: MemoryFiles;
  readonly clock: VirtualClock = new VirtualClock();
  readonly followed: number[] = [];
  mail: MailState = makeMailState();
  journal: Journal | null = null;
  #records: StoredRunRecord[] = [];
  #following: AbortController = new AbortController();

  constructor(disk: MemoryFiles) {
    this.disk = disk;
  }

  async open(compact = false): Promise<void> {
    this.mail = makeMailState();
    this.#records = [];
    const worthOf = ({ k }: StoredRecord): { kind: 'keep' | 'drop' } => ({
      kind: k === 'run' ? 'drop' : 'keep',
    });
    const restore = (state: Uint8Array): boolean => {
      const records = JSON.parse(new TextDecoder().decode(state)) as StoredRunRecord[];
      for (const record of records) this.#apply(record);
      return true;
    };
    this.journal = await openJournal({
      files: this.disk,
      clock: this.clock,
      random: new SeededRandom('model'),
      directory: DIRECTORY,
      name: 'sim',
      limits: { reserveBytes: 0, segmentBytesMax: 2000 },
      onRecord: (record) => this.#apply(record as unknown as StoredRunRecord),
      ...(compact ? { compact: { worthOf, slackBytes: 500 } } : { snapshots: { restore } }),
    });
    this.#follow();
  }

  append(part: Partial<RunRecord>): Promise<void> {
    const { journal } = this;
    if (journal === null) throw new Error('not open');
    const body = { k: 'msg', at: AT, ...part } as const;
    const { seq, durable } = journal.append({ ...body });
    this.#apply({ ...body, s: seq, d: 0 });
    return durable;
  }

  async snapshot(): Promise<void> {
    const state = new TextEncoder().encode(JSON.stringify(this.#records));
    const { journal } = this;
    if (journal !== null) await journal.writeSnapshot(state, journal.nextSeq - 1);
  }

  async close(): Promise<void> {
    await this.journal?.close();
    this.#following.abort();
    await turn();
  }

  crash(mode: CrashMode): void {
    this.#following.abort();
    this.disk = this.disk.crash(mode);
  }

  #apply(record: StoredRunRecord): void {
    this.#records.push(record);
    applyMailRecord(this.mail, record);
  }

  #follow(): void {
    this.#following = new AbortController();
    const { signal } = this.#following;
    const from = (this.followed.at(-1) ?? 0) + 1;
    const options = { files: this.disk, clock: this.clock, directory: DIRECTORY, signal, from };
    void (async () => {
      for await (const { s } of followJournal(options)) if (!signal.aborted) this.followed.push(s);
    })();
  }
}

async function run(commands: readonly Command[]): Promise<void> {
  const system = new System(await newDisk('model'));
  const model = new Model();
  await system.open();
  for (const one of commands) {
    await step(system, model, one);
    compare(system, model);
  }
  await system.journal?.flush();
  await system.clock.advance(3000);
  // No gap and no repeat: what is followed rises, and ends where the log does.
  const { followed } = system;
  for (const [index, s] of followed.entries()) expect(s).toBeGreaterThan(followed[index - 1] ?? 0);
  expect(followed.at(-1)).toBe(system.journal?.durableSeq);
  await system.close();
}

async function step(system: System, model: Model, one: Command): Promise<void> {
  switch (one.do) {
    case 'send': {
      const draft = { to: ada, lane: 'normal', type: 'chat.message', body: { text: 'x' } } as const;
      const id = asEnvelopeId(`env_${model.letters.length}`);
      const sender = { name: asActorName('user'), incarnation: 1, epoch: 1 };
      const durable = system.append({ mail: [stampMail(system.mail, draft, sender, id)] });
      model.send(id);
      if (!one.wait) return;
      await durable;
      model.acknowledge();
      return;
    }
    case 'take': {
      const took = deliverable(system.mail, ada, { nowMs: 0, max: one.max }).map(({ n }) => n);
      void system.append({ k: 'step', a: ada, took });
      for (const n of took) model.take(n);
      return;
    }
    case 'deliver':
      markDelivered(
        system.mail,
        ada,
        deliverable(system.mail, ada, { nowMs: 0 }).map(({ n }) => n),
      );
      void system.append({ k: 'run', run: [{ type: 'run.resumed', term: 2 }] });
      return;
    case 'tick':
      void system.append({ k: 'run', run: [{ type: 'run.warned', text: 'x'.repeat(one.bytes) }] });
      return;
    case 'snapshot':
      await system.snapshot();
      model.acknowledge();
      return;
    case 'reopen':
    case 'compact':
      await system.close();
      model.acknowledge();
      await system.open(one.do === 'compact');
      return;
    case 'crash':
      system.crash(one.mode);
      await system.open();
      model.crashed(system.mail.boxes.get(ada)?.last ?? 0, seenIn(system));
  }
}

function seenIn({ mail }: System): number[] {
  const last = mail.boxes.get(ada)?.last ?? 0;
  const all = Array.from({ length: last }, (_, index) => index + 1);
  return all.filter((n) => stateOf(mail, ada, n) === 'seen');
}

function compare(system: System, model: Model): void {
  expect(system.mail.boxes.get(ada)?.last ?? 0).toBe(model.letters.length);
  const wanted = model.letters.flatMap(({ seen }, index) => (seen ? [index + 1] : []));
  expect(seenIn(system)).toEqual(wanted);
}

test(`M2 M3 M4 J13 J15 J18: the journal keeps what the model keeps (TROUPE_SEED=${seed})`, async () => {
  await fc.assert(fc.asyncProperty(fc.array(command, { maxLength: 40 }), run), {
    numRuns: 250,
    seed,
  });
});
