/**
 * The state of one run: a fold over its records, the same live and on replay. Facts only; what this process alone
 * knows (threads, operations in flight) is in `live.ts`, what people see is derived in `rows.ts`.
 *
 * Invariants
 * - S1 `applyRecord` is the only thing that changes a `RunState`, so state equals replay of the journal.
 */
import { type ActorTable, actorOf, applyActor, makeActorTable } from '../actors/index.ts';
import {
  type ActorName,
  type CallId,
  type ProcId,
  SUPERVISOR,
  type TaskId,
} from '../kernel/index.ts';

import {
  applyMailRecord,
  type MailChange,
  type MailState,
  makeMailState,
} from '../mailbox/index.ts';
import {
  type AskState,
  applyAsk,
  CHAIN_START,
  type ChainTip,
  makeAskState,
} from '../permissions/index.ts';

import {
  type ActorChange,
  type DeathCause,
  type HookFact,
  NO_USAGE,
  type NoteFact,
  type PayloadRef,
  type ProcChange,
  type Reason,
  type RecordKind,
  type RunChange,
  type RunEndState,
  type RunFile,
  type StoredRunRecord,
  type TaskChange,
  type TodoItem,
  type TreeChange,
  type Usage,
} from '../protocol/index.ts';

import { beginsChapter, todoIn } from '../sessions/index.ts';
import { applyTask, makeGraph, type TaskGraph } from '../tasks/index.ts';
import { applyBackground, type BackgroundFact } from './background.ts';
import { applyBreaker, type Breaker, makeBreaker } from './breaker.ts';
import { DEATHS_KEPT } from './limits.ts';
import { applyRunJobs, type RunJobFact } from './run-jobs.ts';
import { applySpending, makeSpending, noteUsage, type Spending } from './spending.ts';
import { noteTaskTexts } from './task-texts.ts';
import { applyTeamwork, makeTeamwork, type Teamwork } from './teamwork.ts';
import { noteUnknown } from './unknown.ts';

export interface RunGate {
  readonly gate: string;
  readonly commit: string;
  readonly ok: boolean;
  readonly output: ProcId | null;
}

export interface RunEnd {
  readonly state: RunEndState;
  readonly reason: Reason | null;
  readonly commit: string;
  readonly at: string;
}

export interface RunFacts {
  startedAt: string | null;
  /** Rises each time that a supervisor takes the run up. */
  term: number;
  stopRequested: { readonly now: boolean; readonly by: string } | null;
  interrupted: { readonly text: string; readonly at: string } | null;
  ended: RunEnd | null;
  readonly gates: RunGate[];
  baseCommit: string;
  /** Level of the sandbox in this term. */
  sandbox: number;
}

export interface ProcFact {
  readonly id: ProcId;
  readonly command: string;
  readonly cwd: string;
  readonly actor: ActorName | null;
  readonly task: TaskId | null;
}

export interface TreeFact {
  readonly owner: string;
  readonly path: string;
  readonly branch: string | null;
  readonly commit: string;
}

export interface SavedFact {
  readonly owner: string;
  readonly ref: string;
  readonly commit: string;
}

export interface OpenCall {
  readonly id: CallId;
  readonly name: string;
  /** Of `todo_write`: the list that it makes. */
  readonly todo?: readonly TodoItem[];
}

export interface Death {
  readonly at: string;
  readonly text: string;
  readonly cause: DeathCause;
  /** Null: it is not started again. */
  readonly restartAt: string | null;
}

