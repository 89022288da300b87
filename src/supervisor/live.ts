/**
 * What this process alone knows of a run: threads, operations in flight, mail handed to a thread. It is empty after a
 * restart, and everything in it is found again from the facts; nothing may rest on it alone.
 */

import { type Timetable, Zones } from '../cron/index.ts';
import {
  type ActorName,
  type CallId,
  type ErrorShape,
  InvariantError,
  type ProcId,
  type TaskId,
} from '../kernel/index.ts';
import type { HandedOut } from '../mailbox/index.ts';
import type {
  ActorReply,
  ActorRequest,
  ActorStatus,
  CallFacts,
  CronTiming,
  DeathCause,
  Gate,
  Grant,
  Hook,
  PolicySnapshot,
  Reason,
  ReserveRequest,
  RunJob,
  SpendChange,
} from '../protocol/index.ts';
import type { Tightened } from './hooks.ts';
import type { CommandOutcome, Token } from './inbox.ts';
import { PASSIVATE_MS } from './limits.ts';

export interface LiveActor {
  readonly name: ActorName;
  readonly incarnation: number;
  readonly epoch: number;
  phase: Extract<
    ActorStatus,
    'starting' | 'idle' | 'thinking' | 'tooling' | 'waiting' | 'stopping'
  >;
  since: string;
  /** Mailbox positions handed to the thread. */
  readonly posted: HandedOut;
  /** Last heartbeat seen, and the monotonic time when it had moved. */
  beat: number;
  beatAt: number;
  /** Monotonic time of the last word from it or to it. */
  quietAt: number;
  /** How manieth answer of its task it has asked for last; left out: none yet. */
  turn?: number;
  /** It is being ended on purpose; what its end will mean. */
  doom: {
    readonly kind: 'stopped' | 'crashed' | 'passivated';
    readonly text: string;
    /** Of a death that was brought about. */
    readonly cause?: DeathCause;
  } | null;
}

/** A call that the supervisor runs for an actor and has not answered yet. */
export interface PendingAct {
  readonly name: ActorName;
  readonly incarnation: number;
  readonly request: number;
  readonly call: CallId;
  readonly tool: string;
  /** The task that it is used on; null without one. */
  readonly task: TaskId | null;
}

/** A request that an ask keeps from being answered. */
export interface WaitingCall {
  readonly name: ActorName;
  readonly incarnation: number;
  readonly request: number;
  readonly call: CallId;
  readonly asked: Extract<ActorRequest, { type: 'permit' | 'act' }>;
  readonly disk: CallFacts | undefined;
  /** What hooks want besides what the rules say. */
  readonly tightened: Tightened | undefined;
  /** Monotonic. */
  readonly since: number;
  /** Its ask has ended, and the disk is being looked at before it goes on. */
  looking: boolean;
}

/** A call whose hooks run; `reply` is what waits for hooks that follow it. */
export interface HookingCall {
  readonly name: ActorName;
  readonly incarnation: number;
  readonly request: number;
  readonly asked: Extract<ActorRequest, { type: 'permit' | 'act' }> | null;
  readonly reply: ActorReply | null;
  /** Id of the work. */
  readonly work: string;
}

/** A request for a model that may not go out yet. */
export interface HeldRequest {
  readonly name: ActorName;
  readonly incarnation: number;
  readonly request: number;
  readonly ask: ReserveRequest;
  /** Monotonic. */
  readonly since: number;
  /** Its provider was not to be asked when it came. */
  wasHeld: boolean;
}

export interface KeptPrefix {
  readonly ahead: {
    readonly id: string;
    readonly name: ActorName;
    readonly incarnation: number;
  } | null;
  /** Monotonic. */
  readonly at: number;
}

/** The way out to the models. */
export interface Outlet {
  /** Those that wait, by their ids, oldest first. */
  readonly queue: Map<string, HeldRequest>;
  /** Providers that want to be left alone, until which monotonic time. */
  readonly holds: Map<string, number>;
  /** When each provider answered last (monotonic), and how often in a row it was found not to answer since. */
  readonly heard: Map<string, { readonly at: number; readonly down: number }>;
  /** Requests that went out without a budget, still to be recorded. */
  readonly owed: { readonly actor: LiveActor; readonly change: SpendChange }[];
  /**
   * Beginnings of requests that providers keep: who went ahead with it and when; or, once that answer has begun, when one
   * went out last.
   */
  readonly prefixes: Map<string, KeptPrefix>;
  /** Something has changed since the queue was looked at. */
  dirty: boolean;
  /** Monotonic time at which it is looked at again by itself. */
  timerAt: number | null;
}

export interface GateProgress {
  readonly commit: string | null;
  index: number;
  tries: number;
}

