/**
 * One process's time with a run whose actors ask: the production loop, decisions, queue, looking and book of grants, on two
 * journals of a disk that may die at any of its operations. The policy and what lies in the trees are a simulation's.
 */
import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { type ActorHost, InlineHost } from '../../../src/actors/index.ts';
import { BlobStore, type Journal, openJournal } from '../../../src/journal/index.ts';
import { asActorName, isTroupeError } from '../../../src/kernel/index.ts';
import { teamLayer } from '../../../src/permissions/index.ts';
import { StructuredCodec } from '../../../src/platform/index.ts';
import type {
  Grant,
  GrantScope,
  PathFact,
  PolicySnapshot,
  RunFile,
  StoredRunRecord,
} from '../../../src/protocol/index.ts';
import { AuditBook } from '../../../src/supervisor/audit-book.ts';
import type { CommandWork } from '../../../src/supervisor/effects/executor.ts';
import type { TreeWork } from '../../../src/supervisor/effects/git-effects.ts';
import type { RunEvent } from '../../../src/supervisor/inbox.ts';
import { GrantBook, type PolicySource } from '../../../src/supervisor/index.ts';
import { type Live, makeLive } from '../../../src/supervisor/live.ts';
import { RunLoop } from '../../../src/supervisor/loop.ts';
import { applyRecord, makeRunState, type RunState } from '../../../src/supervisor/state.ts';
import { WorkspaceChain } from '../../../src/supervisor/workspace-chain.ts';
import type { MemoryFiles } from '../../../src/testing/memory-files.ts';
import { SeededRandom } from '../../../src/testing/seeded-random.ts';
import { VirtualClock } from '../../../src/testing/virtual-clock.ts';
import { runFile, task, team } from '../../support/team.ts';
import { DIRECTORY } from '../journal/explorer.ts';
import { instantTrees, NoViews, noFiles, silent } from '../journal/mail-world.ts';
import { queueRun } from './queue-actors.ts';
import type { Fact, SimCall, SimPolicy } from './queue-facts.ts';

export const ASK_MS = 60_000;
export const WORKSPACE = '/workspace/journal';
const LIMITS = { segmentBytesMax: 64_000, reserveBytes: 2000, fullRetryMs: 5 };
const TIP = '0'.repeat(40);
const hash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const hashText = (text: string): string => createHash('sha256').update(text).digest('hex');

export type Plans = ReadonlyMap<string, readonly (readonly SimCall[])[]>;

/** What outlives a process besides the disk: the rules, and what lies in the trees. */
export interface Outside {
  policy: SimPolicy;
  /** A link lies in the way of `src`. */
  swapped: boolean;
  /** So many looks at the disk fail. */
  failing: number;
}

function queueFile(plans: Plans): RunFile {
  const names = [...plans.keys()];
  const tasks = names.map((name) => task({ id: `t-${name}`, attempts: 8, timeoutMs: 3_600_000 }));
  const whole = team({
    tasks,
    limits: { parallel: names.length + 1, turns: 600, depth: 2, fanout: 4 },
    permissions: { default: 'ask', rules: [], askTimeoutMs: ASK_MS },
  });
  const { implementer } = whole.agents;
  if (implementer === undefined) throw new Error('no profile');
  const agents = { ...whole.agents, tester: { ...implementer, name: 'tester' } };
  const teammates = names.map((name, index) => ({
    name: asActorName(name),
    agent: index % 3 === 2 ? 'tester' : 'implementer',
  }));
  const file = runFile({
    id: 'sim',
    team: { ...whole, agents, teammates },
    baseCommit: TIP,
    workspace: '/w',
    treesRoot: '/t',
  });
  return { ...file, attended: true };
}

function snapshotOf({ revision, allow, deny }: SimPolicy, file: RunFile): PolicySnapshot {
  const rule = (effect: 'allow' | 'deny') => (command: string) => ({
    id: `${effect}-${command}`,
    effect,
    tool: 'bash',
    argv: [command],
    reason: null,
  });
  const rules = [...deny.map(rule('deny')), ...allow.map(rule('allow'))];
  const part = { version: 1, defaults: {}, actors: {}, profiles: {}, lift: [], rules } as const;
  const user = { name: 'user', origin: '/policy.yaml', file: part, trusted: true } as const;
  return { revision, layers: [user, teamLayer(file.team.permissions, null)], pins: {} };
}

export interface QueueOptions {
  readonly disk: MemoryFiles;
  readonly seed: string;
  readonly plans: Plans;
  readonly facts: Fact[];
  readonly outside: Outside;
  /** Default: actors that make the calls of their plans, trees and commands that are ready at once. */
  readonly parts?: WorldParts;
}

/** Another team, and another outside for it. */
export interface WorldParts {
  readonly file: RunFile;
  readonly clock: VirtualClock;
  readonly host: ActorHost;
  readonly git: TreeWork;
  readonly processes: CommandWork;
  /** Where the integration branch is. */
  readonly tip: string;
  readonly onRecord: (record: StoredRunRecord) => void;
}

