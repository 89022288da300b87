/**
 * The whole system on a virtual clock: production decisions, loop, executor, journal, broker and agent loop, on a disk that
 * dies or fills up, with threads, trees, commands and models that fail as the seed says. A history is a few processes, one
 * after the other, that take the same run up; the last of them brings it to its end in peace.
 */

import { openAsks } from '../../../src/permissions/index.ts';
import type { RunFile, StoredRunRecord } from '../../../src/protocol/index.ts';
import { CRASH_MODES } from '../../../src/testing/memory-disk.ts';
import { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { judgeRecords } from '../permissions/queue-checks.ts';
import type { Fact } from '../permissions/queue-facts.ts';
import { ASK_MS, QueueWorld } from '../permissions/queue-world.ts';
import { Checks, type Witnessed } from './checks.ts';
import { Life, NO_TROUBLE, type Places } from './life.ts';
import { between, drawFile, drawPolicy, drawTrouble, PROFILES, type Profile } from './profiles.ts';
import { SimCommands } from './sim-commands.ts';
import { SimGit } from './sim-git.ts';
import { SimHost } from './sim-host.ts';
import { SimModel } from './sim-model.ts';
import { SimRepo } from './sim-repo.ts';
import { traceOf } from './trace.ts';

const EPOCH = Date.parse('2026-11-30T12:00:00.000Z');
const ROUNDS_MAX = 300;
const CLIENTS = ['user', 'web'];

export interface Simulated {
  readonly events: number;
  readonly records: number;
  readonly crashes: number;
  /** How the run ended. */
  readonly end: string;
  readonly violation: string | null;
  readonly trace: readonly string[];
}

export async function simulate(seed: string, profileName: string = 'small'): Promise<Simulated> {
  const profile = PROFILES[profileName];
  if (profile === undefined) throw new Error(`there is no profile "${profileName}"`);
  const history = new History(seed, profile);
  return history.play();
}

class History {
  readonly #seed: string;
  readonly #random: SeededRandom;
  readonly #profile: Profile;
  readonly #file: RunFile;
  readonly #outside: Places;
  readonly #facts: Fact[] = [];
  readonly #seen: Witnessed = { accepted: new Map(), prepared: new Set() };
  readonly #trace: string[] = [];
  #disk: MemoryFiles;
  #wall = EPOCH;
  #events = 0;
  #crashes = 0;
  #letters = 0;
  #policies = 0;
  #records: readonly StoredRunRecord[] = [];

  constructor(seed: string, profile: Profile) {
    this.#seed = seed;
    this.#profile = profile;
    this.#random = new SeededRandom(`${seed}/history`);
    this.#file = drawFile(new SeededRandom(`${seed}/team`), profile);
    const policy = drawPolicy(this.#random, 'p0');
    this.#outside = { policy, swapped: false, failing: 0, repo: new SimRepo() };
    this.#disk = new MemoryFiles({ random: new SeededRandom(`${seed}/disk`) });
  }

  async play(): Promise<Simulated> {
    const lives = between(this.#random, this.#profile.lives);
    let violation: string | null = null;
    let end = '';
    for (let life = 0; life < lives && violation === null && end === ''; life += 1) {
      const played = await new Played(this.#parts(life, life === lives - 1)).play();
      violation = played.violation;
      end = played.end ?? '';
    }
    return {
      events: this.#events,
      records: this.#records.length,
      crashes: this.#crashes,
      end,
      violation,
      trace: violation === null ? [] : [...this.#trace, ...traceOf(this.#records)],
    };
  }

  #parts(life: number, isLast: boolean): LifeParts {
    return {
      seed: `${this.#seed}/${life}`,
      life,
      isLast,
      random: this.#random,
      file: this.#file,
      outside: this.#outside,
      facts: this.#facts,
      seen: this.#seen,
      disk: this.#disk,
      wall: this.#wall,
      steps: between(this.#random, this.#profile.steps),
      note: (text) => {
        this.#events += 1;
        this.#trace.push(`${life}: ${text}`);
      },
      letter: () => `l${(this.#letters += 1)}`,
      policy: () => `p${(this.#policies += 1)}`,
      left: ({ disk, wall, records, crashed }) => {
        this.#disk = disk;
        this.#wall = wall;
        this.#records = records;
        if (crashed) this.#crashes += 1;
      },
    };
  }
}

interface LifeParts {
  readonly seed: string;
  readonly life: number;
  readonly isLast: boolean;
  readonly random: SeededRandom;
  readonly file: RunFile;
  readonly outside: Places;
  readonly facts: Fact[];
  readonly seen: Witnessed;
  readonly disk: MemoryFiles;
  readonly wall: number;
  readonly steps: number;
  readonly note: (text: string) => void;
  readonly letter: () => string;
  readonly policy: () => string;
  readonly left: (what: {
    readonly disk: MemoryFiles;
    readonly wall: number;
    readonly records: readonly StoredRunRecord[];
    readonly crashed: boolean;
  }) => void;
}

/** One process. */
class Played {
  readonly #parts: LifeParts;
  readonly #clock: VirtualClock;
  readonly #checks: Checks;
  readonly #life: Life;
  readonly #model: SimModel;
  readonly #host: SimHost;
  readonly #commands: SimCommands;
  #records: StoredRunRecord[] = [];
  #next: MemoryFiles | null = null;
  #whenDead: () => void = () => undefined;
  readonly #dead: Promise<null>;

  constructor(parts: LifeParts) {
    this.#parts = parts;
    const { outside, seen, file, seed, life, disk, facts } = parts;
    this.#clock = new VirtualClock(parts.wall);
    const { parallel } = file.team.limits;
    this.#checks = new Checks({ seen, repo: outside.repo, parallel });
    const trouble = parts.isLast && parts.steps === 0 ? NO_TROUBLE : drawTrouble(parts.random);
    this.#life = new Life(outside, this.#checks, trouble);
    const fork = (what: string): { clock: VirtualClock; random: SeededRandom } => ({
      clock: this.#clock,
      random: new SeededRandom(`${seed}/${what}`),
    });
    const { lead, teammates } = file.team;
    const names = [...(lead === null ? [] : [lead.name]), ...teammates.map(({ name }) => name)];
    this.#model = new SimModel(this.#life, { ...fork('model'), life, names });
    this.#host = new SimHost(this.#life, { ...fork('host'), disk, facts, model: this.#model });
    this.#commands = new SimCommands(this.#life, { ...fork('commands'), facts });
    this.#dead = new Promise((resolve) => {
      this.#whenDead = () => resolve(null);
    });
  }

  async play(): Promise<{ readonly violation: string | null; readonly end: string | null }> {
    const { random, isLast, disk, facts } = this.#parts;
    if (!isLast && random.next() < 0.6)
      this.#planCrash(1 + random.below(random.next() < 0.2 ? 30 : 300));
    let world: QueueWorld | null = null;
    let violation: string | null = null;
    try {
      world = await Promise.race([this.#open(), this.#dead]);
      if (world !== null) await this.#work(world);
    } catch (error) {
      violation = error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    disk.before = null;
    this.#life.end();
    violation =
      this.#checks.broken ??
      violation ??
      (world === null ? null : judgeRecords(world.records, facts).violation);
    const crashed = this.#next !== null;
    const next = this.#next ?? disk.crash(random.pick(CRASH_MODES) ?? 'kill');
    this.#parts.left({
      disk: next,
      wall: this.#clock.now() + random.below(600_000),
      records: world?.records ?? this.#records,
      crashed,
    });
    return { violation, end: this.#checks.model.ended };
  }

  /** At one of the next operations of the disk everything is over. */
  #planCrash(operations: number): void {
    const { disk, random, note } = this.#parts;
    const at = disk.operations + operations;
    const mode = random.pick(CRASH_MODES) ?? 'kill';
    disk.before = ({ number, kind, path }) => {
      if (number < at || this.#next !== null) return;
      note(`crash (${mode}) before ${kind} of ${path}`);
      this.#die(mode);
    };
  }

  #die(mode: (typeof CRASH_MODES)[number]): void {
    this.#life.end();
    this.#next = this.#parts.disk.crash(mode);
    this.#whenDead();
  }

  async #open(): Promise<QueueWorld> {
    const { disk, seed, facts, outside, file } = this.#parts;
    const git = new SimGit(this.#life, {
      clock: this.#clock,
      random: new SeededRandom(`${seed}/git`),
      file,
    });
    const onRecord = (record: StoredRunRecord): void => {
      this.#records.push(record);
      this.#checks.take(record);
    };
    const host = this.#host;
    const processes = this.#commands;
    const parts = {
      file,
      clock: this.#clock,
      host,
      git,
      processes,
      tip: outside.repo.main,
      onRecord,
    };
    return QueueWorld.open({ disk, seed, plans: new Map(), facts, outside, parts });
  }

  async #work(world: QueueWorld): Promise<void> {
    const { steps, isLast, random, note } = this.#parts;
    this.#checks.recovered();
    this.#checks.watch({ world, host: this.#host, commands: this.#commands });
    if (world.state.run.ended !== null) return;
    note(world.state.run.startedAt === null ? 'started' : 'resumed');
    await world.begin();
    for (let step = 0; step < steps && this.#goesOn(world); step += 1) {
      await this.#step(world);
      await world.settle();
      if (this.#goesOn(world)) this.#checks.settled(random.next() < 0.1);
    }
    if (isLast && world.isOver && world.state.run.ended === null) {
      throw new Error('S6: the last process gave up, and nothing was wrong with its disk');
    }
    if (!this.#goesOn(world)) return;
    if (isLast) await this.#toTheEnd(world);
    else if (random.next() < 0.4) await this.#stop(world);
  }

  #goesOn(world: QueueWorld): boolean {
    return !this.#life.isDead && !world.isOver && this.#checks.broken === null;
  }

  async #stop(world: QueueWorld): Promise<void> {
    const now = this.#parts.random.next() < 0.5;
    this.#parts.note(now ? 'stop now' : 'stop');
    world.post({ type: 'stop', now, by: 'user' });
    for (let second = 0; second < 120 && this.#goesOn(world); second += 1)
      await this.#clock.advance(1_000);
    if (this.#goesOn(world)) throw new Error('S4: a stop never comes to its end');
  }

  async #step(world: QueueWorld): Promise<void> {
    const { random, note } = this.#parts;
    const draw = random.next();
    if (draw < 0.3)
      await this.#pass(random.pick([100, 1_000, 5_000, 20_000, ASK_MS + 1, 130_000]) ?? 1_000);
    else if (draw < 0.5) this.#answer(world);
    else if (draw < 0.66) this.#write(world);
    else if (draw < 0.74) note(`dies: ${this.#host.die()}`);
    else if (draw < 0.78) note(`is stuck: ${this.#host.stick()}`);
    else if (draw < 0.85) note(`comes late: ${this.#host.repeat()}`);
    else if (draw < 0.88) note(`told twice: ${this.#host.exitAgain()}`);
    else if (draw < 0.91) this.#changePolicy();
    else if (draw < 0.94) this.#stopActor(world);
    else if (draw < 0.96) this.#jump();
    else if (draw < 0.98) this.#wakeAgain(world);
    else this.#breakDisk();
  }

  async #pass(ms: number): Promise<void> {
    this.#parts.note(`${ms} ms pass`);
    await this.#clock.advance(ms);
  }

  #answer(world: QueueWorld): void {
    const { random, note } = this.#parts;
    const ask = random.pick(openAsks(world.state.asks));
    if (ask === undefined) return;
    const effect = random.next() < 0.7 ? 'allow' : 'deny';
    const scope = random.pick(['once', 'once', 'run', 'workspace'] as const) ?? 'once';
    const by = random.pick(CLIENTS) ?? 'user';
    note(`${by} says ${effect} (${scope}) to ${ask.id.slice(0, 10)}`);
    void world.answer({
      id: ask.id,
      digest: random.next() < 0.5 ? ask.digest : null,
      effect,
      scope,
      by,
    });
  }

  #write(world: QueueWorld): void {
    const { random, note, letter } = this.#parts;
    const to = random.pick([...world.state.actors.byName.keys(), 'user']) ?? 'user';
    const lane = random.next() < 0.3 ? 'interrupt' : 'normal';
    const id = letter();
    note(`${id} to ${to} (${lane})`);
    for (const _time of random.next() < 0.2 ? [1, 2] : [1]) {
      const sent = world.ask((token) => ({
        type: 'send',
        token,
        to,
        text: `letter ${id}`,
        lane,
        id,
      }));
      sent.then(
        (value) => {
          const {
            n,
            state,
            dup,
            id: given,
          } = value as { n: number; state: string; dup?: true; id: string };
          if (state === 'accepted' && dup !== true && !this.#life.isDead)
            this.#checks.accepted(given, to, n);
        },
        () => undefined,
      );
    }
  }

  #changePolicy(): void {
    const { random, note, policy, outside, facts } = this.#parts;
    outside.policy = drawPolicy(random, policy());
    facts.push({ type: 'policy', policy: outside.policy });
    note(`policy ${outside.policy.revision}`);
  }

  #stopActor(world: QueueWorld): void {
    const { random, note } = this.#parts;
    const name = random.pick([...world.state.actors.byName.keys()]);
    if (name === undefined) return;
    const now = random.next() < 0.5;
    note(`stop ${name}${now ? ' now' : ''}`);
    world
      .ask((token) => ({ type: 'stop.actor', token, name, now, by: 'user' }))
      .catch(() => undefined);
  }

  #jump(): void {
    const { random, note } = this.#parts;
    const ms = random.pick([-3_600_000, -5_000, 30_000, 8 * 3_600_000]) ?? 0;
    note(`the clock jumps by ${ms}`);
    this.#clock.jump(ms);
  }

  /** Wake-ups may come twice, and for nothing. */
  #wakeAgain(world: QueueWorld): void {
    const { random, note } = this.#parts;
    const name = random.pick([...world.state.actors.byName.keys()]);
    if (name === undefined) return;
    note(`wakes ${name} again`);
    world.post({ type: 'mail.due', name });
    world.post({ type: 'asks.due' });
    world.post({ type: 'outlet.due' });
  }

  #breakDisk(): void {
    const { random, note, disk, isLast } = this.#parts;
    if (isLast) return;
    if (random.next() < 0.7) {
      disk.spaceLeft = random.below(6_000);
      note(`${disk.spaceLeft} bytes are left on the disk`);
    } else {
      disk.fail({ kind: 'datasync', code: 'EIO', path: '.jsonl' });
      note('the next sync fails');
    }
  }

  /** A patient person says yes to all; then everything ends. */
  async #toTheEnd(world: QueueWorld): Promise<void> {
    const { note } = this.#parts;
    note('peace');
    this.#life.trouble = NO_TROUBLE;
    this.#model.calm = true;
    for (let round = 0; round < ROUNDS_MAX && this.#goesOn(world); round += 1) {
      const [ask] = openAsks(world.state.asks);
      const paused = [...world.state.asks.paused.keys()];
      if (ask !== undefined)
        void world.answer({
          id: ask.id,
          digest: ask.digest,
          effect: 'allow',
          scope: 'once',
          by: 'user',
        });
      for (const to of paused) {
        const event = { type: 'send', to, text: 'go on', lane: 'normal', id: null } as const;
        world.ask((token) => ({ ...event, token })).catch(() => undefined);
      }
      await world.settle();
      if (!this.#goesOn(world)) break;
      this.#checks.settled(false);
      if (ask === undefined || round % 4 === 3)
        await this.#clock.advance(round < 60 ? 10_000 : 60_000);
    }
    await world.settle();
    if (this.#checks.broken !== null) return;
    if (world.state.run.ended === null)
      throw new Error(`S3: the run stands still: ${stillOf(world)}`);
    this.#checks.finished();
  }
}

/** Who waits for what, when nothing moves any more. */
function stillOf({ state, live }: QueueWorld): string {
  const tasks = [...state.graph.nodes.values()].map(
    ({ spec, state: now, owner }) => `${spec.id} ${now} ${owner ?? ''}`,
  );
  const actors = [...live.actors.values()].map(
    ({ name, phase, doom }) => `${name} ${phase} ${doom?.kind ?? ''}`,
  );
  const waits = [...live.waiting.keys(), ...live.acts.keys(), ...live.taskOps.keys()];
  return [...tasks, ...actors, ...waits].join('; ');
}