export interface RunState {
  readonly file: RunFile;
  readonly graph: TaskGraph;
  readonly mail: MailState;
  readonly actors: ActorTable;
  readonly run: RunFacts;
  /** Started and not ended, by id. */
  readonly procs: Map<ProcId, ProcFact>;
  procCount: number;
  /** Commands that run beside the turns of their actors, and the newest of those that have ended. */
  readonly background: Map<ProcId, BackgroundFact>;
  /** What hooks made of inputs of each actor's last answer, also after its end: what a crash left is held against it. */
  readonly rewritten: Map<ActorName, Map<CallId, unknown>>;
  /** Existing trees by owner (a task id, or the name of a view). */
  readonly trees: Map<string, TreeFact>;
  readonly saved: SavedFact[];
  /** Calls of each actor's last answer that have no result yet. */
  readonly openCalls: Map<ActorName, Map<CallId, OpenCall>>;
  /** Who asked for calls in its last answer and has not answered since: its turn goes on, unless its task has ended. */
  readonly midTurn: Set<ActorName>;
  /** The newest list of each actor that keeps one. */
  readonly todos: Map<ActorName, readonly TodoItem[]>;
  /** The task that each actor works on now; at most one, and one actor a task. */
  readonly claims: Map<ActorName, TaskId>;
  /** Fence of the claim for which a task's tree was ready and its worker told. */
  readonly assigned: Map<TaskId, number>;
  /** Where the audit chain of its log stands. */
  audit: ChainTip;
  /** Questions to people, and what they granted for this run. */
  readonly asks: AskState;
  readonly usage: {
    total: Usage;
    readonly byActor: Map<string, Usage>;
    readonly byTask: Map<string, Usage>;
    /** By `provider/model`. */
    readonly byModel: Map<string, Usage>;
  };
  readonly spending: Spending;
  /** The newest deaths of each actor, newest last. */
  readonly deaths: Map<ActorName, Death[]>;
  readonly team: Teamwork;
  readonly breaker: Breaker;
  /** Tasks and actors of which a record says what this version does not know: they are left alone. */
  readonly unknown: Map<string, string>;
  /** Tasks that the self-check found ready and not begun; until they are. */
  readonly alarms: Map<TaskId, string>;
  /** Of a run that is played from a recording: how often each kind of choice was made about each task. */
  readonly ordered: Map<string, number>;
  /** Facts noted for later runs, oldest first. */
  readonly notes: (NoteFact & { readonly at: string })[];
  /** Jobs that its actors have made and that are not over, by name. */
  readonly jobs: Map<string, RunJobFact>;
  /** References of the texts of tasks that records hold as heads, by task and text. */
  readonly taskTexts: Map<string, PayloadRef>;
  /** Wall time that the run was worked on, over all terms, ms. */
  wallMs: number;
  lastSeq: number;
  lastAt: string;
}

export function makeRunState(file: RunFile): RunState {
  return {
    file,
    graph: makeGraph(),
    mail: makeMailState(),
    actors: makeActorTable(),
    run: {
      startedAt: null,
      term: 0,
      stopRequested: null,
      interrupted: null,
      ended: null,
      gates: [],
      baseCommit: file.baseCommit,
      sandbox: 0,
    },
    procs: new Map(),
    procCount: 0,
    background: new Map(),
    rewritten: new Map(),
    trees: new Map(),
    saved: [],
    openCalls: new Map(),
    midTurn: new Set(),
    todos: new Map(),
    claims: new Map(),
    assigned: new Map(),
    audit: CHAIN_START,
    asks: makeAskState(),
    usage: { total: NO_USAGE, byActor: new Map(), byTask: new Map(), byModel: new Map() },
    spending: makeSpending(file.team.budget),
    deaths: new Map(),
    team: makeTeamwork(),
    breaker: makeBreaker(),
    unknown: new Map(),
    alarms: new Map(),
    ordered: new Map(),
    notes: [],
    jobs: new Map(),
    taskTexts: new Map(),
    wallMs: 0,
    lastSeq: 0,
    lastAt: file.createdAt,
  };
}

const KINDS: ReadonlySet<string> = new Set<RecordKind>([
  'msg',
  'step',
  'task',
  'sup',
  'run',
  'git',
  'proc',
  'perm',
  'dead',
]);

/**
 * Applies one record; records come in order of `s`, each once. Unknown sections and changes are passed over. `onMail` hears
 * what it did to mailboxes.
 */
