/**
 * Why something does not move, and the one command that unblocks it (`troupe why`): a pure function over facts and
 * liveness, so that it answers with and without a supervisor.
 *
 * Invariants
 * - S13 Every task that is not over and not moving, and every actor that has no work in hand, has a row with a typed
 *   reason. What waits for another one is told the action of that one: the root of the wait, not its end.
 */
import { type Actor, actorOf, endOf } from '../actors/index.ts';
import { type ActorName, asTaskId, USER } from '../kernel/index.ts';
import { hasUnread } from '../mailbox/index.ts';
import { type Reason, totalTokens, type WhyRow } from '../protocol/index.ts';
import { isActive, isTerminal, type TaskNode } from '../tasks/index.ts';
import { mayRun } from './decide/roster.ts';
import type { Liveness } from './live.ts';
import { actorRows, runRow, taskRows, unknownReason } from './rows.ts';
import type { RunState } from './state.ts';

interface Waiting {
  readonly about: string;
  readonly reason: Reason;
}

/** How far a wait is followed to its root. */
const HOPS_MAX = 64;

/** Tasks first, in the order of the graph, then actors; with `about` only what has this name, also what is over. */
export function whyRows(state: RunState, liveness: Liveness, about?: string): WhyRow[] {
  const tasks = waitingTasks(state, liveness);
  const actors = waitingActors(state, liveness, about);
  const find = new Map(tasks.map((row) => [row.about, row]));
  return [...tasks, ...actors]
    .filter((row) => about === undefined || row.about === about)
    .map((row) => ({ ...row, action: actionOf(state, rootOf(state, find, row)) }));
}

function waitingTasks(state: RunState, liveness: Liveness): Waiting[] {
  return taskRows(state, liveness).flatMap(({ id, reason }) =>
    reason === null ? [] : [{ about: id, reason }],
  );
}

function waitingActors(state: RunState, liveness: Liveness, about: string | undefined): Waiting[] {
  return actorRows(state, liveness).flatMap((row) => {
    const facts = actorOf(state.actors, row.name);
    if (facts === null) return [];
    const unknown = unknownReason(state, row.name);
    if (unknown !== null) return [{ about: row.name, reason: unknown }];
    const reason =
      endOf(facts) === null
        ? livingReason(state, liveness, { facts, row })
        : endReason(state, facts, row.name === about);
    return reason === null ? [] : [{ about: row.name, reason }];
  });
}

function livingReason(
  state: RunState,
  liveness: Liveness,
  of: { readonly facts: Actor; readonly row: ReturnType<typeof actorRows>[number] },
): Reason | null {
  const { facts, row } = of;
  if (row.state === 'waiting') return row.reason;
  const status = runRow(state, liveness).state;
  if (status !== 'running') {
    // A run that has come to its end has nobody who waits in it.
    if (status !== 'interrupted' && status !== 'budget') return null;
    return taskOfHalt(state, liveness);
  }
  if (row.state !== 'idle' && row.state !== 'passivated') return null;
  // About to be started, or to be told.
  if (hasUnread(state.mail, facts.name) || state.claims.has(facts.name)) return null;
  return { kind: 'idle', text: 'has nothing to do: no task and no mail' };
}

function taskOfHalt(state: RunState, liveness: Liveness): Reason {
  const { reason, state: status } = runRow(state, liveness);
  return reason ?? { kind: 'stopped', text: `the run is ${status}` };
}

/** Who was stopped waits for nothing; who died too often is missed. */
function endReason(state: RunState, facts: Actor, isAsked: boolean): Reason | null {
  const end = endOf(facts);
  if (end === null || (end.kind !== 'crashed' && !isAsked)) return null;
  if (facts.kind === 'subagent' && !isAsked) return null;
  if (end.kind !== 'crashed') return { kind: 'stopped', text: end.text };
  const times = state.deaths.get(facts.name)?.length ?? 1;
  if (mayRun(state, facts, null)) {
    const until = state.deaths.get(facts.name)?.at(-1)?.restartAt ?? null;
    if (until !== null && until > state.lastAt) {
      const text = `died ${times} times, the last: ${end.text}; it is started again at ${until}`;
      return { kind: 'backoff', ref: facts.name, text };
    }
    return { kind: 'idle', text: `died (${end.text}); it starts again with its next mail or task` };
  }
  const count = times === 1 ? 'once' : `${times} times`;
  return {
    kind: 'died',
    ref: facts.name,
    text: `died ${count} and is not started again; last: ${end.text}`,
  };
}

/** Kinds of waits that end with what `ref` names. */
const THROUGH: ReadonlySet<string> = new Set(['task', 'touches', 'merge']);

/** What the whole chain waits for. */
function rootOf(state: RunState, rows: ReadonlyMap<string, Waiting>, start: Waiting): Waiting {
  let at = start;
  for (let hop = 0; hop < HOPS_MAX; hop += 1) {
    const next = nextOf(state, rows, at);
    if (next === null || next === start) return at;
    at = next;
  }
  return at;
}

