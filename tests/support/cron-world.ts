/**
 * The scheduler over a memory journal and a virtual clock. It can be killed at any step: what was appended before stays,
 * nothing of it acts any more, and another one is opened over the same files.
 */
import { type JobWish, newJob } from '../../src/cron/index.ts';
import type { Journal } from '../../src/journal/index.ts';
import type { CronJob, CronSlot, RunFile, RunRow } from '../../src/protocol/index.ts';
import { NO_USAGE } from '../../src/protocol/index.ts';
import { CronScheduler } from '../../src/supervisor/cron/scheduler.ts';
import { openWorkspaceJournal } from '../../src/supervisor/workspace-journal.ts';
import { MemoryFiles } from '../../src/testing/memory-files.ts';
import { SeededRandom } from '../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../src/testing/virtual-clock.ts';

const DIRECTORY = '/troupe/workspace/journal';

export interface Done {
  readonly what: 'command' | 'run' | 'resume' | 'mail' | 'post';
  readonly key: string;
  readonly at: number;
}

export class CronWorld {
  readonly clock: VirtualClock;
  readonly files: MemoryFiles = new MemoryFiles();
  /** What was done to the world, over all terms. */
  readonly done: Done[] = [];
  readonly runs: Map<string, RunRow['state']> = new Map();
  /** How long what a job does takes. */
  workMs = 0;
  commandFails: string | null = null;
  scheduler: CronScheduler | null = null;
  /** Steps so far (each append, each deed), and the one at which the process dies. */
  steps = 0;
  dieAt: number = Number.POSITIVE_INFINITY;
  #term: { alive: boolean; journal: Journal | null } = { alive: false, journal: null };

  constructor(startMs: number) {
    this.clock = new VirtualClock(startMs);
  }

  get alive(): boolean {
    return this.#term.alive;
  }

  async open(armed = true): Promise<CronScheduler> {
    const term: { alive: boolean; journal: Journal | null } = { alive: true, journal: null };
    this.#term = term;
    const scheduler = new CronScheduler({
      clock: this.#clockOf(term),
      logger: { log: () => undefined },
      ...this.#effects(term),
      host: {
        armed,
        prepare: (_job, run) => Promise.resolve({ id: run } as RunFile),
        row: (run) => Promise.resolve(this.#row(run)),
        post: async (url) => {
          await this.#deed(term, { what: 'post', key: url });
        },
      },
    });
    const journal = await openWorkspaceJournal(
      { files: this.files, clock: this.clock, random: new SeededRandom(1) },
      { directory: DIRECTORY, slackBytes: 0, onRecord: (record) => scheduler.take(record) },
    );
    term.journal = journal;
    scheduler.open(this.#journalOf(term, journal));
    this.scheduler = scheduler;
    await scheduler.start();
    return scheduler;
  }

  /** As `kill -9` does. */
  async kill(): Promise<void> {
    this.#term.alive = false;
    await this.#term.journal?.close();
    for (const [run, state] of this.runs)
      if (state === 'running') this.runs.set(run, 'interrupted');
  }

  async add(
    wish: Partial<Parameters<typeof newJob>[0]> & { readonly name: string },
  ): Promise<CronJob> {
    const id = `id${wish.name.replaceAll(/[^0-9a-z]/g, '')}`.slice(0, 16);
    const { job } = newJob({ ...PLAIN_WISH, ...wish }, { at: this.clock.now(), id });
    await this.scheduler?.edit({ type: 'add', job }, 'user');
    return job;
  }

  history(name: string): CronSlot[] {
    return [...(this.scheduler?.book.jobs.get(name)?.ledger.history.values() ?? [])];
  }

  deeds(what: Done['what']): string[] {
    return this.done.filter((one) => one.what === what).map(({ key }) => key);
  }

  #effects(term: {
    alive: boolean;
  }): Pick<ConstructorParameters<typeof CronScheduler>[0], 'runs' | 'commands'> {
    const stopped = new Map<string, () => void>();
    const work = (key: string): Promise<boolean> =>
      Promise.race([
        this.#clockOf(term)
          .sleep(this.workMs)
          .then(() => false),
        new Promise<boolean>((resolve) => stopped.set(key, () => resolve(true))),
      ]);
    return {
      runs: {
        start: async ({ id }) => {
          this.runs.set(id, 'running');
          await this.#deed(term, { what: 'run', key: id });
        },
        resume: async (run) => {
          this.runs.set(run, 'running');
          await this.#deed(term, { what: 'resume', key: run });
        },
        finished: async (run) => {
          const wasStopped = await work(run);
          if (!term.alive) return never();
          this.runs.set(run, wasStopped ? 'interrupted' : 'done');
          return this.#row(run) ?? never();
        },
        stop: (run) => Promise.resolve(stopped.get(run)?.()),
        mail: async (job, slot) => {
          await this.#deed(term, { what: 'mail', key: `${job.name} ${slot.slot}` });
          return { refused: null };
        },
      },
      commands: {
        run: async ({ id, env }) => {
          const slot = env['TROUPE_CRON_SLOT'] ?? '';
          await this.#deed(term, { what: 'command', key: `${id.replace(/-\d+/, '')} ${slot}` });
          const killed = await work(id);
          return { failed: this.commandFails, killed };
        },
        kill: (id) => stopped.get(id)?.(),
        sweep: () => Promise.resolve(),
        close: () => {
          for (const stop of stopped.values()) stop();
          return Promise.resolve();
        },
      },
    };
  }

  #row(run: string): RunRow | null {
    const state = this.runs.get(run);
    if (state === undefined) return null;
    return { id: run, state, reason: null, usage: NO_USAGE } as RunRow;
  }

  async #deed(term: { alive: boolean }, deed: Omit<Done, 'at'>): Promise<void> {
    await this.#step(term);
    this.done.push({ ...deed, at: this.clock.now() });
    await this.#step(term);
  }

  /** Death comes between two steps: what is after it never happens. */
  async #step(term: { alive: boolean }): Promise<void> {
    if (!term.alive) await never();
    this.steps += 1;
    if (this.steps < this.dieAt) return;
    this.dieAt = Number.POSITIVE_INFINITY;
    await this.kill();
    await never();
  }

  #clockOf(term: { alive: boolean }): VirtualClock {
    const { clock } = this;
    return {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      sleep: async (ms: number, signal?: AbortSignal) => {
        await clock.sleep(ms, signal);
        if (!term.alive) await never();
      },
    } as VirtualClock;
  }

  #journalOf(term: { alive: boolean }, journal: Journal): Journal {
    return {
      append: (record: Parameters<Journal['append']>[0]) => {
        const durable = (async () => {
          await this.#step(term);
          const seq = await journal.append(record).durable;
          await this.#step(term);
          return seq;
        })();
        return { seq: 0, durable };
      },
    } as unknown as Journal;
  }
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

/** All of a wish but its name and its time. */
export const PLAIN_WISH: Omit<JobWish, 'name'> = {
  tz: 'UTC',
  work: { kind: 'command', command: 'true' },
  overlap: 'skip',
  catchUp: { kind: 'one' },
  onCrash: 'resume',
  jitterMs: 0,
  maxRuns: null,
  timeLimitMs: null,
  budgetUsd: null,
  model: null,
  mode: null,
  attended: false,
  notify: null,
  by: 'user',
};