/** One candidate, merged on the one before it. */
export interface MergeCar {
  readonly task: TaskId;
  readonly fence: number;
  readonly from: string;
  readonly to: string;
}

export interface GateRun {
  readonly gate: Extract<Gate, { kind: 'command' }>;
  readonly outcome: CommandOutcome;
  readonly id: ProcId;
  readonly tries: number;
}

export interface MergeTrain {
  cars: readonly MergeCar[];
  /** Nothing is merged on top any more. */
  closed: boolean;
  /** So many of the cars, from the first on, are verified now. */
  count: number;
  /** So many of them together fail; fewer may. */
  failed: (GateRun & { readonly count: number }) | null;
  progress: GateProgress;
}

export type CommandPurpose =
  | { readonly kind: 'task'; readonly task: TaskId; readonly fence: number }
  | {
      readonly kind: 'gate';
      readonly task: TaskId;
      readonly fence: number;
      readonly stage: 'task' | 'merge';
      readonly gate: string;
    }
  | { readonly kind: 'finish'; readonly gate: string; readonly commit: string }
  | { readonly kind: 'bash'; readonly act: PendingAct }
  | { readonly kind: 'background' };

export interface Live {
  /** By which calls are judged now; null: by the team file alone, for want of a source. */
  policy: PolicySnapshot | null;
  readonly actors: Map<ActorName, LiveActor>;
  /** Subagents that live, with the fence of the claim in whose tree they work; 0: they only read. */
  readonly helpers: Map<ActorName, number>;
  readonly acts: Map<CallId, PendingAct>;
  /** Calls that wait for a person, by call. */
  readonly waiting: Map<CallId, WaitingCall>;
  /** What is told to actors that are paused, when they go on. */
  readonly held: Map<ActorName, { readonly waiting: WaitingCall; readonly text: string }>;
  readonly outlet: Outlet;
  /** Grants of the workspace, by id; kept by the supervisor for all of its runs. */
  readonly grants: ReadonlyMap<string, Grant>;
  /** Rules or grants have changed since what waits was judged. */
  asksDirty: boolean;
  /** SHA-256 in hex. */
  readonly hash: (text: string) => string;
  /** Of the user, of the team file, and of the repository when it is trusted. */
  readonly hooks: readonly Hook[];
  /** Calls that hooks look at, by call. */
  readonly hooking: Map<CallId, HookingCall>;
  /** Tasks that `task_ready` was told of, with their ends until then. */
  readonly readyTold: Map<TaskId, number>;
  readonly commands: Map<ProcId, CommandPurpose>;
  /** Calls that wait for the end of a command in the background. */
  readonly awaited: Map<CallId, ProcId>;
  /** Commands in the background that are being ended because what they belong to is over. */
  readonly ending: Set<ProcId>;
  /** What is in flight for a task; at most one thing. */
  readonly taskOps: Map<TaskId, 'prepare' | 'command' | 'commit' | 'gate' | 'merge' | 'advance'>;
  /** Fence of the claim for which the tree was prepared. */
  readonly prepared: Map<TaskId, number>;
  /** Fence of the claim whose end was committed. */
  readonly committed: Map<TaskId, number>;
  readonly gates: Map<TaskId, GateProgress>;
  readonly dirty: Set<TaskId>;
  readonly mergeQueue: TaskId[];
  /** Merges that are computed and wait for their gates. */
  merge: MergeTrain | null;
  /** Why no merge is begun now; looked at again with the next sweep. */
  mergeHold: { readonly text: string; readonly waiting: boolean; readonly times: number } | null;
  /** Who waits for the end of an actor that was stopped. */
  readonly stops: Map<ActorName, readonly Token[]>;
  readonly mailDirty: Set<ActorName>;
  /** Monotonic time before which a letter that was in hand at an end is not given again, by position. */
  readonly retries: Map<ActorName, Map<number, number>>;
  /** Monotonic time before which an actor that died is not started again. */
  readonly resting: Map<ActorName, number>;
  /** A task that could be begun when the last sweeps looked, and how often in a row. */
  stalled: { readonly task: TaskId; readonly times: number } | null;
  /** Of the jobs that actors made: monotonic time of the next look, and whether it may have become another. */
  readonly jobs: {
    at: number | null;
    dirty: boolean;
    readonly zones: Zones;
    readonly timetables: Map<string, { readonly of: CronTiming; readonly timetable: Timetable }>;
    /** By the call that waits for the workspace journal. */
    readonly asked: Map<CallId, RunJob>;
  };
  /** Monotonic time of the next sweep; null: nothing can fall due by itself. */
  sweepAt: number | null;
  /** To be started even without new mail: their last turn was cut. */
  readonly wake: Set<ActorName>;
  /** Actors without a thread whose conversation is to be compacted once they have one, with what is to be kept above all. */
  readonly compactions: Map<ActorName, string | null>;
  /** Reminders given, by fence. */
  readonly nudges: Map<number, number>;
  /** Monotonic time at which each review must have ended, by its id. */
  readonly reviewsDue: Map<string, number>;
  /** Monotonic start of each claim, by task. */
  readonly claimedAt: Map<TaskId, number>;
  /** Monotonic time at which each open plan, request and shutdown was first seen waiting in this term. */
  readonly askedAt: Map<string, number>;
  view: 'none' | 'preparing' | 'ready' | 'failed';
  /** Times in a row that it could not be made. */
  viewFailures: number;
  /** Trees that are being removed, by owner. */
  readonly drops: Set<string>;
  /** The view lags behind the integration branch. */
  viewStale: boolean;
  finish: GateProgress | null;
  finishBusy: boolean;
  halting: {
    readonly next: 'interrupt' | 'budget' | 'differs' | 'end';
    readonly text: string;
  } | null;
  /** The disk is full: what refuses new work, and whether something that was begun is still waited for. */
  full: { readonly error: ErrorShape; readonly waits: boolean } | null;
  /** Monotonic time at which this term began. */
  readonly startedMonotonic: number;
  /** An actor that has been idle for so long gives its thread back. */
  readonly passivateMs: number;
  /** Wall time that earlier terms used, ms. */
  readonly wallUsedMs: number;
  tip: string;
  /** Level of the sandbox that this process holds commands in. */
  readonly sandbox: number;
}

