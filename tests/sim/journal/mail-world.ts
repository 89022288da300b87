/**
 * One process's time with a simulated run: the production loop, decisions, journal and mailboxes on a disk that may fail
 * or die. Trees and commands answer at once; one command never ends, so that the run does not either.
 */

import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { type ActorHost, type ActorRun, InlineHost } from '../../../src/actors/index.ts';
import {
  BlobStore,
  type Journal,
  openJournal,
  type StoredRecord,
} from '../../../src/journal/index.ts';
import {
  asActorName,
  type FileHandle,
  type Files,
  isTroupeError,
  type Logger,
} from '../../../src/kernel/index.ts';
import { hasUnread, mailboxNames, makeMailState } from '../../../src/mailbox/index.ts';
import { StructuredCodec } from '../../../src/platform/index.ts';
import type { Lane, RunFile, StoredRunRecord } from '../../../src/protocol/index.ts';
import type { CommandWork } from '../../../src/supervisor/effects/executor.ts';
import type { TreeWork } from '../../../src/supervisor/effects/git-effects.ts';
import { ViewFiles } from '../../../src/supervisor/effects/views.ts';
import type { CommandOutcome, RunEvent } from '../../../src/supervisor/inbox.ts';
import { makeLive } from '../../../src/supervisor/live.ts';
import { RunLoop } from '../../../src/supervisor/loop.ts';
import type { SnapshotFormat } from '../../../src/supervisor/snapshot.ts';
import { applyRecord, makeRunState, type RunState } from '../../../src/supervisor/state.ts';
import type { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { runFile, task, team } from '../../support/team.ts';
import type { Mutate } from './explorer.ts';
import { DIRECTORY } from './explorer.ts';
import { SimHost } from './mail-actors.ts';
import type { Fact } from './mail-facts.ts';

/** So small that senders meet it. */
const UNREAD_MAX = 6;

const LIMITS = { segmentBytesMax: 12_000, reserveBytes: 2000, fullRetryMs: 5 };
const BLOBS = '/runs/sim/blobs';
const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const TIP = '0'.repeat(40);

/** A lead, `ada` and `bo`; a task that is never done, unless others are given. */
export function simRun(parts: Parameters<typeof team>[0] = {}): RunFile {
  const members = { lead: true, teammates: ['ada', 'bo'] };
  const tasks = [task({ id: 'hold', run: 'hold' })];
  return runFile({
    id: 'sim',
    team: team({ ...members, tasks, ...parts }),
    baseCommit: TIP,
    workspace: '/w',
    treesRoot: '/t',
  });
}

const FORMAT: SnapshotFormat = { codec: new StructuredCodec(), version: 'sim' };

const RUN = simRun();

export interface Letter {
  readonly id: string;
  readonly to: string;
  readonly text: string;
  readonly lane: Lane;
}

export interface WorldOptions {
  readonly disk: MemoryFiles;
  readonly seed: string;
  readonly mutate: Mutate;
  readonly facts: Fact[];
  /** Default: the actors of `mail-actors.ts`. */
  readonly run?: ActorRun;
  /** Default: as `simRun()`. */
  readonly file?: RunFile;
  /** Default: `UNREAD_MAX`. */
  readonly unreadMax?: number;
  /** Default: as in `LIMITS`. */
  readonly reserveBytes?: number;
  /** Default: they never end. */
  readonly commands?: CommandWork;
}

export class MailWorld {
  readonly clock: VirtualClock;
  readonly journal: Journal;
  readonly state: RunState;
  readonly blobs: BlobStore;
  /** As recovery gave them. */
  readonly records: readonly StoredRecord[];
  readonly #loop: RunLoop;
  readonly #facts: Fact[];
  #over = false;

  private constructor(parts: {
    clock: VirtualClock;
    journal: Journal;
    state: RunState;
    records: readonly StoredRecord[];
    options: WorldOptions;
  }) {
    const { clock, journal, state, records, options } = parts;
    const { facts, run, commands } = options;
    this.clock = clock;
    this.journal = journal;
    this.state = state;
    this.records = records;
    this.blobs = new BlobStore({ files: options.mutate(options.disk), directory: BLOBS, hash });
    this.#facts = facts;
    const openCalls = (name: string): string[] => [
      ...(state.openCalls.get(asActorName(name))?.keys() ?? []),
    ];
    const host: ActorHost =
      run === undefined
        ? new SimHost({ facts, openCalls: (name) => openCalls(name) as never })
        : new InlineHost({ run, clock });
    const live = makeLive({ startedMonotonic: 0, wallUsedMs: 0, tip: TIP });
    this.#loop = new RunLoop(state, live, {
      clock,
      logger: silent,
      journal,
      git: instantTrees(),
      blobs: this.blobs,
      processes: commands ?? endlessCommands(),
      views: new NoViews({ files: noFiles, clock, logger: silent, directory: '' }),
      format: FORMAT,
      damage: { known: [], more: Promise.resolve([]) },
      hosts: { thread: host, pool: host },
      directories: { journal: DIRECTORY, outputs: '/o' },
      onRecord: () => undefined,
      onLive: () => undefined,
    });
    const over = (): void => {
      this.#over = true;
    };
    this.#loop.finished.then(over, over);
  }

  /** The run has ended, or stopped by itself. */
  get isOver(): boolean {
    return this.#over;
  }

  /** Recovers the journal; nothing moves before `begin`. */
  static async open(options: WorldOptions): Promise<MailWorld> {
    const { disk, seed, mutate, facts } = options;
    facts.push({ type: 'life' });
    const clock = new VirtualClock();
    const state: RunState = {
      ...makeRunState(options.file ?? RUN),
      mail: makeMailState({ unreadMax: options.unreadMax ?? UNREAD_MAX }),
    };
    const records: StoredRecord[] = [];
    const journal = await openJournal({
      files: watchSyncs(mutate(disk), facts),
      clock,
      random: new SeededRandom(seed),
      directory: DIRECTORY,
      name: 'sim',
      limits: { ...LIMITS, reserveBytes: options.reserveBytes ?? LIMITS.reserveBytes },
      onRecord: (record) => {
        records.push(record);
        applyRecord(state, record as unknown as StoredRunRecord);
      },
    });
    return new MailWorld({ clock, journal, state, records, options });
  }

  async begin(): Promise<void> {
    const first = this.state.run.startedAt === null;
    this.#loop.post(first ? { type: 'started' } : { type: 'resumed', left: [], damage: [] });
    await this.settle();
  }

  /** Everything that can happen without time passing has happened. */
  async settle(): Promise<void> {
    await turn();
    await turn();
  }

  async offer(letter: Letter): Promise<void> {
    const { id, to, text } = letter;
    this.#facts.push({ type: 'offered', id, to, text });
    try {
      const answered = await this.#loop.ask((token) => ({ type: 'send', token, ...letter }));
      const answer = answered.value as {
        readonly dup?: true;
        readonly n: number;
        readonly state: 'accepted' | 'dead';
      };
      if (answer.dup === true) this.#facts.push({ type: 'duplicate', id });
      else this.#facts.push({ type: answer.state, id, to, n: answer.n });
    } catch (error) {
      const code = isTroupeError(error) ? error.code : 'other';
      this.#facts.push({ type: 'refused', id, code });
    }
  }

  /** Whether an actor has mail that it did not answer. */
  get hasMail(): boolean {
    return mailboxNames(this.state.mail).some((name) => hasUnread(this.state.mail, name));
  }

  /** Something happens to the run. */
  post(event: RunEvent): void {
    this.#loop.post(event);
  }

  /** Resolves when the run has ended. */
  get finished(): Promise<void> {
    return this.#loop.finished;
  }

  async stopActor(name: string): Promise<void> {
    const event = { type: 'stop.actor', name, now: true, by: 'the simulation' } as const;
    await this.#loop.ask((token) => ({ ...event, token })).catch(() => undefined);
  }

  /** An orderly end of this process. */
  async stop(): Promise<void> {
    this.#loop.post({ type: 'stop', now: true, by: 'the simulation' });
    await this.#loop.finished.catch(() => undefined);
  }
}

