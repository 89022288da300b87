/**
 * What becomes of tasks: dispatch, the runtime's own work on a finished task (commit, gates), and how an attempt ends.
 * Merging is in `merges.ts`.
 *
 * Invariants
 * - T3 A claim is one record; a result that carries an older fence changes nothing.
 * - T4 A task is done only after the runtime's commit, its gates and its merge: never by a word of the model.
 */
import { actorOf } from '../../actors/index.ts';
import {
  type ActorName,
  isoTime,
  type ProcId,
  SUPERVISOR,
  type TaskId,
  USER,
} from '../../kernel/index.ts';
import type { Gate, Workplace } from '../../protocol/index.ts';
import { nextAttempt, pickNext, runningCount, type TaskNode } from '../../tasks/index.ts';
import { isOpen, parkedFor } from '../breaker.ts';
import { Draft } from '../draft.ts';
import type { CommandOutcome, CommitOutcome, Happening, TreeOutcome } from '../inbox.ts';
import { LEASE_MS } from '../limits.ts';
import type { Live, PendingAct } from '../live.ts';
import type { RunState } from '../state.ts';
import { endByGate, succeeded, toNextGate, verdictOf } from './gates.ts';
import { assignment, gateReport } from './letters.ts';
import { type ClaimTurn, claimTurn, isItsTurn } from './replay-order.ts';
import { finishAct } from './results.ts';
import { beginReview } from './reviews.ts';
import { freeMembers, hire } from './roster.ts';
import { endAttempt, finish, opEnded } from './task-ends.ts';
import { mindTouches } from './touches.ts';

/** The task that is to be begun next, for whom there is a slot and a worker; null when none can be. */
export function startable(state: RunState, nowMs: number): TaskNode | null {
  if (runningCount(state.graph) >= state.file.team.limits.parallel) return null;
  const isHeld = isHeldByBreaker(state, nowMs);
  return pickNext(state.graph, (_key, candidate) => {
    if (state.unknown.has(candidate.spec.id)) return false;
    if (candidate.spec.run !== null) return true;
    if (isHeld) return false;
    const agent = candidate.spec.agent;
    return freeMembers(state, agent, nowMs).length > 0 || hire(state, agent) !== null;
  });
}

/** S15, for tasks of agents. After a pause one is tried, and only when it fares better the others follow. */
export function isHeldByBreaker({ breaker, graph }: RunState, nowMs: number): boolean {
  return parkedFor(breaker, nowMs) > 0 || (isOpen(breaker) && runningCount(graph) > 0);
}

/** Claims the best ready task for the best free worker; null when nothing can start now. */
export function dispatch(state: RunState, live: Live, happening: Happening): Draft | null {
  const turn = claimTurn(state);
  if (turn !== 'free') {
    if (runningCount(state.graph) >= state.file.team.limits.parallel) return null;
    return turn === null ? null : dispatchAs(state, live, happening, turn);
  }
  const node = startable(state, happening.now);
  if (node === null) return null;
  const draft = new Draft(state, happening).about('task');
  const worker = node.spec.run === null ? chooseWorker(state, node, draft) : SUPERVISOR;
  claim(draft, live, { node, by: worker });
  return draft;
}

/** The recorded claim, as soon as its task is ready and its worker free. */
function dispatchAs(
  state: RunState,
  live: Live,
  happening: Happening,
  { task, by }: ClaimTurn,
): Draft | null {
  const node = state.graph.nodes.get(task);
  if (node === undefined || node.state !== 'ready') return null;
  const { agent, run } = node.spec;
  const draft = new Draft(state, happening).about('task');
  if (run !== null) {
    claim(draft, live, { node, by: SUPERVISOR });
    return draft;
  }
  const free = freeMembers(state, agent, happening.now).find((name) => name === by);
  const worker =
    free ?? (hire(state, agent)?.name === by ? chooseWorker(state, node, draft) : null);
  if (worker === null) return null;
  claim(draft, live, { node, by: worker });
  return draft;
}

/** Rework goes to whoever held the task, when free; else the first free member, else someone new. */
function chooseWorker(state: RunState, node: TaskNode, draft: Draft): ActorName {
  const free = freeMembers(state, node.spec.agent, draft.happening.now);
  const preferred = node.preferredOwner;
  if (preferred !== null && free.includes(preferred)) return preferred;
  const first = free[0];
  if (first !== undefined) return first;
  const hired = hire(state, node.spec.agent);
  if (hired === null) return SUPERVISOR;
  draft.actor({
    type: 'actor.added',
    name: hired.name,
    kind: 'teammate',
    profile: hired.profile,
    parent: null,
    depth: 0,
  });
  return hired.name;
}

/** The claim itself: one compare-and-set, decided here and nowhere else. */
export function claim(
  draft: Draft,
  live: Live,
  what: { readonly node: TaskNode; readonly by: ActorName },
): void {
  const { node, by } = what;
  const owner = actorOf(draft.state.actors, by);
  draft.task({
    type: 'task.claimed',
    id: node.spec.id,
    by,
    incarnation: owner?.incarnation ?? 0,
    attempt: nextAttempt(node),
    leaseUntil: isoTime(draft.happening.now + LEASE_MS),
  });
  live.claimedAt.set(node.spec.id, draft.happening.monotonicMs);
  live.dirty.add(node.spec.id);
}

