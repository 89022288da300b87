/**
 * The run itself: its first record, taking it up again, stopping, deadlines and budgets, and its end.
 *
 * Invariants
 * - S3 A run ends only when every task is terminal and every live actor has taken in its mail (M3).
 * - S4 Stop says stopped only after every thread and process is gone.
 */
import { type Actor, actorOf } from '../../actors/index.ts';
import { type ActorName, LEAD, USER } from '../../kernel/index.ts';
import { hasUnread } from '../../mailbox/index.ts';
import type { Reason, RunEndState } from '../../protocol/index.ts';
import { allTerminal, taskCounts } from '../../tasks/index.ts';
import { isOpen } from '../breaker.ts';
import { Draft } from '../draft.ts';
import type { Happening, RunEvent } from '../inbox.ts';
import { STOP_GRACE_MS } from '../limits.ts';
import type { Live } from '../live.ts';
import type { RunState } from '../state.ts';
import { openShutdown } from '../teamwork.ts';
import { startActor, startNumbers } from './actors.ts';
import { renewAsks } from './asks/answer.ts';
import { withdrawOf } from './asks/end.ts';
import { tellLost } from './background.ts';
import { tellCompaction } from './context.ts';
import { endStopped } from './ends.ts';
import { cutShort, quarantine, retryLater } from './poison.ts';
import { policyLoaded } from './policy.ts';
import { mustRest } from './restarts.ts';
import { mayRun, noticeTarget, VIEW, workplaceOf } from './roster.ts';
import { dropTree, endAttempt, reopen } from './task-ends.ts';
import { failUnservable } from './unservable.ts';
import { needView } from './view.ts';

export function started(state: RunState, live: Live, happening: Happening): Draft {
  const draft = new Draft(state, happening).about('run');
  const { team } = state.file;
  draft.runChange({
    type: 'run.started',
    run: state.file.id,
    baseCommit: state.file.baseCommit,
    term: 1,
    sandbox: live.sandbox,
  });
  if (live.policy !== null) draft.runChange(policyLoaded(live.policy, true));
  const members = [
    ...(team.lead === null ? [] : [{ ...team.lead, kind: 'lead' as const }]),
    ...team.teammates.map((member) => ({ ...member, kind: 'teammate' as const })),
  ];
  for (const member of members) {
    const profile = team.agents[member.agent];
    if (profile === undefined) continue;
    draft.actor({
      type: 'actor.added',
      name: member.name,
      kind: member.kind,
      profile,
      parent: null,
      depth: 0,
    });
  }
  for (const task of team.tasks) draft.task({ type: 'task.added', task, by: USER });
  if (team.lead !== null) {
    draft.send(
      { to: LEAD, lane: 'normal', type: 'chat.message', body: { text: opening(state) } },
      draft.user(),
    );
    live.mailDirty.add(LEAD);
  }
  return draft;
}

function opening(state: RunState): string {
  const { team } = state.file;
  const goal = team.goal === null ? '' : `The goal of this run: ${team.goal}\n\n`;
  if (team.tasks.length === 0) {
    return `${goal}There are no tasks yet. Make the task graph with create_task; tasks start by themselves when what they need is done, and you hear of each end.`;
  }
  const lines = team.tasks.map((task) => `- ${task.id}: ${task.title}`).join('\n');
  return `${goal}These tasks are in the graph and start by themselves:\n${lines}\n\nYou hear of each end. Add tasks when the goal needs them; answer who writes to you.`;
}

export function damaged(
  state: RunState,
  happening: Happening,
  event: Extract<RunEvent, { type: 'damaged' }>,
): Draft {
  const draft = new Draft(state, happening).about('msg');
  tellDamage(draft, event.damage);
  return draft;
}

function tellDamage(draft: Draft, damage: readonly string[]): void {
  draft.notice({
    to: USER,
    lane: 'normal',
    type: 'chat.message',
    body: { text: `The journal of this run was damaged. ${damage.join('; ')}` },
  });
}

function tellTrees(draft: Draft, trees: readonly string[]): void {
  if (trees.length === 0) return;
  const text = `Not all trees of this run are as they were left. ${trees.join('; ')}.`;
  draft.notice({ to: USER, lane: 'normal', type: 'chat.message', body: { text } });
}