export class QueueWorld {
  readonly clock: VirtualClock;
  readonly state: RunState;
  readonly live: Live;
  readonly book: GrantBook;
  /** Ids of grants as the journal of the workspace has them, one for each time. */
  readonly given: string[];
  /** Durable ones, in order. */
  readonly records: StoredRunRecord[];
  readonly #loop: RunLoop;
  readonly #facts: Fact[];
  readonly #deaths: Map<string, AbortController> = new Map();
  readonly #journals: readonly Journal[];
  isOver = false;

  private constructor(parts: {
    options: QueueOptions;
    clock: VirtualClock;
    file: RunFile;
    state: RunState;
    records: StoredRunRecord[];
    book: GrantBook;
    given: string[];
    audit: AuditBook;
    journals: readonly [Journal, Journal];
  }) {
    const { options, clock, file, state, records, book, given, audit, journals } = parts;
    const { disk, facts, outside, plans, parts: other } = options;
    this.clock = clock;
    this.state = state;
    this.records = records;
    this.book = book;
    this.given = given;
    this.#facts = facts;
    this.#journals = journals;
    const [journal] = journals;
    const source = policyOf(outside, file);
    this.live = makeLive({
      startedMonotonic: clock.monotonicMs(),
      wallUsedMs: state.wallMs,
      tip: other?.tip ?? TIP,
      policy: snapshotOf(outside.policy, file),
      hash: hashText,
      grants: book.grants,
    });
    const said = new Set(records.flatMap(callsSaid));
    const planned = new InlineHost({
      clock,
      run: queueRun({
        facts,
        plans,
        openCalls: (name) => [...(state.openCalls.get(asActorName(name))?.keys() ?? [])],
        wasSaid: (call) => said.has(call),
        hasTask: (name) => state.claims.has(asActorName(name)),
        isSwapped: () => outside.swapped,
        deathOf: (name) => this.#deathOf(name).signal,
      }),
    });
    const host = other?.host ?? planned;
    this.#loop = new RunLoop(state, this.live, {
      clock,
      logger: silent,
      journal,
      git: other?.git ?? instantTrees(),
      blobs: new BlobStore({ files: disk, directory: '/runs/sim/blobs', hash }),
      processes: other?.processes ?? quickCommands(facts),
      views: new NoViews({ files: noFiles, clock, logger: silent, directory: '' }),
      format: { codec: new StructuredCodec(), version: 'sim' },
      damage: { known: [], more: Promise.resolve([]) },
      hosts: { thread: host, pool: host },
      directories: { journal: DIRECTORY, outputs: '/o' },
      policy: { source, mark: source.mark(file) },
      audit: { keys: audit.keysOf('sim'), head: (tip) => audit.head('sim', tip) },
      grants: { give: (grant) => this.#keep(grant), used: (id, at) => book.used(id, at) },
      onRecord: (record) => {
        records.push(record);
        for (const call of callsSaid(record)) said.add(call);
        other?.onRecord(record);
      },
      onLive: () => undefined,
    });
    const over = (): void => {
      this.isOver = true;
    };
    this.#loop.finished.then(over, over);
  }

  static async open(options: QueueOptions): Promise<QueueWorld> {
    const { disk, seed, facts, outside, plans } = options;
    facts.push({ type: 'life' }, { type: 'policy', policy: outside.policy });
    const clock = options.parts?.clock ?? new VirtualClock();
    const file = options.parts?.file ?? queueFile(plans);
    const state = makeRunState(file);
    const records: StoredRunRecord[] = [];
    const book = new GrantBook(clock);
    const given: string[] = [];
    const chain = new WorkspaceChain();
    const audit = await AuditBook.open({
      files: disk,
      clock,
      random: new SeededRandom(`${seed}/audit`),
      logger: silent,
      sha256: hash,
      directory: '/troupe',
    });
    const shared = { files: disk, clock, limits: LIMITS };
    const workspace = await openJournal({
      ...shared,
      random: new SeededRandom(`${seed}/workspace`),
      directory: WORKSPACE,
      name: 'workspace',
      onRecord: (record) => {
        noteGiven(given, record);
        book.take(record);
        chain.take(record);
      },
    });
    workspace.subscribe((record) => noteGiven(given, record));
    chain.open(workspace, audit);
    book.open(chain);
    const journal = await openJournal({
      ...shared,
      random: new SeededRandom(seed),
      directory: DIRECTORY,
      name: 'sim',
      onRecord: (record) => {
        const stored = record as unknown as StoredRunRecord;
        records.push(stored);
        applyRecord(state, stored);
        options.parts?.onRecord(stored);
      },
    });
    return new QueueWorld({
      options,
      clock,
      file,
      state,
      records,
      book,
      given,
      audit,
      journals: [journal, workspace],
    });
  }

  async begin(): Promise<void> {
    const first = this.state.run.startedAt === null;
    this.#loop.post(first ? { type: 'started' } : { type: 'resumed', left: [], damage: [] });
    await this.settle();
  }

  /** All that can happen without time passing has happened: nothing is on its way to the disk, nobody moves. */
  async settle(): Promise<void> {
    for (let quiet = 0, seen = -1; quiet < 3; ) {
      await turn();
      const now =
        this.#facts.length +
        this.records.length +
        this.#journals.reduce((sum, one) => sum + one.queuedBytes, 0);
      quiet = now === seen ? quiet + 1 : 0;
      seen = now;
    }
  }

  /** Something happens to the run. */
  post(event: RunEvent): void {
    this.#loop.post(event);
  }

  /** A client asks for something; rejects as it is refused. */
  async ask(make: (token: number) => RunEvent): Promise<unknown> {
    return (await this.#loop.ask(make)).value;
  }

  /** A client answers; what it is told becomes a fact. */
  async answer(given: {
    readonly id: string;
    readonly digest: string | null;
    readonly effect: 'allow' | 'deny';
    readonly scope: GrantScope;
    readonly by: string;
  }): Promise<void> {
    const { id, digest, effect, scope, by } = given;
    try {
      const answered = await this.#loop.ask((token) => ({
        type: 'ask.answer',
        token,
        days: 7,
        reason: null,
        ...given,
      }));
      const { grant } = answered.value as { readonly grant: string | null };
      this.#facts.push({ type: 'answered', ask: id, by, effect, digest, grant, scope });
    } catch (error) {
      const code = isTroupeError(error) ? error.code : String(error);
      const data = isTroupeError(error) ? (error.data as { readonly by?: string } | undefined) : {};
      this.#facts.push({ type: 'refused', ask: id, by, code, first: data?.by ?? null });
    }
  }

  /** As `Supervisor.revokeGrant`. */
  async revoke(id: string): Promise<void> {
    try {
      let found = await this.book.revoke(id, 'user');
      if (this.state.asks.grants.has(id)) {
        await this.#loop.ask((token) => ({ type: 'grant.revoke', token, id, by: 'user' }));
        found = true;
      }
      if (found) this.#facts.push({ type: 'revoked', grant: id });
    } catch {
      // The run has ended meanwhile.
    }
  }

  async write(to: string, lane: 'normal' | 'interrupt'): Promise<void> {
    const event = { type: 'send', to, text: 'go on', lane, id: null } as const;
    await this.#loop.ask((token) => ({ ...event, token })).catch(() => undefined);
  }

  async stopActor(name: string): Promise<void> {
    const event = { type: 'stop.actor', name, now: true, by: 'user' } as const;
    await this.#loop.ask((token) => ({ ...event, token })).catch(() => undefined);
  }

  /** Its thread ends with an error. */
  killActor(name: string): void {
    this.#deaths.get(name)?.abort();
    this.#deaths.delete(name);
  }

  /** An orderly end of this process. */
  async stop(now: boolean): Promise<void> {
    this.#loop.post({ type: 'stop', now, by: 'user' });
    for (let step = 0; !this.isOver && step < 50; step += 1) await this.clock.advance(1_000);
    await this.#loop.finished.catch(() => undefined);
    await this.#journals[1]?.close();
  }

  #deathOf(name: string): AbortController {
    const death = new AbortController();
    this.#deaths.set(name, death);
    return death;
  }

  /** As `Supervisor.keepGrant`. */
  async #keep(grant: Grant): Promise<void> {
    await this.book.give(grant);
    if (this.state.run.ended === null) this.#loop.post({ type: 'rules.changed', kept: grant.id });
  }
}