export function makeLive(options: {
  startedMonotonic: number;
  wallUsedMs: number;
  tip: string;
  policy?: PolicySnapshot | null;
  hash?: (text: string) => string;
  grants?: ReadonlyMap<string, Grant>;
  sandbox?: number;
  hooks?: readonly Hook[];
  passivateMs?: number;
}): Live {
  return {
    policy: options.policy ?? null,
    actors: new Map(),
    helpers: new Map(),
    acts: new Map(),
    waiting: new Map(),
    held: new Map(),
    outlet: makeOutlet(),
    grants: options.grants ?? new Map(),
    asksDirty: false,
    hash: options.hash ?? noHash,
    hooks: options.hooks ?? [],
    hooking: new Map(),
    readyTold: new Map(),
    commands: new Map(),
    awaited: new Map(),
    ending: new Set(),
    taskOps: new Map(),
    prepared: new Map(),
    committed: new Map(),
    gates: new Map(),
    dirty: new Set(),
    mergeQueue: [],
    merge: null,
    mergeHold: null,
    stops: new Map(),
    mailDirty: new Set(),
    retries: new Map(),
    resting: new Map(),
    stalled: null,
    jobs: makeJobs(),
    sweepAt: null,
    wake: new Set(),
    compactions: new Map(),
    nudges: new Map(),
    reviewsDue: new Map(),
    claimedAt: new Map(),
    askedAt: new Map(),
    view: 'none',
    viewFailures: 0,
    drops: new Set(),
    viewStale: false,
    finish: null,
    finishBusy: false,
    halting: null,
    full: null,
    startedMonotonic: options.startedMonotonic,
    passivateMs: options.passivateMs ?? PASSIVATE_MS,
    wallUsedMs: options.wallUsedMs,
    tip: options.tip,
    sandbox: options.sandbox ?? 0,
  };
}

function makeOutlet(): Live['outlet'] {
  return {
    queue: new Map(),
    holds: new Map(),
    heard: new Map(),
    owed: [],
    prefixes: new Map(),
    dirty: false,
    timerAt: null,
  };
}

function makeJobs(): Live['jobs'] {
  return {
    at: null,
    dirty: true,
    zones: new Zones(),
    timetables: new Map(),
    asked: new Map(),
  };
}

function noHash(): never {
  throw new InvariantError('P15: an ask needs a hash, and none was given');
}

/** Liveness as an input of statuses: whether a supervisor holds the run, and what its actors do now. */
export interface Liveness {
  readonly alive: boolean;
  /** The task whose merge waits for something outside that stands in its way. */
  readonly mergeHold?: { readonly task: string; readonly text: string } | null;
  readonly phases: Readonly<
    Record<
      string,
      { readonly state: ActorStatus; readonly since: string; readonly reason: Reason | null }
    >
  >;
}

export const NOT_ALIVE: Liveness = { alive: false, phases: {} };

/** A person's wish to have a live actor's conversation compacted. */
export interface CompactWish {
  readonly run: string;
  readonly name: string;
  readonly focus: string | null;
}