/** A new term: what was going on in the last one is void, what it had recorded stands. */
export function resumed(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'resumed' }>,
): Draft {
  const draft = new Draft(state, happening).about('run');
  const cut = cutShort(state);
  const wasOver = state.run.ended !== null && state.run.ended.state !== 'budget';
  const held = cut.map((one) => ({ to: one.name, n: one.held.map(({ n }) => n) }));
  draft.runChange({
    type: 'run.resumed',
    term: state.run.term + 1,
    sandbox: live.sandbox,
    ...(held.length === 0 ? {} : { held }),
    ...(event.budget === undefined ? {} : { budget: event.budget }),
  });
  if (live.policy !== null) draft.runChange(policyLoaded(live.policy, true));
  for (const one of cut) {
    quarantine(draft, live, { ...one, target: noticeTarget(state), by: 'cut' });
    retryLater(draft, live, one);
  }
  tellLost(draft, live);
  endOpenProcs(draft, 'lost', event.left);
  // What was recorded and perhaps not kept: keeping it again adds nothing.
  if (state.notes.length > 0 && state.file.replay === undefined)
    draft.effect({ type: 'memory.keep', notes: [...state.notes] });
  if (event.damage.length > 0) tellDamage(draft, event.damage);
  tellTrees(draft, event.trees ?? []);
  for (const actor of state.actors.byName.values()) {
    const { name, incarnation } = actor;
    // A subagent lives once: what its end cut short nobody waits for.
    if (actor.kind === 'subagent') {
      if (actor.phase.kind === 'ended') continue;
      draft.actor({
        type: 'actor.ended',
        name,
        incarnation,
        end: { kind: 'crashed', text: 'the supervisor ended' },
      });
      withdrawOf(draft, live, name, 'the supervisor ended, and it with it');
      if (state.team.background.has(name)) tellCut(draft, actor);
    } else if (isCut(state, actor, wasOver) && !isEnding(state, name)) live.wake.add(name);
    live.mailDirty.add(name);
  }
  for (const node of state.graph.nodes.values()) {
    if (node.state === 'running' && node.spec.run !== null) {
      endAttempt(draft, live, {
        node,
        counts: 'interruption',
        reason: { kind: 'stopped', text: 'the supervisor ended while it ran' },
        rework: null,
      });
    } else if (node.state === 'running') {
      live.claimedAt.set(node.spec.id, happening.monotonicMs);
    }
    live.dirty.add(node.spec.id);
    const tree = state.trees.get(node.spec.id);
    if (node.state === 'done' && tree !== undefined) dropTree(draft, live, tree);
  }
  const again = event.reopen === undefined ? undefined : state.graph.nodes.get(event.reopen);
  if (again?.state === 'failed') reopen(draft, live, again);
  renewAsks(draft);
  for (const name of state.asks.paused.keys()) draft.ask({ type: 'actor.unpaused', actor: name });
  return draft;
}

/** What it would have answered by mail does not come: its parent is told, as of an end. */
function tellCut(draft: Draft, child: Actor): void {
  const parent = actorOf(draft.state.actors, child.parent ?? '');
  if (parent === null || parent.kind === 'subagent') return;
  if (!mayRun(draft.state, parent, draft.happening.now)) return;
  draft.notice({
    to: parent.name,
    lane: 'normal',
    type: 'actor.died',
    body: {
      text: `${child.name} was cut off by the end of the supervisor and gives no answer. Start it again if you still need it.`,
      actor: child.name,
    },
  });
}

/** Its turn goes on without new mail. Who holds a task is woken when its tree is ready. */
function isCut(state: RunState, actor: Actor, wasOver: boolean): boolean {
  if (actor.phase.kind === 'passivated') return false;
  if (actor.kind === 'lead' && !wasOver) return actor.incarnation > 0;
  return state.midTurn.has(actor.name) && !state.claims.has(actor.name);
}

/** It is ended by what follows, not started again. */
function isEnding(state: RunState, name: ActorName): boolean {
  const asked = openShutdown(state.team, name);
  return asked?.state === 'ready' || asked?.state === 'forced';
}

function endOpenProcs(draft: Draft, why: 'lost' | 'killed', left: readonly number[]): void {
  for (const proc of draft.state.procs.values()) {
    draft.proc({ type: 'proc.ended', id: proc.id, code: null, signal: null, why, left });
  }
}