export function applyRecord(
  state: RunState,
  record: StoredRunRecord,
  onMail?: (change: MailChange) => void,
): void {
  // The journal's own records (`seg`, `seal`) say nothing about the run.
  if (!KINDS.has(record.k)) return;
  const context = { seq: record.s, at: record.at };
  applyMailRecord(state.mail, record, onMail);
  if (record.audit !== undefined) {
    const { n, hash } = record.audit;
    state.audit = { n, hash };
  }
  applyEntries(state, record);
  for (const change of record.actors ?? []) {
    if (noteUnknown(state.unknown, 'actor', change)) continue;
    applyActor(state.actors, change, context);
    // A name in its next life is not charged with the deaths of the last.
    if (change.type === 'actor.added') state.deaths.delete(change.name);
    if (change.type === 'actor.ended') {
      state.openCalls.delete(change.name);
      noteDeath(state, change, record.at);
      // With its task (which starts over) or its life the turn is over as well.
      if (change.end.kind !== 'crashed' || state.claims.has(change.name)) {
        state.midTurn.delete(change.name);
      }
    }
  }
  for (const change of record.tasks ?? []) {
    if (noteUnknown(state.unknown, 'task', change)) continue;
    applyTask(state.graph, change, context);
    if (change.type === 'task.claimed') state.alarms.delete(change.id);
    applyClaim(state, change);
    if (state.file.replay !== undefined) applyOrder(state, change);
  }
  noteTaskTexts(state.taskTexts, record);
  applyTeamwork(state.team, record);
  applyBreaker(state.breaker, record, (id) => state.graph.nodes.get(id)?.spec.run != null);
  for (const change of record.run ?? []) {
    applyRun(state.run, change, record.at);
    if (change.type === 'run.alarm') state.alarms.set(change.task, change.text);
  }
  for (const note of record.notes ?? []) state.notes.push({ ...note, at: record.at });
  applyRunJobs(state.jobs, record);
  for (const change of record.procs ?? []) {
    applyProc(state, change);
    applyBackground(state.background, change, record.at);
  }
  for (const change of record.trees ?? []) applyTree(state, change);
  for (const change of record.asks ?? []) applyAsk(state.asks, change, record.at);
  for (const fact of record.hooks ?? []) noteRewrite(state, fact);
  applySpending(state, record);
  // The gap before a new term is nobody's time.
  const newTerm = record.run?.some((change) => change.type === 'run.resumed') ?? false;
  if (!newTerm && state.lastSeq > 0) {
    state.wallMs += Math.max(0, Date.parse(record.at) - Date.parse(state.lastAt));
  }
  state.lastSeq = record.s;
  state.lastAt = record.at;
}

function applyEntries(state: RunState, record: StoredRunRecord): void {
  const actor = record.a;
  if (actor === undefined || record.entries === undefined) return;
  for (const entry of record.entries) {
    if (entry.type === 'answer') {
      const open = new Map<CallId, OpenCall>();
      for (const block of entry.content) {
        if (block.type !== 'call') continue;
        const todo = todoIn(block);
        const call = { id: block.id, name: block.name };
        open.set(block.id, todo === null ? call : { ...call, todo });
      }
      state.openCalls.set(actor, open);
      state.rewritten.delete(actor);
      if (open.size > 0) state.midTurn.add(actor);
      else state.midTurn.delete(actor);
      noteUsage(state, { actor, task: entry.task, model: entry.model, usage: entry.usage });
    } else if (entry.type === 'result') {
      const call = state.openCalls.get(actor)?.get(entry.call);
      if (entry.ok && call?.todo !== undefined) state.todos.set(actor, call.todo);
      state.openCalls.get(actor)?.delete(entry.call);
    } else if (entry.type === 'compaction') {
      noteUsage(state, { actor, task: entry.task, model: entry.model, usage: entry.usage });
    } else if (entry.type === 'mail' && beginsChapter(entry) && isTeammate(state, actor)) {
      state.todos.delete(actor);
    }
  }
}

function noteRewrite({ rewritten }: RunState, { actor, call, outcome, input }: HookFact): void {
  if (outcome !== 'rewrite' || actor === undefined || call === undefined) return;
  const own = rewritten.get(actor) ?? new Map<CallId, unknown>();
  rewritten.set(actor, own.set(call, input));
}