/** Tells of a failed sync, and of a file that is touched after its sync failed. */
function watchSyncs(files: Files, facts: Fact[]): Files {
  return {
    open: async (path, mode) => watchHandle(await files.open(path, mode), path, facts),
    readFile: (path) => files.readFile(path),
    stat: (path) => files.stat(path),
    list: (path) => files.list(path),
    makeDirectory: (path) => files.makeDirectory(path),
    rename: (from, to) => files.rename(from, to),
    link: (from, to) => files.link(from, to),
    remove: (path) => files.remove(path),
    syncDirectory: (path) => files.syncDirectory(path),
    watch: (path, onChange, signal) => files.watch(path, onChange, signal),
  };
}

function watchHandle(handle: FileHandle, path: string, facts: Fact[]): FileHandle {
  let failed = false;
  const touched = (): void => {
    if (failed) facts.push({ type: 'retried', path });
  };
  return {
    write: (bytes) => {
      touched();
      return handle.write(bytes);
    },
    read: (position, length) => handle.read(position, length),
    datasync: async () => {
      touched();
      try {
        await handle.datasync();
      } catch (error) {
        failed = true;
        facts.push({ type: 'failed', code: 'sync' });
        throw error;
      }
    },
    truncate: (size) => handle.truncate(size),
    size: () => handle.size(),
    close: () => handle.close(),
  };
}

