/**
 * The merge queue against a git of the mind: candidates of which some are bad, gates, a ref that others move, and a
 * supervisor that is killed between any two steps, with what was under way done or not.
 */
import { expect, test } from 'vitest';
import { asTaskId } from '../../../src/kernel/index.ts';
import type { StoredRunRecord } from '../../../src/protocol/index.ts';
import { decide, settle } from '../../../src/supervisor/decide/index.ts';
import type { Effect } from '../../../src/supervisor/effect.ts';
import type { CommandOutcome, RunEvent } from '../../../src/supervisor/inbox.ts';
import { MERGE_BATCH_MAX } from '../../../src/supervisor/limits.ts';
import { type Live, makeLive } from '../../../src/supervisor/live.ts';
import { applyRecord, makeRunState, type RunState } from '../../../src/supervisor/state.ts';
import { SeededRandom } from '../../../src/testing/index.ts';
import { runFile, task, team } from '../../support/team.ts';

interface Commit {
  readonly parent: string | null;
  /** Tasks whose work it holds. */
  readonly holds: ReadonlySet<string>;
}

interface Options {
  readonly tasks: number;
  /** Tasks with which every gate fails. */
  readonly bad: ReadonlySet<string>;
  /** Chance of a kill, and of somebody else's move of the ref, at each step. */
  readonly kill: number;
  readonly meddle: number;
  /** Chance that a merge is in conflict with what came before it. */
  readonly conflict: number;
}

const exit = (code: number): CommandOutcome => ({
  code,
  signal: null,
  why: 'exit',
  left: [],
  text: 'the gate said no',
  cut: false,
  durationMs: 1,
});

class World {
  state: RunState;
  live: Live;
  readonly records: StoredRunRecord[] = [];
  readonly commits: Map<string, Commit> = new Map();
  ref = 'base';
  gateRuns = 0;
  kills = 0;
  now = 0;
  #pending: Effect[] = [];
  #killed: Effect[] = [];
  #count = 0;
  readonly #random: SeededRandom;
  readonly #options: Options;
  readonly #file;

