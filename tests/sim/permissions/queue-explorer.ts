/**
 * Explores the queue of asks: many actors that ask at once, several clients that answer, rules and links that change, threads
 * that die and mail that interrupts, on a process that may die before each operation of its disk, between the two journals
 * too. What a crash leaves is taken up by another process, brought to its end, and judged by `queue-checks.ts`.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { openAsks } from '../../../src/permissions/index.ts';
import type { StoredRunRecord } from '../../../src/protocol/index.ts';
import { applyRecord, makeRunState } from '../../../src/supervisor/state.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import type { Exploration } from '../journal/explorer.ts';
import { judgeRecords, orderOf, traceOf } from './queue-checks.ts';
import type { Fact, SimCall, SimPolicy } from './queue-facts.ts';
import { ASK_MS, type Outside, type Plans, QueueWorld, WORKSPACE } from './queue-world.ts';

/** Programs that nothing is known of: each may be granted; an interpreter may not. */
const PROGRAMS = ['alpha', 'beta', 'gamma', 'delta', 'python3'];
const CLIENTS = ['user', 'web', 'phone'];
/** Of a history that goes on to its end after a crash. */
const END_SHARE = 0.12;
const ROUNDS_MAX = 600;

export interface QueueShape {
  readonly actors: number;
  readonly steps: number;
}

interface Moment {
  readonly disk: MemoryFiles;
  readonly facts: readonly Fact[];
  readonly outside: Outside;
  readonly path: string;
}

function drawPlans(random: SeededRandom, actors: number): Plans {
  const plans = new Map<string, SimCall[][]>();
  for (let at = 0; at < actors; at += 1) {
    const name = `a${at}`;
    const turns = Array.from({ length: 1 + random.below(3) }, (_turn, turn) =>
      Array.from({ length: 1 + random.below(4) }, (_call, call) =>
        drawCall(random, `${name}.${turn}.${call}`),
      ),
    );
    plans.set(name, turns);
  }
  return plans;
}

function drawCall(random: SeededRandom, id: string): SimCall {
  const draw = random.next();
  if (draw < 0.3)
    return { id, tool: 'read_file', input: { path: `/data/d${random.below(3)}.txt` } };
  if (draw < 0.55) {
    return { id, tool: 'write_file', input: { path: `src/f${random.below(3)}.txt`, content: 'x' } };
  }
  const command = `${random.pick(PROGRAMS) ?? 'alpha'} ${random.pick(['go', 'stay']) ?? 'go'}`;
  return { id, tool: 'bash', input: { command } };
}

const some = (random: SeededRandom, share: number): string[] =>
  PROGRAMS.filter(() => random.next() < share);

function drawPolicy(random: SeededRandom, revision: string): SimPolicy {
  return {
    revision,
    allow: some(random, 0.15).filter((name) => name !== 'python3'),
    deny: some(random, 0.12),
  };
}

/** One history, and what each crash of it leads to; a violation names the way to it. */
export async function exploreQueue(
  seed: string,
  statesMax: number,
  shape?: QueueShape,
): Promise<Exploration> {
  const exploration: Exploration = { states: 0, violation: null };
  const random = new SeededRandom(`${seed}/choice`);
  const { actors, steps } = shape ?? {
    actors: random.pick([2, 3, 4, 8]) ?? 3,
    steps: 10 + random.below(25),
  };
  const plans = drawPlans(new SeededRandom(`${seed}/plans`), actors);
  const moments = await live({ seed, plans, steps, exploration });
  for (const moment of moments) {
    if (exploration.violation !== null || exploration.states >= statesMax) break;
    exploration.states += 1;
    const found = await check(moment, { seed, plans, toTheEnd: random.next() < END_SHARE });
    if (found !== null) exploration.violation = `crash ${moment.path}: ${found}`;
  }
  return exploration;
}