/** The next thing that the runtime does for a task; an empty draft when it is someone else's turn. */
export function advance(state: RunState, live: Live, happening: Happening, id: TaskId): Draft {
  const draft = new Draft(state, happening).about('task');
  const node = state.graph.nodes.get(id);
  if (node === undefined || live.taskOps.has(id)) return draft;
  if (node.state === 'running') advanceRunning(draft, live, node);
  else if (node.state === 'verifying') advanceVerifying(draft, live, node);
  else if (node.state === 'merging' && !live.mergeQueue.includes(id)) live.mergeQueue.push(id);
  return draft;
}

function advanceRunning(draft: Draft, live: Live, node: TaskNode): void {
  const id = node.spec.id;
  if (live.prepared.get(id) !== node.fence) {
    if (!isItsTurn(draft.state, 'tree', id)) return;
    live.taskOps.set(id, 'prepare');
    draft.effect({
      type: 'tree.prepare',
      task: id,
      fence: node.fence,
      mode: treeMode(node),
      path: node.path ?? `${draft.state.file.treesRoot}/${id}`,
    });
    return;
  }
  if (node.spec.run === null || node.path === null) return;
  startCommand(draft, live, {
    node,
    command: node.spec.run,
    timeoutMs: node.spec.timeoutMs,
    restore: null,
    cwd: node.path,
    op: 'command',
  });
}

function treeMode(node: TaskNode): 'new' | 'fresh' | 'continue' | 'resolve' {
  if (node.path === null) return 'new';
  if (node.spec.run !== null) return 'fresh';
  return node.conflicts > 0 ? 'resolve' : 'continue';
}

function startCommand(
  draft: Draft,
  live: Live,
  what: {
    readonly node: TaskNode;
    readonly command: string;
    readonly timeoutMs: number;
    readonly restore: string | null;
    readonly cwd: string;
    readonly op: 'command' | 'gate';
    readonly gate?: string;
  },
): void {
  const { node, command, cwd } = what;
  const id = draft.nextProc();
  live.taskOps.set(node.spec.id, what.op);
  live.commands.set(
    id,
    what.op === 'command'
      ? { kind: 'task', task: node.spec.id, fence: node.fence }
      : { kind: 'gate', task: node.spec.id, fence: node.fence, stage: 'task', gate: command },
  );
  draft
    .about('proc')
    .proc({ type: 'proc.started', id, command, cwd, actor: null, task: node.spec.id });
  draft.effect({
    type: 'command.start',
    id,
    command,
    // What an actor's task runs is that actor's, also as a task and as a gate (design §7).
    by: draft.state.file.team.tasks.some((task) => task.id === node.spec.id) ? 'team' : 'actor',
    place: { kind: 'tree', path: cwd, restore: what.restore, task: node.spec.id },
    timeoutMs: what.timeoutMs,
    tailOnly: true,
  });
}

function advanceVerifying(draft: Draft, live: Live, node: TaskNode): void {
  const id = node.spec.id;
  if (node.path === null) return;
  if (live.committed.get(id) !== node.fence) {
    live.taskOps.set(id, 'commit');
    // A person's own work has no co-author.
    const author = node.owner === null || node.owner === USER ? SUPERVISOR : node.owner;
    draft.effect({
      type: 'tree.commit',
      task: id,
      fence: node.fence,
      path: node.path,
      author,
      message: commitMessage(node),
      touches: node.spec.touches,
    });
    return;
  }
  const progress = live.gates.get(id) ?? { commit: node.commit, index: 0, tries: 0 };
  live.gates.set(id, progress);
  const gate: Gate | undefined = node.spec.verify[progress.index];
  if (gate !== undefined && gate.kind === 'command') {
    startCommand(draft, live, {
      node,
      command: gate.run,
      timeoutMs: gate.timeoutMs,
      restore: node.commit ?? node.start,
      cwd: node.path,
      op: 'gate',
    });
    return;
  }
  if (gate !== undefined) {
    if (beginReview(draft, live, node)) return;
    toNextGate(progress);
    advanceVerifying(draft, live, node);
    return;
  }
  live.gates.delete(id);
  if (node.commit === null) finish(draft, live, node, null);
  else {
    draft.task({ type: 'task.verified', id });
    live.dirty.add(id);
  }
}

function commitMessage(node: TaskNode): string {
  const summary = node.summary?.trim() ?? '';
  return `${node.spec.title}\n\n${summary === '' ? '' : `${summary}\n\n`}Task: ${node.spec.id}\n`;
}