  constructor(seed: number, options: Options) {
    this.#random = new SeededRandom(seed);
    this.#options = options;
    this.commits.set('base', { parent: null, holds: new Set() });
    const verify = [{ kind: 'command' as const, run: 'check', retries: 0, timeoutMs: 1000 }];
    this.#file = runFile({
      id: 'sim',
      team: team({
        tasks: Array.from({ length: options.tasks }, (_, at) =>
          task({ id: `t${at}`, run: 'true' }),
        ),
        limits: { parallel: 8, turns: 1, depth: 1, fanout: 1 },
        merge: { style: 'merge', verify, touches: 'warn' },
      }),
      baseCommit: 'base',
      workspace: '/w',
      treesRoot: '/t',
    });
    this.state = makeRunState(this.#file);
    this.live = this.#begin();
    this.#post({ type: 'started' });
  }

  #begin(): Live {
    return makeLive({ startedMonotonic: this.now, wallUsedMs: 0, tip: this.ref });
  }

  #chance(share: number): boolean {
    return this.#random.below(1000) < share * 1000;
  }

  run(): void {
    for (let step = 0; this.state.run.ended === null; step += 1) {
      expect(step, 'it comes to an end').toBeLessThan(40_000);
      this.now += 10;
      if (this.#chance(this.#options.kill)) this.#kill();
      else if (this.#chance(this.#options.meddle)) this.#meddle();
      else this.#one();
    }
  }

  #one(): void {
    const later = (effect: Effect): boolean => effect.type === 'sweep.later';
    const ready = this.#pending.filter((effect) => !later(effect));
    // Time passes only when nothing else happens.
    const from = ready.length > 0 ? ready : this.#pending;
    const effect = from[this.#random.below(from.length)];
    expect(effect, 'something is under way').toBeDefined();
    if (effect === undefined) return;
    this.#pending.splice(this.#pending.indexOf(effect), 1);
    const event = this.#do(effect);
    if (event !== null) this.#post(event);
  }

  /** What was under way has happened or not; nobody hears of it. */
  #kill(): void {
    this.kills += 1;
    this.#killed = this.#pending;
    this.#pending = [];
    for (const effect of this.#killed) if (this.#chance(0.5)) this.#do(effect);
    this.state = makeRunState(this.#file);
    for (const record of this.records) applyRecord(this.state, record);
    this.live = this.#begin();
    this.#post({ type: 'resumed', left: [], damage: [] });
  }

  /** Somebody commits on the run's branch. */
  #meddle(): void {
    this.ref = this.#commit(this.ref, []);
  }

  #commit(parent: string, more: readonly string[]): string {
    this.#count += 1;
    const id = `c${this.#count}`;
    const holds = new Set([...(this.commits.get(parent)?.holds ?? []), ...more]);
    this.commits.set(id, { parent, holds });
    return id;
  }

  holds(commit: string): ReadonlySet<string> {
    return this.commits.get(commit)?.holds ?? new Set();
  }

  isBad(commit: string): boolean {
    return [...this.holds(commit)].some((one) => this.#options.bad.has(one));
  }

  isIn(commit: string, tip: string): boolean {
    for (let at: string | null = tip; at !== null; at = this.commits.get(at)?.parent ?? null) {
      if (at === commit) return true;
    }
    return false;
  }

  #do(effect: Effect): RunEvent | null {
    if (effect.type === 'tree.prepare') {
      const { task: id, fence, path } = effect;
      const outcome = {
        kind: 'ready',
        path,
        branch: `b/${id}`,
        start: 'base',
        note: null,
      } as const;
      return { type: 'tree.prepared', task: id, fence, outcome };
    }
    if (effect.type === 'tree.commit') {
      const { task: id, fence } = effect;
      const outcome = { kind: 'committed', commit: `work/${id}` } as const;
      return { type: 'tree.committed', task: id, fence, outcome };
    }
    if (effect.type === 'tree.drop') {
      return { type: 'tree.dropped', owner: effect.owner, removed: true, saved: null, text: '' };
    }
    if (effect.type === 'command.start') {
      const { id, place } = effect;
      if (place.kind === 'tree') return { type: 'command.ended', id, outcome: exit(0) };
      this.gateRuns += 1;
      const outcome = exit(this.isBad(place.commit) ? 1 : 0);
      return { type: 'command.ended', id, outcome };
    }
    if (effect.type === 'merge.compute') {
      const { task: id, fence, onto } = effect;
      const from = onto ?? this.ref;
      if (this.holds(from).has(id)) {
        return {
          type: 'merge.computed',
          task: id,
          fence,
          outcome: { kind: 'nothing', at: from },
        };
      }
      if (this.#chance(this.#options.conflict)) {
        return {
          type: 'merge.computed',
          task: id,
          fence,
          outcome: { kind: 'conflict', text: 'x' },
        };
      }
      const to = this.#commit(from, [id]);
      return { type: 'merge.computed', task: id, fence, outcome: { kind: 'merged', from, to } };
    }
    if (effect.type === 'ref.advance') {
      const { task: id, from, to } = effect;
      const isThere = this.ref !== from && this.isIn(to, this.ref);
      if (!isThere && this.ref === from) {
        expect(this.isBad(to), 'W15: what lands was verified').toBe(false);
        this.ref = to;
      }
      const outcome = { kind: isThere || this.ref === to ? 'moved' : 'stale' } as const;
      return { type: 'ref.advanced', task: id, to, outcome };
    }
    if (effect.type === 'sweep.later') {
      this.now += effect.ms;
      return { type: 'sweep', beats: {} };
    }
    return null;
  }

  #post(event: RunEvent): void {
    const happening = { event, now: this.now, monotonicMs: this.now };
    for (
      let draft = decide(this.state, this.live, happening) as ReturnType<typeof settle>;
      draft !== null;
      draft = settle(this.state, this.live, happening)
    ) {
      const record = draft.record();
      if (record !== null) {
        const s = this.records.length + 1;
        const stored = { ...record, s, d: s };
        applyRecord(this.state, stored);
        this.records.push(stored);
      }
      this.#pending.push(...draft.effects);
    }
  }

  /** Every task is in a named state, and the branch holds exactly what is said to be merged. */
  check(): void {
    const done: string[] = [];
    for (const { spec, state, mergedCommit, lastReason } of this.state.graph.nodes.values()) {
      if (state === 'done') {
        done.push(spec.id);
        expect(this.isIn(mergedCommit ?? '', this.ref), `${spec.id} is in the branch`).toBe(true);
        expect(this.holds(mergedCommit ?? '').has(spec.id)).toBe(true);
      } else {
        expect(state).toBe('failed');
        expect(lastReason?.kind).toMatch(/^(?:attempts|conflict)$/);
      }
    }
    expect([...this.holds(this.ref)].toSorted()).toEqual(done.toSorted());
    expect(done.filter((id) => this.#options.bad.has(id))).toEqual([]);
  }
}

const names = (...at: number[]): Set<string> => new Set(at.map((one) => `t${one}`));
const CALM = { kill: 0, meddle: 0, conflict: 0 };

test('W15: a long queue is verified together', () => {
  const world = new World(1, { tasks: 64, bad: new Set(), ...CALM });
  world.run();
  world.check();
  expect(world.gateRuns).toBeLessThan(64);
});

test.each([[0], [7], [15], [31]])(
  'the one that breaks the gates (t%i) is found, the others land',
  (bad) => {
    const world = new World(3, { tasks: 32, bad: names(bad), ...CALM });
    world.run();
    world.check();
    expect(world.state.graph.index.counts).toMatchObject({ done: 31, failed: 1 });
    const node = world.state.graph.nodes.get(asTaskId(`t${bad}`));
    expect(node?.gates).toMatchObject([{ gate: 'check', stage: 'merge', ok: false }]);
    expect(
      world.holds(node?.gates[0]?.commit ?? '').has(`t${bad}`),
      'evidence is of its commit',
    ).toBe(true);
  },
);

test('evidence of a merge names the commit that the gate ran on, which holds the work', () => {
  const world = new World(5, { tasks: MERGE_BATCH_MAX, bad: new Set(), ...CALM });
  world.run();
  for (const { spec, gates } of world.state.graph.nodes.values()) {
    expect(gates).toMatchObject([{ stage: 'merge', ok: true }]);
    expect(world.holds(gates[0]?.commit ?? '').has(spec.id)).toBe(true);
  }
});

test.each(Array.from({ length: 60 }, (_, seed) => [seed]))(
  'W5, W6: killed at any step, with bad candidates, conflicts and a ref that others move (seed %i)',
  (seed) => {
    const random = new SeededRandom(seed + 1000);
    const bad = new Set(Array.from({ length: 4 }, () => `t${random.below(20)}`));
    const world = new World(seed, { tasks: 20, bad, kill: 0.03, meddle: 0.01, conflict: 0.05 });
    world.run();
    world.check();
    expect(world.kills + world.gateRuns).toBeGreaterThan(0);
  },
);