export const silent: Logger = { log: () => undefined };

/** Views can be made anew; the disk has enough to do without them. */
export class NoViews extends ViewFiles {
  override note(): void {
    // Not wanted here.
  }
  override noteTasks(): void {
    // Not wanted here.
  }
  override async flush(): Promise<void> {
    // Not wanted here.
  }
  override async close(): Promise<void> {
    // Not wanted here.
  }
}

const never = (): never => {
  throw new Error('views are not written here');
};
export const noFiles: Files = {
  open: never,
  readFile: never,
  stat: never,
  list: never,
  makeDirectory: never,
  rename: never,
  link: never,
  remove: never,
  syncDirectory: never,
  watch: never,
};

export function instantTrees(): TreeWork {
  return {
    prepare: async ({ path, task }) => ({
      kind: 'ready',
      path,
      branch: `b/${task}`,
      start: TIP,
      note: null,
    }),
    commit: async () => ({ kind: 'unchanged' }),
    restore: async () => undefined,
    diff: async () => ({ ok: true, text: '' }),
    merge: async () => ({ kind: 'nothing', at: TIP }),
    advance: async () => ({ kind: 'moved' }),
    view: async ({ path }) => ({ kind: 'ready', path, branch: '', start: TIP, note: null }),
    scratch: async () => ({ path: '/s', drop: async () => undefined }),
    drop: async () => ({ removed: true, saved: null, text: '' }),
  };
}

function endlessCommands(): CommandWork {
  let end: (outcome: CommandOutcome) => void = () => undefined;
  const killed = { signal: 'SIGKILL', why: 'killed', left: [], text: '', cut: false } as const;
  return {
    run: () =>
      new Promise((resolve) => {
        end = resolve;
      }),
    kill: () => end({ code: null, durationMs: 0, ...killed }),
    idle: async () => undefined,
    clear: async () => undefined,
    readPage: async () => ({ text: '', from: 0, next: 0, size: 0 }),
    close: async () => {
      end({ code: null, durationMs: 0, ...killed });
      return [];
    },
  };
}