/** Starts an actor whose turn was cut, though it has no new mail; null when there is none. */
export function wakeNext(state: RunState, live: Live, happening: Happening): Draft | null {
  for (const name of live.wake) {
    const facts = actorOf(state.actors, name);
    if (facts === null || live.actors.has(name) || !mayRun(state, facts, happening.now)) {
      live.wake.delete(name);
      continue;
    }
    if (mustRest(live, name, happening.monotonicMs)) continue;
    if (workplaceOf(state, name) === null) {
      const draft = needView(state, live, happening, name);
      if (draft !== null) return draft;
      continue;
    }
    live.wake.delete(name);
    const draft = new Draft(state, happening);
    startActor(draft, live, { ...facts, ...startNumbers(state, name), prompt: null });
    const actor = live.actors.get(name);
    if (actor !== undefined) tellCompaction(draft, live, actor);
    live.mailDirty.add(name);
    return draft;
  }
  return null;
}

export function stop(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'stop' }>,
): Draft {
  const draft = new Draft(state, happening).about('run');
  if (state.run.ended !== null) return draft;
  if (live.halting === null) {
    live.halting = { next: 'interrupt', text: `stopped by ${event.by}` };
    draft.runChange({ type: 'run.stop-requested', by: event.by, now: event.now });
  }
  return draft.effect({ type: 'halt', graceMs: event.now ? 0 : STOP_GRACE_MS });
}

/** Everything is gone (S4): the run is interrupted, or ended by its budget, or was at its end. */
export function stopped(
  state: RunState,
  live: Live,
  happening: Happening,
  left: readonly number[],
): Draft {
  const draft = new Draft(state, happening).about('run');
  const { halting } = live;
  live.actors.clear();
  if (halting === null) return draft;
  if (halting.next === 'end') return draft;
  endOpenProcs(draft, 'killed', left);
  const rest = left.length === 0 ? '' : `; processes left: ${left.join(', ')}`;
  if (halting.next !== 'interrupt') {
    for (const name of state.actors.byName.keys()) {
      withdrawOf(draft, live, name, 'the run has ended');
    }
  }
  if (halting.next === 'interrupt') {
    return draft.runChange({ type: 'run.interrupted', text: `${halting.text}${rest}` });
  }
  const isBudget = halting.next === 'budget';
  return draft.runChange({
    type: 'run.ended',
    state: isBudget ? 'budget' : 'failed',
    reason: { kind: isBudget ? 'budget' : 'agent', text: `${halting.text}${rest}` },
    commit: live.tip,
  });
}

export function stopActor(
  state: RunState,
  live: Live,
  happening: Happening,
  event: Extract<RunEvent, { type: 'stop.actor' }>,
): Draft {
  const draft = new Draft(state, happening);
  const facts = actorOf(state.actors, event.name);
  if (facts === null) {
    return draft.effect({
      type: 'refuse',
      token: event.token,
      error: {
        code: 'actor/unknown',
        message: `there is no actor "${event.name}" in this run`,
        exit: 5,
      },
    });
  }
  const { name, incarnation } = facts;
  live.stops.set(name, [...(live.stops.get(name) ?? []), event.token]);
  const actor = live.actors.get(name);
  const text = `stopped by ${event.by}`;
  if (actor !== undefined) {
    actor.phase = 'stopping';
    actor.doom = { kind: 'stopped', text };
    withdrawOf(draft.about('perm', actor), live, name, `${name} is being stopped`);
    const graceMs = event.now ? 0 : STOP_GRACE_MS;
    return draft.effect({ type: 'actor.stop', name, incarnation: actor.incarnation, graceMs });
  }
  if (facts.phase.kind === 'ended' && facts.phase.end.kind !== 'crashed') return draft;
  endStopped(draft, live, { name, incarnation, text });
  return draft;
}

