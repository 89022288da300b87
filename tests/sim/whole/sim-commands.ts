/** Commands of one process's life: they take a while, fail now and then, and are gone with the process. */

import type { CommandWork } from '../../../src/supervisor/effects/executor.ts';
import type { CommandOutcome } from '../../../src/supervisor/inbox.ts';
import type { SeededRandom } from '../../../src/testing/seeded-random.ts';
import type { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import type { Fact } from '../permissions/queue-facts.ts';
import type { Life } from './life.ts';

/** Commands of the team begin so; all else is an actor's. */
export const OF_TEAM = 'team-';

interface Running {
  readonly cwd: string;
  readonly background: boolean;
  readonly killed: AbortController;
  readonly done: Promise<CommandOutcome>;
}

export class SimCommands implements CommandWork {
  readonly running: Map<string, Running> = new Map();
  readonly #life: Life;
  readonly #clock: VirtualClock;
  readonly #random: SeededRandom;
  readonly #facts: Fact[];
  readonly #early: Set<string> = new Set();

  constructor(
    life: Life,
    options: {
      readonly clock: VirtualClock;
      readonly random: SeededRandom;
      readonly facts: Fact[];
    },
  ) {
    this.#life = life;
    this.#clock = options.clock;
    this.#random = options.random;
    this.#facts = options.facts;
  }

  async run({
    id,
    command,
    cwd,
    background,
    timeoutMs,
  }: Parameters<CommandWork['run']>[0]): Promise<CommandOutcome> {
    await this.#life.alive();
    if (!command.startsWith(OF_TEAM)) this.#facts.push({ type: 'started', proc: id, command });
    this.#life.checks.commandStarted(id);
    const killed = new AbortController();
    const done = this.#outcome(killed, timeoutMs);
    this.running.set(id, { cwd, background: background === true, killed, done });
    if (this.#early.delete(id)) killed.abort();
    const outcome = await done;
    await this.#life.alive();
    this.running.delete(id);
    return outcome;
  }

  async #outcome(killed: AbortController, timeoutMs: number): Promise<CommandOutcome> {
    const { trouble } = this.#life;
    const takes = this.#random.next() < trouble.slow ? 1 + this.#random.below(90_000) : 0;
    const fails = this.#random.next() < trouble.fails;
    const rest = {
      signal: null,
      left: [],
      text: fails ? 'it failed' : '',
      cut: false,
      durationMs: takes,
    };
    try {
      await this.#clock.sleep(Math.min(takes, timeoutMs), killed.signal);
    } catch {
      return { ...rest, code: null, signal: 'SIGKILL', why: 'killed' };
    }
    if (takes > timeoutMs) return { ...rest, code: null, signal: 'SIGKILL', why: 'timeout' };
    return { ...rest, code: fails ? 1 : 0, why: 'exit' };
  }

  kill(id: string): void {
    const one = this.running.get(id);
    if (one === undefined) this.#early.add(id);
    else one.killed.abort();
  }

  async idle(): Promise<void> {
    for (;;) {
      const front = [...this.running.values()].filter((one) => !one.background);
      if (front.length === 0) return;
      await Promise.allSettled(front.map((one) => one.done));
    }
  }

  async clear(folder: string): Promise<void> {
    const there = [...this.running.values()].filter((one) => one.background && one.cwd === folder);
    for (const one of there) one.killed.abort();
    await Promise.allSettled(there.map((one) => one.done));
  }

  async readPage(): ReturnType<CommandWork['readPage']> {
    return { text: '', from: 0, next: 0, size: 0 };
  }

  async close(): Promise<readonly number[]> {
    for (const one of this.running.values()) one.killed.abort();
    await Promise.allSettled([...this.running.values()].map((one) => one.done));
    return [];
  }
}