function nextOf(
  state: RunState,
  rows: ReadonlyMap<string, Waiting>,
  { about, reason }: Waiting,
): Waiting | null {
  if (reason.kind === 'parallel' || reason.kind === 'member') {
    // The first of those that hold the places and does not move itself.
    for (const node of state.graph.nodes.values()) {
      const row = isActive(node.state) ? rows.get(node.spec.id) : undefined;
      if (row !== undefined && row.about !== about) return row;
    }
    return null;
  }
  if (!THROUGH.has(reason.kind) || reason.ref === undefined || reason.ref === about) return null;
  return rows.get(reason.ref) ?? null;
}

/** A command to type. */
function actionOf(state: RunState, { about, reason }: Waiting): string {
  const { kind, ref } = reason;
  switch (kind) {
    case 'approval':
      return approvalAction(state, about, ref);
    case 'stopped':
      return isOver(state, about) ? lookAction(state, about) : `troupe resume ${state.file.id}`;
    case 'budget':
      return budgetAction(state);
    case 'quota':
      return "troupe events --follow --type 'quota.*'";
    case 'idle':
      return `troupe send ${about} 'What to do next'`;
    case 'died':
      return `troupe session ${ref ?? about}`;
    case 'agent':
      return actorOf(state.actors, ref ?? '') === null
        ? `troupe tasks ${about}`
        : `troupe session ${ref}`;
    case 'task':
    case 'touches':
    case 'merge':
      return watchAction(state, ref ?? about);
    case 'parallel':
      return 'troupe tasks';
    case 'member':
      return 'troupe ps';
    case 'backoff':
      return lookAction(state, about, ref);
    case 'conflict':
      return state.graph.nodes.get(asTaskId(about))?.state === 'failed'
        ? `troupe merge ${state.file.id} --continue ${about}`
        : `troupe diff ${about}`;
    case 'worktree':
      return 'troupe worktrees';
    case 'stalled':
    case 'unknown':
      return 'troupe doctor';
    case 'gate':
    case 'attempts':
    case 'cancelled':
      return `troupe tasks ${about}`;
  }
}

/** What became of an actor is in its transcript, what became of a task in its row. */
function lookAction(state: RunState, about: string, task: string = about): string {
  return actorOf(state.actors, about) === null ? `troupe tasks ${task}` : `troupe session ${about}`;
}

function isOver(state: RunState, about: string): boolean {
  const facts = actorOf(state.actors, about);
  return state.run.ended !== null || (facts !== null && endOf(facts) !== null);
}

function approvalAction(state: RunState, about: string, ref: string | undefined): string {
  if (ref !== undefined && state.team.plans.has(ref)) return `troupe plan approve ${ref}`;
  if (ref !== undefined) return `troupe approve ${ref.slice(0, 12)}`;
  // Paused after too many denials: a word of a person is what it waits for.
  const owner = state.graph.nodes.get(asTaskId(about))?.owner ?? about;
  return `troupe send ${owner} 'Go on another way'`;
}

/** It moves: how it does is to be seen. */
function watchAction(state: RunState, ref: string): string {
  const node: TaskNode | undefined = state.graph.nodes.get(asTaskId(ref));
  if (node === undefined || isTerminal(node.state) || node.state !== 'running') {
    return `troupe tasks ${ref}`;
  }
  const owner: ActorName | null = node.owner;
  const isActor = owner !== null && owner !== USER && actorOf(state.actors, owner) !== null;
  return isActor ? `troupe session ${owner} --follow` : `troupe tasks ${ref}`;
}

/** Twice of what is used up; where only a share of a task or an actor is, what it went for. */
function budgetAction(state: RunState): string {
  const { file, usage, spending, wallMs } = state;
  const { budget } = spending;
  const resume = `troupe resume ${file.id}`;
  if (state.run.ended?.state !== 'budget') return `troupe usage ${file.id}`;
  const spent = { usd: usage.total.costUsd, tokens: totalTokens(usage.total) };
  const most = [
    {
      share: shareOf(spent.usd, budget.usd),
      more: `--budget-usd ${Math.max(1, Math.ceil((budget.usd ?? 0) * 200)) / 100}`,
    },
    {
      share: shareOf(spent.tokens, budget.tokens),
      more: `--budget-tokens ${(budget.tokens ?? 1) * 2}`,
    },
    {
      share: shareOf(spending.turns, budget.turns ?? null),
      more: `--budget-turns ${(budget.turns ?? 1) * 2}`,
    },
    {
      share: shareOf(wallMs, budget.wallMs),
      more: `--budget-wall ${Math.ceil((budget.wallMs ?? 1) / 500)}s`,
    },
  ].toSorted((a, b) => b.share - a.share)[0];
  return most === undefined || most.share < 0 ? resume : `${resume} ${most.more}`;
}

function shareOf(used: number, bound: number | null): number {
  return bound === null ? -1 : used / Math.max(bound, Number.MIN_VALUE);
}
