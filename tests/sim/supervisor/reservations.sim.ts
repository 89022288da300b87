/**
 * Requests to models under a budget, with kills of the supervisor at each point between the wish and its end: before the
 * record of what is put aside is durable, before the leave is heard, while the provider answers, after it. What the
 * provider takes never passes the budget and is never forgotten (B1–B4). `TROUPE_SEED=N` repeats a failure.
 */
import { randomInt } from 'node:crypto';
import { expect, test } from 'vitest';
import { asActorName } from '../../../src/kernel/index.ts';
import { NO_USAGE, totalTokens, type Usage } from '../../../src/protocol/index.ts';
import { SeededRandom } from '../../../src/testing/index.ts';
import { runFile, task, team } from '../../support/team.ts';
import { TeamWorld, TIP } from '../../support/team-world.ts';

const SEED = Number(process.env['TROUPE_SEED'] ?? randomInt(2 ** 31));
const RUNS = 80;
const STEPS = 80;
const NAMES = ['lead', 'ada', 'bo'] as const;
const TOKENS = 200_000;
const USD = 1.5;
/** Dollars for a million tokens of either kind. */
const RATE = { input: 10, output: 10 };
const usd = (tokens: number): number => (tokens * RATE.input) / 1_000_000;

/** A request that went out. */
interface Out {
  readonly id: string;
  readonly name: string;
  readonly input: number;
  readonly maxTokens: number;
}

function makeWorld(): TeamWorld {
  const long = { timeoutMs: 1_000_000_000, attempts: 1_000 };
  const tasks = [task({ id: 'a', ...long }), task({ id: 'b', ...long })];
  const budget = { usd: USD, tokens: TOKENS, wallMs: null };
  const members = { lead: true, teammates: ['ada', 'bo'], model: 'anthropic/some' };
  return new TeamWorld(
    runFile({
      id: 'r1',
      team: team({ ...members, tasks, budget }),
      baseCommit: TIP,
      workspace: '/w',
      treesRoot: '/t',
    }),
  );
}

const used = (input: number, output: number): Usage => ({
  ...NO_USAGE,
  inputTokens: input,
  outputTokens: output,
  costUsd: usd(input + output),
});

class Play {
  readonly world: TeamWorld = makeWorld();
  readonly random: SeededRandom;
  readonly out: Map<string, Out> = new Map<string, Out>();
  /** Tokens that the provider has taken, or will have when what is on its way ends. */
  taken = 0;
  kills = 0;
  answered = 0;
  #count = 0;
  #spent = 0;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
  }

  get isOver(): boolean {
    return this.world.state.run.ended !== null || this.world.live.halting !== null;
  }

  step(): void {
    const { random, world } = this;
    world.pass(30_000);
    const name = NAMES[random.below(NAMES.length)] ?? 'lead';
    const what = random.below(8);
    const [one] = [...this.out.values()].filter((each) => each.name === name);
    if (what < 4 && one === undefined && this.#isThere(name)) this.#ask(name);
    else if (what < 6 && one !== undefined) this.#end(one, random.below(3));
    else if (what === 6 && random.below(4) === 0 && this.#isThere(name)) {
      this.#forget(name);
      world.die(name);
    } else if (what === 7 && random.below(3) === 0) this.#kill();
    this.check();
  }

  #isThere(name: string): boolean {
    return this.world.live.actors.has(asActorName(name)) && !this.isOver;
  }

  #ask(name: string): void {
    const { world, random } = this;
    this.#count += 1;
    const id = `${name}-${this.#count}`;
    const input = 100 + random.below(4_000);
    const before = world.records.length;
    const ask = { model: 'anthropic/some', task: null, input, maxTokens: 8_000, rate: RATE };
    const reply = world.request(name, { type: 'reserve', id, ...ask, turn: 0, patient: true });
    const fate = random.below(8);
    if (fate === 0) {
      // The record was not durable, so nobody has heard of a leave.
      world.records.splice(before);
      this.#kill();
    } else if (fate === 1) this.#kill();
    else if (reply?.type === 'granted') {
      const { maxTokens } = reply;
      this.out.set(id, { id, name, input, maxTokens });
      this.taken += input + maxTokens;
      if (fate === 2) this.#kill();
    }
  }

  /** It takes less than was put aside for it, or, when nobody hears of its end, all of that. */
  #end({ id, name, input, maxTokens }: Out, how: number): void {
    const { world, random } = this;
    const output = random.below(maxTokens + 1);
    const usage = how === 0 ? NO_USAGE : used(input, output);
    const before = world.records.length;
    if (how === 2) {
      const entry = { type: 'answer', task: null, model: 'anthropic/some', stop: 'end' } as const;
      const entries = [{ ...entry, content: [{ type: 'text' as const, text: 'a' }], usage }];
      world.request(name, { type: 'answer', took: [], entries, usage, reservation: id });
    } else world.request(name, { type: 'settle', id, model: 'anthropic/some', task: null, usage });
    if (random.below(8) === 0) {
      // Its record was cut off: what it took is not known, and counts as a whole.
      world.records.splice(before);
      this.#kill();
      return;
    }
    this.out.delete(id);
    this.taken -= input + maxTokens - totalTokens(usage);
    this.answered += 1;
  }

  #forget(name: string): void {
    for (const one of this.out.values()) if (one.name === name) this.out.delete(one.id);
  }

  #kill(): void {
    this.out.clear();
    this.kills += 1;
    // What was cut off is not in the sums that were shown.
    this.#spent = 0;
    this.world.restart();
  }

  check(): void {
    const { state } = this.world;
    const spent = totalTokens(state.usage.total);
    const aside = [...state.spending.open.values()].reduce(
      (sum, one) => sum + one.input + one.output,
      0,
    );
    // B4: neither what is known nor what is on its way passes the budget; nor does what the provider takes.
    expect(spent + aside).toBeLessThanOrEqual(TOKENS);
    expect(state.usage.total.costUsd).toBeLessThanOrEqual(USD + 1e-9);
    expect(this.taken).toBeLessThanOrEqual(spent + aside);
    expect(usd(this.taken)).toBeLessThanOrEqual(USD + 1e-9);
    // B2: sums never fall.
    expect(spent).toBeGreaterThanOrEqual(this.#spent);
    this.#spent = spent;
  }
}

test(`B1 B2 B4: kills in the middle of reservations (seed ${SEED})`, () => {
  let kills = 0;
  let answered = 0;
  for (let run = 0; run < RUNS; run += 1) {
    const play = new Play(SEED + run);
    for (let step = 0; step < STEPS && !play.isOver; step += 1) play.step();
    expect(play.world.replayed().usage).toEqual(play.world.state.usage);
    expect(play.world.replayed().spending).toEqual(play.world.state.spending);
    kills += play.kills;
    answered += play.answered;
  }
  // The world does what it is for.
  expect(kills).toBeGreaterThan(RUNS);
  expect(answered).toBeGreaterThan(RUNS * 3);
});