async function live(history: {
  readonly seed: string;
  readonly plans: Plans;
  readonly steps: number;
  readonly exploration: Exploration;
}): Promise<Moment[]> {
  const { seed, plans, steps, exploration } = history;
  const random = new SeededRandom(`${seed}/work`);
  const outside: Outside = { policy: drawPolicy(random, 'p0'), swapped: false, failing: 0 };
  const facts: Fact[] = [];
  const disk = new MemoryFiles({ random: new SeededRandom(`${seed}/disk`) });
  const moments: Moment[] = [];
  disk.before = ({ kind, path, number }) => {
    if (!path.endsWith('.jsonl') || (kind !== 'write' && kind !== 'datasync')) return;
    const journal = path.startsWith(WORKSPACE)
      ? 'workspace'
      : path.includes('/audit/')
        ? 'audit'
        : 'run';
    // What a kill and what a power cut leave at this step of the protocol.
    for (const mode of ['kill', 'none'] as const) {
      moments.push({
        disk: disk.fork(mode),
        facts: facts.slice(),
        outside: { ...outside, failing: 0 },
        path: `${number}/${kind} (${journal})/${mode}`,
      });
    }
  };
  const driver = new Driver({ random, outside, facts, plans });
  let world: QueueWorld | null = null;
  try {
    world = await QueueWorld.open({ disk, seed: `${seed}/first`, plans, facts, outside });
    await world.begin();
    for (let step = 0; step < steps && !world.isOver; step += 1) {
      await driver.step(world, step);
      if (random.next() < 0.6) checkLive(world, facts);
    }
    if (random.next() < 0.5) await driver.toTheEnd(world);
    else if (!world.isOver) await world.stop(random.next() < 0.5);
    disk.before = null;
    const { violation } = judgeRecords(world.records, facts);
    if (violation !== null) throw new Error(violation);
  } catch (error) {
    exploration.violation ??= `while it worked: ${told(error, world)}`;
  }
  disk.before = null;
  return moments;
}

async function check(
  moment: Moment,
  history: { readonly seed: string; readonly plans: Plans; readonly toTheEnd: boolean },
): Promise<string | null> {
  const { disk, outside } = moment;
  const { seed, plans, toTheEnd } = history;
  const facts = [...moment.facts];
  let world: QueueWorld | null = null;
  try {
    world = await QueueWorld.open({ disk, seed: `${seed}/after`, plans, facts, outside });
    const { violation } = judgeRecords(world.records, facts);
    if (violation !== null) throw new Error(violation);
    if (!toTheEnd) return null;
    if (world.state.run.ended !== null) return null;
    const random = new SeededRandom(`${seed}/end`);
    const driver = new Driver({ random, outside, facts, plans });
    await world.begin();
    await driver.toTheEnd(world);
    const after = judgeRecords(world.records, facts).violation ?? judgeGrants(world);
    if (after !== null) throw new Error(after);
    return null;
  } catch (error) {
    return told(error, world);
  }
}

function told(error: unknown, world: QueueWorld | null): string {
  const message = error instanceof Error ? error.message : String(error);
  return `${message}\n${world === null ? '' : traceOf(world.records)}`;
}

/** P33: what was given for the workspace is in its journal, once, and the run knows it. */
function judgeGrants(world: QueueWorld): string | null {
  if (world.state.asks.unkept.size > 0) return 'P33: a grant was never kept';
  for (const record of world.records) {
    for (const change of record.asks ?? []) {
      if (change.type !== 'grant.given' || change.grant.scope !== 'workspace') continue;
      const { id } = change.grant;
      if (world.given.filter((one) => one === id).length !== 1)
        return `P33: ${id} is given ${world.given.join()}`;
    }
  }
  return null;
}

/** What holds whenever nothing moves. */
function checkLive(world: QueueWorld, facts: readonly Fact[]): void {
  const { state, live } = world;
  const { model, violation } = judgeRecords(world.records, facts);
  if (violation !== null) throw new Error(violation);
  deepStrictEqual(
    openAsks(state.asks).map((ask) => ask.id),
    orderOf(model),
    'P32: the order of the queue',
  );
  const now = world.clock.now();
  for (const ask of openAsks(state.asks)) {
    if (ask.expiresAt !== null && now > Date.parse(ask.expiresAt))
      throw new Error(`P30: ${ask.id} is open after its time`);
    for (const { call, actor } of ask.waiters) {
      if (live.actors.has(actor) && !live.waiting.has(call) && live.halting === null)
        throw new Error(`P30: ${actor} is there and does not wait for ${call} of ${ask.id}`);
      if (state.actors.byName.get(actor)?.phase.kind === 'ended')
        throw new Error(`P30: ${actor} has ended, and ${ask.id} still asks for it`);
    }
  }
  for (const { call, looking } of live.waiting.values()) {
    const ask = state.asks.byCall.get(call);
    if (
      live.halting === null &&
      !looking &&
      (ask === undefined || state.asks.asks.get(ask)?.answer !== null)
    )
      throw new Error(`P31: ${call} waits for nothing`);
  }
  const again = makeRunState(state.file);
  for (const record of world.records) applyRecord(again, record);
  deepStrictEqual(again.asks, state.asks, 'S1: replay equals live');
}