function callsSaid({ entries = [] }: StoredRunRecord): string[] {
  return entries.flatMap((entry) =>
    entry.type === 'answer'
      ? entry.content.flatMap((block) => (block.type === 'call' ? [block.id] : []))
      : [],
  );
}

function policyOf(outside: Outside, file: RunFile): PolicySource {
  const look = (path: string): PathFact => {
    if (outside.failing > 0) {
      outside.failing -= 1;
      throw new Error('EIO: the disk is broken');
    }
    const at = path.lastIndexOf('/src/');
    const real =
      outside.swapped && at > 0 ? `${path.slice(0, at)}/other/${path.slice(at + 5)}` : path;
    const name = /[^/]*$/.exec(path)?.[0] ?? '';
    const kind = !name.includes('.') ? 'directory' : path.startsWith('/data/') ? 'file' : 'missing';
    return { path: real, kind, links: 1 };
  };
  return {
    disk: { look, hash: () => null },
    mark: () => outside.policy.revision,
    touch: () => undefined,
    load: async () => snapshotOf(outside.policy, file),
    reload: async () => {
      const { policy } = outside;
      await turn();
      return snapshotOf(policy, file);
    },
  };
}

/** Each ends at once, with success. */
function quickCommands(facts: Fact[]): CommandWork {
  const ended = { code: 0, signal: null, why: 'exit', left: [], text: '', cut: false } as const;
  return {
    run: async ({ id, command }) => {
      facts.push({ type: 'started', proc: id, command });
      return { ...ended, durationMs: 1 };
    },
    kill: () => undefined,
    idle: async () => undefined,
    clear: async () => undefined,
    readPage: async () => ({ text: '', from: 0, next: 0, size: 0 }),
    close: async () => [],
  };
}

function noteGiven(given: string[], record: { readonly [field: string]: unknown }): void {
  if (record['what'] === 'grant.given') given.push(String(record['grant']));
}