export function treePrepared(
  state: RunState,
  live: Live,
  happening: Happening,
  event: { task: TaskId; fence: number; outcome: TreeOutcome },
): Draft {
  const draft = new Draft(state, happening).about('git');
  const node = state.graph.nodes.get(event.task);
  opEnded(live, event.task);
  if (node === undefined || node.state !== 'running') return draft;
  if (node.fence !== event.fence) return draft;
  const { outcome } = event;
  const act = [...live.acts.values()].find(
    (one) => one.tool === 'claim_task' && one.task === event.task,
  );
  if (outcome.kind === 'failed') {
    endAttempt(draft, live, {
      node,
      counts: 'attempt',
      reason: { kind: 'worktree', text: outcome.text },
      rework: null,
    });
    if (act !== undefined) answerClaim(draft, live, act, { ok: false, text: outcome.text });
    return draft;
  }
  live.prepared.set(event.task, node.fence);
  // Told in an earlier term: the worker goes on where it was.
  if (state.assigned.get(event.task) === node.fence) {
    if (node.owner !== null) live.wake.add(node.owner);
    return draft;
  }
  const { path, branch, start } = outcome;
  draft.task({ type: 'task.tree', id: event.task, path, branch, start });
  draft.tree({ type: 'tree.added', owner: event.task, path, branch, commit: start });
  if (node.spec.run !== null || node.owner === null) return draft;
  const letter = assignment(state, node, {
    root: path,
    note: outcome.note,
    landed: outcome.landed,
  });
  if (act === undefined) {
    draft.notice(letter);
    live.mailDirty.add(node.owner);
    return draft;
  }
  const workplace = { task: event.task, root: path, writable: true, fence: node.fence };
  answerClaim(draft, live, act, { ok: true, text: letter.body.text, workplace });
  return draft;
}

function answerClaim(
  draft: Draft,
  live: Live,
  act: PendingAct,
  result: { ok: boolean; text: string; workplace?: Workplace },
): void {
  live.acts.delete(act.call);
  const actor = live.actors.get(act.name);
  if (actor === undefined || actor.incarnation !== act.incarnation) return;
  finishAct({ actor, request: act.request }, draft, act, result);
}

export function treeCommitted(
  state: RunState,
  live: Live,
  happening: Happening,
  event: { task: TaskId; fence: number; outcome: CommitOutcome },
): Draft {
  const draft = new Draft(state, happening).about('git');
  const node = state.graph.nodes.get(event.task);
  opEnded(live, event.task);
  if (node === undefined || node.state !== 'verifying' || node.fence !== event.fence) return draft;
  const { outcome } = event;
  switch (outcome.kind) {
    case 'failed':
      endAttempt(draft, live, {
        node,
        counts: 'attempt',
        reason: { kind: 'worktree', text: outcome.text },
        rework: outcome.text,
      });
      return draft;
    case 'unfinished-merge':
      endAttempt(draft, live, {
        node,
        counts: 'attempt',
        reason: { kind: 'gate', text: outcome.text },
        rework: outcome.text,
      });
      return draft;
    case 'committed':
    case 'unchanged':
      if (!mindTouches(draft, live, node, outcome)) return draft;
      live.committed.set(event.task, node.fence);
      live.gates.delete(event.task);
      draft.task({
        type: 'task.committed',
        id: event.task,
        commit: outcome.kind === 'committed' ? outcome.commit : null,
      });
      return draft;
  }
}

/** A command task's own command has ended. */
export function commandTaskEnded(
  draft: Draft,
  live: Live,
  what: { node: TaskNode; outcome: CommandOutcome },
): void {
  const { node, outcome } = what;
  const id = node.spec.id;
  if (succeeded(outcome)) {
    draft.task({
      type: 'task.finished',
      id,
      by: SUPERVISOR,
      summary: `Ran \`${firstLine(node.spec.run ?? '')}\`.`,
    });
    return;
  }
  endAttempt(draft, live, {
    node,
    counts: 'attempt',
    reason: { kind: 'gate', text: gateReport(node.spec.run ?? '', outcome, 'The command') },
    rework: null,
  });
}

/** A script of many lines is in the team file; a summary, which becomes a commit message, names it. */
function firstLine(command: string): string {
  const [first = '', ...more] = command.trim().split('\n');
  return more.length === 0 ? first : `${first} …`;
}

/** One gate of a task has ended; a failure is tried again `retries` times, then it is the worker's. */
export function taskGateEnded(
  draft: Draft,
  live: Live,
  what: { node: TaskNode; outcome: CommandOutcome; id: ProcId },
): void {
  const { node, outcome } = what;
  const progress = live.gates.get(node.spec.id);
  const gate = progress === undefined ? undefined : node.spec.verify[progress.index];
  if (progress === undefined || gate === undefined || gate.kind !== 'command') return;
  const verdict = verdictOf(progress, gate, outcome);
  if (verdict === null) return;
  draft.task({
    type: 'task.gate',
    id: node.spec.id,
    gate: gate.run,
    stage: 'task',
    commit: node.commit,
    ...verdict,
    exit: outcome.code,
    output: what.id,
  });
  if (verdict.ok) {
    toNextGate(progress);
    return;
  }
  live.gates.delete(node.spec.id);
  endByGate(draft, live, { node, gate, outcome, who: 'The gate' });
}
