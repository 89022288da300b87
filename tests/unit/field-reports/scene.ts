/** A run in memory with the real decisions, journal and mailboxes, and what a test wants to see of it. */
import type { ActorRun } from '../../../src/actors/index.ts';
import { readJournal } from '../../../src/journal/index.ts';
import type { Envelope, Lane, RunFile, StoredRunRecord } from '../../../src/protocol/index.ts';
import type { CommandWork } from '../../../src/supervisor/effects/executor.ts';
import type { CommandOutcome } from '../../../src/supervisor/inbox.ts';
import type { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { DIRECTORY, newDisk } from '../../sim/journal/explorer.ts';
import type { Fact, FactOf } from '../../sim/journal/mail-facts.ts';
import { MailWorld } from '../../sim/journal/mail-world.ts';
import { faithful } from '../../sim/journal/mutants.ts';

export interface SceneOptions {
  readonly disk?: MemoryFiles;
  readonly run?: ActorRun;
  readonly file?: RunFile;
  readonly commands?: CommandWork;
}

export class Scene {
  readonly disk: MemoryFiles;
  readonly world: MailWorld;
  readonly facts: Fact[];

  private constructor(parts: { disk: MemoryFiles; world: MailWorld; facts: Fact[] }) {
    this.disk = parts.disk;
    this.world = parts.world;
    this.facts = parts.facts;
  }

  static async open(options: SceneOptions = {}): Promise<Scene> {
    const disk = options.disk ?? (await newDisk('scene'));
    const facts: Fact[] = [];
    const world = await MailWorld.open({
      ...options,
      disk,
      seed: 'scene',
      mutate: faithful,
      facts,
      unreadMax: 10_000,
    });
    await world.begin();
    return new Scene({ disk, world, facts });
  }

  /** The next process finds the disk as a kill leaves it. */
  killed(options: Omit<SceneOptions, 'disk'> = {}): Promise<Scene> {
    return Scene.open({ ...options, disk: this.disk.crash('kill') });
  }

  async send(to: string, text: string, more: { id?: string; lane?: Lane } = {}): Promise<void> {
    const id = more.id ?? `${to}-${this.facts.length}`;
    await this.world.offer({ id, to, text, lane: more.lane ?? 'normal' });
  }

  of<T extends Fact['type']>(type: T): FactOf<T>[] {
    return this.facts.filter((fact): fact is FactOf<T> => fact.type === type);
  }

  async records(): Promise<StoredRunRecord[]> {
    await this.world.settle();
    const records: StoredRunRecord[] = [];
    for await (const record of readJournal({ files: this.disk, directory: DIRECTORY })) {
      records.push(record as unknown as StoredRunRecord);
    }
    return records;
  }

  /** Letters that are on record for a mailbox, in order. */
  async box(to: string): Promise<{ id: string; from: string; type: string; text: string }[]> {
    return (await this.records()).flatMap(({ mail }) =>
      (mail ?? [])
        .filter((one) => one.to === to)
        .map(({ id, from, type, body }) => ({ id, from, type, text: body.text })),
    );
  }
}

/** What a process that ended well tells. */
export const ended: CommandOutcome = {
  code: 0,
  signal: null,
  why: 'exit',
  left: [],
  text: '',
  cut: false,
  durationMs: 1,
};

const NO_PAGE = { text: '', from: 0, next: 0, size: 0 };

/** Commands that end when the test lets them. */
export class HeldCommands implements CommandWork {
  readonly started: string[] = [];
  #ends: ((outcome: CommandOutcome) => void)[] = [];

  run: CommandWork['run'] = ({ command }) => {
    this.started.push(command);
    return new Promise((resolve) => this.#ends.push(resolve));
  };

  kill(): void {
    this.letGo();
  }

  async idle(): Promise<void> {
    this.letGo();
  }

  async clear(): Promise<void> {}

  readPage: CommandWork['readPage'] = async () => NO_PAGE;

  async close(): Promise<readonly number[]> {
    this.letGo();
    return [];
  }

  /** All that run, in one go. */
  letGo(): void {
    const ends = this.#ends;
    this.#ends = [];
    for (const end of ends) end(ended);
  }
}

/** Takes mail in with an answer that asks for nothing, until it is stopped; calls back with what it got. */
export function reader(onMail: (name: string, mail: readonly Envelope[]) => void): ActorRun {
  return async (start, port, signal) => {
    for (;;) {
      await port.waitForMail(signal);
      const mail = port.takeMail();
      onMail(start.name, mail);
      const took = mail.map(({ n }) => n);
      await port.request({ type: 'delivered', n: took });
      const usage = {
        inputTokens: 0,
        outputTokens: 0,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        costUsd: 0,
        estimated: false,
      };
      const answer = { type: 'answer', task: null, model: 'm', content: [], stop: 'end' } as const;
      await port.request({ type: 'answer', took, entries: [{ ...answer, usage }], usage });
      await port.request({ type: 'idle', why: 'end' });
    }
  };
}