function isTeammate(state: RunState, name: ActorName): boolean {
  return actorOf(state.actors, name)?.kind === 'teammate';
}

/** Changes with which a claim is over for its worker. */
const CLAIM_ENDS: ReadonlySet<string> = new Set<TaskChange['type']>([
  'task.finished',
  'task.released',
  'task.failed',
  'task.cancelled',
]);

function applyClaim(state: RunState, change: TaskChange): void {
  if (change.type === 'task.claimed' && change.by !== SUPERVISOR) {
    state.claims.set(change.by, change.id);
  } else if (change.type === 'task.tree') {
    state.assigned.set(change.id, state.graph.nodes.get(change.id)?.fence ?? 0);
  } else if (CLAIM_ENDS.has(change.type) && 'id' in change) {
    for (const [name, task] of state.claims) {
      if (task !== change.id) continue;
      state.claims.delete(name);
      // Its turn was about that task, and does not go on without it (L7).
      state.midTurn.delete(name);
    }
  }
}

/** What of a task is a choice of the runtime (`ReplayPlan`). */
const ORDERED: ReadonlyMap<TaskChange['type'], 'claim' | 'tree' | 'end'> = new Map([
  ['task.claimed', 'claim'],
  ['task.tree', 'tree'],
  ['task.released', 'end'],
  ['task.done', 'end'],
  ['task.failed', 'end'],
]);

function applyOrder(state: RunState, change: TaskChange): void {
  const fact = ORDERED.get(change.type);
  if (fact === undefined || !('id' in change)) return;
  const key = `${fact} ${change.id}`;
  state.ordered.set(key, (state.ordered.get(key) ?? 0) + 1);
}

function noteDeath(
  state: RunState,
  { name, end, restartAt }: Extract<ActorChange, { type: 'actor.ended' }>,
  at: string,
): void {
  if (end.kind !== 'crashed') return;
  const deaths = state.deaths.get(name) ?? [];
  const { text, cause = 'bug' } = end;
  state.deaths.set(name, [
    ...deaths.slice(1 - DEATHS_KEPT),
    { at, text, cause, restartAt: restartAt ?? null },
  ]);
}

function applyRun(run: RunFacts, change: RunChange, at: string): void {
  switch (change.type) {
    case 'run.started':
      run.startedAt = at;
      run.term = change.term;
      run.baseCommit = change.baseCommit;
      run.sandbox = change.sandbox ?? 0;
      return;
    case 'run.resumed':
      run.term = change.term;
      run.sandbox = change.sandbox ?? 0;
      run.stopRequested = null;
      run.interrupted = null;
      // What ended by its budget goes on when it is given more.
      run.ended = null;
      return;
    case 'run.stop-requested':
      run.stopRequested = { now: change.now, by: change.by };
      return;
    case 'run.interrupted':
      run.interrupted = { text: change.text, at };
      return;
    case 'run.gate':
      run.gates.push({
        gate: change.gate,
        commit: change.commit,
        ok: change.ok,
        output: change.output,
      });
      return;
    // Spending has these.
    case 'run.warned':
    case 'quota.hit':
    case 'quota.over':
      return;
    // The policy is what this process was given; the record is for people.
    case 'policy.loaded':
    case 'policy.alert':
    case 'run.alarm':
      return;
    case 'run.ended':
      run.ended = { state: change.state, reason: change.reason, commit: change.commit, at };
      return;
  }
}

function applyProc(state: RunState, change: ProcChange): void {
  if (change.type === 'proc.started') {
    state.procCount += 1;
    const { id, command, cwd, actor, task } = change;
    state.procs.set(id, { id, command, cwd, actor, task });
  } else {
    state.procs.delete(change.id);
  }
}

function applyTree(state: RunState, change: TreeChange): void {
  switch (change.type) {
    case 'tree.added': {
      const { owner, path, branch, commit } = change;
      state.trees.set(owner, { owner, path, branch, commit });
      return;
    }
    case 'tree.saved':
      state.saved.push({ owner: change.owner, ref: change.ref, commit: change.commit });
      return;
    case 'tree.removed':
      state.trees.delete(change.owner);
      return;
  }
}