/** Ends what can never move, then the run, when nothing is going on any more; null while something is. */
export function settleEnd(state: RunState, live: Live, happening: Happening): Draft | null {
  if (!isQuiet(state, live, happening)) return null;
  if (!allTerminal(state.graph)) {
    // Whom a quota keeps from working can work when it is there again.
    if (state.spending.quotas.size > 0) return null;
    if (isOpen(state.breaker)) return null;
    return failUnservable(state, live, happening);
  }
  const counts = taskCounts(state.graph);
  const lead = actorOf(state.actors, LEAD);
  const leadLost = lead !== null && !mayRun(state, lead, null);
  if (counts.failed === 0 && counts.cancelled === 0 && !leadLost) {
    const gate = nextFinishGate(state, live, happening);
    if (gate !== null) return gate;
  }
  const view = state.trees.get(VIEW);
  if (view !== undefined) {
    const draft = new Draft(state, happening);
    dropTree(draft, live, view);
    return draft;
  }
  return endRun(
    state,
    live,
    happening,
    outcome(state, { failed: counts.failed, cancelled: counts.cancelled, leadLost }),
  );
}

function isQuiet(state: RunState, live: Live, happening: Happening): boolean {
  if (state.run.startedAt === null || live.finishBusy || live.view === 'preparing') return false;
  if (live.taskOps.size + live.acts.size > 0) return false;
  // What runs in the background ends with the run.
  for (const { kind } of live.commands.values()) if (kind !== 'background') return false;
  if (live.dirty.size + live.mailDirty.size + live.wake.size > 0) return false;
  for (const name of live.resting.keys()) {
    if (mustRest(live, name, happening.monotonicMs)) return false;
  }
  if (live.merge !== null || live.mergeQueue.length + live.drops.size > 0) return false;
  for (const actor of live.actors.values()) if (actor.phase !== 'idle') return false;
  for (const actor of state.actors.byName.values()) {
    if (actor.kind === 'subagent' || !hasUnread(state.mail, actor.name)) continue;
    if (mayRun(state, actor, happening.now)) return false;
  }
  return true;
}

function nextFinishGate(state: RunState, live: Live, happening: Happening): Draft | null {
  live.finish ??= { commit: live.tip, index: 0, tries: 0 };
  const gate = state.file.team.finish.verify[live.finish.index];
  if (gate === undefined || gate.kind !== 'command') return null;
  const draft = new Draft(state, happening).about('proc');
  const id = draft.nextProc();
  live.finishBusy = true;
  live.commands.set(id, { kind: 'finish', gate: gate.run, commit: live.tip });
  draft.proc({ type: 'proc.started', id, command: gate.run, cwd: '', actor: null, task: null });
  return draft.effect({
    type: 'command.start',
    id,
    command: gate.run,
    by: 'team',
    place: { kind: 'scratch', commit: live.tip },
    timeoutMs: gate.timeoutMs,
    tailOnly: true,
  });
}

function outcome(
  state: RunState,
  seen: { readonly failed: number; readonly cancelled: number; readonly leadLost: boolean },
): { state: RunEndState; reason: Reason | null } {
  if (seen.failed > 0) {
    const failed = [...state.graph.nodes.values()].filter((node) => node.state === 'failed');
    const names = failed.map((node) => node.spec.id).join(', ');
    return {
      state: 'failed',
      reason: { kind: 'task', ref: failed[0]?.spec.id ?? '', text: `failed: ${names}` },
    };
  }
  if (seen.leadLost)
    return {
      state: 'failed',
      reason: { kind: 'agent', ref: LEAD, text: 'the lead could not go on' },
    };
  const gate = state.run.gates
    .filter((one) => one.commit === state.run.gates.at(-1)?.commit)
    .find((one) => !one.ok);
  if (gate !== undefined) {
    return {
      state: 'failed',
      reason: {
        kind: 'gate',
        ref: gate.gate,
        text: `on the integration branch the gate \`${gate.gate}\` failed`,
      },
    };
  }
  if (seen.cancelled > 0)
    return { state: 'cancelled', reason: { kind: 'cancelled', text: 'tasks were cancelled' } };
  return { state: 'done', reason: null };
}

function endRun(
  state: RunState,
  live: Live,
  happening: Happening,
  end: { readonly state: RunEndState; readonly reason: Reason | null },
): Draft {
  const draft = new Draft(state, happening).about('run');
  live.halting = { next: 'end', text: '' };
  draft.runChange({ type: 'run.ended', ...end, commit: live.tip });
  return draft.effect({ type: 'halt', graceMs: STOP_GRACE_MS });
}