class Driver {
  readonly #random: SeededRandom;
  readonly #outside: Outside;
  readonly #facts: Fact[];
  readonly #plans: Plans;

  constructor(parts: {
    readonly random: SeededRandom;
    readonly outside: Outside;
    readonly facts: Fact[];
    readonly plans: Plans;
  }) {
    this.#random = parts.random;
    this.#outside = parts.outside;
    this.#facts = parts.facts;
    this.#plans = parts.plans;
  }

  /** Something happens, or several things at once. */
  async step(world: QueueWorld, step: number): Promise<void> {
    const random = this.#random;
    const draw = random.next();
    const work: Promise<unknown>[] = [];
    const name = random.pick([...this.#plans.keys()]) ?? 'a0';
    if (draw < 0.45) {
      const answers = 1 + random.below(3);
      for (let at = 0; at < answers; at += 1) work.push(this.#answer(world));
    } else if (draw < 0.57) {
      this.#change(drawPolicy(random, `p${step + 1}`));
    } else if (draw < 0.62) {
      work.push(this.#revoke(world));
    } else if (draw < 0.7) work.push(world.write(name, 'interrupt'));
    else if (draw < 0.76) work.push(world.write(name, 'normal'));
    else if (draw < 0.82) world.killActor(name);
    else if (draw < 0.84) work.push(world.stopActor(name));
    else if (draw < 0.89) {
      await world.settle();
      this.#outside.swapped = !this.#outside.swapped;
    } else if (draw < 0.92) this.#outside.failing = 1 + random.below(3);
    else work.push(world.clock.advance(random.pick([1_000, 20_000, ASK_MS + 1]) ?? 1_000));
    if (random.next() < 0.75) {
      await world.settle();
      await Promise.all(work);
    } else for (const one of work) one.catch(() => undefined);
    await world.settle();
  }

  #change(policy: SimPolicy): void {
    this.#outside.policy = policy;
    this.#facts.push({ type: 'policy', policy });
  }

  async #answer(world: QueueWorld): Promise<void> {
    const random = this.#random;
    const known = [...world.state.asks.asks.values()];
    const ended = [...world.state.asks.ended.keys()];
    const ask = random.pick(known);
    const id = ask?.id ?? random.pick(ended);
    if (id === undefined) return;
    const digest = random.pick([null, ask?.digest ?? null, 'f'.repeat(64)]) ?? null;
    await world.answer({
      id,
      digest,
      effect: random.next() < 0.55 ? 'allow' : 'deny',
      scope: random.pick(['once', 'once', 'run', 'workspace']) ?? 'once',
      by: random.pick(CLIENTS) ?? 'user',
    });
  }

  async #revoke(world: QueueWorld): Promise<void> {
    const grants = [...world.state.asks.grants.keys(), ...world.book.grants.keys()];
    const id = this.#random.pick(grants);
    if (id !== undefined) await world.revoke(id);
  }

  /** A patient person says yes to all; then each call of an actor that is still there has its result. */
  async toTheEnd(world: QueueWorld): Promise<void> {
    this.#outside.failing = 0;
    let quiet = 0;
    for (let round = 0; round < ROUNDS_MAX && quiet < 60; round += 1) {
      if (world.isOver || world.state.run.ended !== null) break;
      await world.settle();
      const [ask] = openAsks(world.state.asks);
      const paused = [...world.state.asks.paused.keys()];
      if (paused.length > 0) for (const name of paused) await world.write(name, 'normal');
      else if (ask !== undefined) {
        await world.answer({
          id: ask.id,
          digest: ask.digest,
          effect: 'allow',
          scope: 'once',
          by: 'user',
        });
      } else {
        await world.clock.advance(5_000);
        quiet += 1;
        continue;
      }
      quiet = 0;
      await world.settle();
    }
    await world.settle();
    this.#judgeEnd(world);
  }

  #judgeEnd({ state, records }: QueueWorld): void {
    const left = openAsks(state.asks);
    if (left.length > 0) throw new Error(`P30: ${left[0]?.id} never ends`);
    const results = new Set(
      records.flatMap((record: StoredRunRecord) =>
        (record.entries ?? []).flatMap((entry) => (entry.type === 'result' ? [entry.call] : [])),
      ),
    );
    for (const [name, calls] of state.openCalls) {
      if (state.actors.byName.get(name)?.phase.kind === 'ended') continue;
      for (const call of calls.keys()) {
        if (!results.has(call)) throw new Error(`P31: ${call} of ${name} never has a result`);
      }
    }
  }
}
