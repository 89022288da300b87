/**
 * What people are shown, derived from facts and liveness by pure functions (design §3: facts are stored, status is
 * derived). The same rows serve a live supervisor and a reader of journals.
 */
import { type ActorLive, actorOf, actorRow, endOf } from '../actors/index.ts';
import { type ActorName, USER } from '../kernel/index.ts';
import { asksOf, grantStanding, openAsks } from '../permissions/index.ts';
import {
  type ActorRow,
  type AskRow,
  type Grant,
  type GrantRow,
  NO_USAGE,
  type PayloadRef,
  type PlanRow,
  type Reason,
  type RunRow,
  type RunStatus,
  type TaskRow,
  type TreeRow,
} from '../protocol/index.ts';
import {
  taskRows as graphRows,
  isTerminal,
  type ReasonContext,
  type TaskNode,
} from '../tasks/index.ts';
import { integrationBranch } from '../worktree/index.ts';
import { breakerReason, isOpen } from './breaker.ts';
import { openPlanOf } from './decide/plan-gate.ts';
import { freeMembers, hire, quotaOf, quotaOfTask, VIEW } from './decide/roster.ts';
import type { Live, Liveness } from './live.ts';
import type { QuotaHold } from './spending.ts';
import type { RunState } from './state.ts';
import type { Plan } from './teamwork.ts';

/** A run that is neither ended nor held by a supervisor is interrupted. */
function runStatus(state: RunState, liveness: Liveness): RunStatus {
  if (state.run.ended !== null) return state.run.ended.state;
  return liveness.alive ? 'running' : 'interrupted';
}

export function runRow(state: RunState, liveness: Liveness): RunRow {
  const { run, file } = state;
  return {
    id: file.id,
    name: file.team.name,
    state: runStatus(state, liveness),
    reason: run.ended?.reason ?? interruption(state, liveness),
    startedAt: run.startedAt ?? file.createdAt,
    endedAt: run.ended?.at ?? null,
    base: file.baseCommit,
    branch: integrationBranch(file.id),
    usage: state.usage.total,
  };
}

function interruption(state: RunState, liveness: Liveness): Reason | null {
  if (liveness.alive || state.run.ended !== null) return null;
  const text = state.run.interrupted?.text ?? 'its supervisor ended without a word';
  return { kind: 'stopped', text };
}

/** Why an actor waits for a person; also for what it is paused. */
function waitingReason(state: RunState, name: ActorName): Reason {
  const paused = state.asks.paused.get(name);
  if (paused !== undefined) {
    return {
      kind: 'approval',
      text: `paused: ${paused}; write to it with \`troupe send ${name} …\``,
    };
  }
  const [ask] = asksOf(state.asks, name);
  if (ask === undefined) {
    const facts = actorOf(state.actors, name);
    const hold = facts === null ? null : quotaOf(state, facts.profile);
    if (hold !== null) return reasonOfQuota(hold);
    return { kind: 'budget', text: 'waits for its turn to ask its model' };
  }
  const text = `asks to use ${ask.tool} (${ask.touches[0] ?? ask.reason}); answer with \`troupe approve ${ask.id.slice(0, 12)}\` or \`deny\``;
  return { kind: 'approval', ref: ask.id, text };
}

/** Why a running task does not move: who works on it waits for a person. */
function approvalReason(state: RunState, node: TaskNode): Reason | null {
  if (node.state !== 'running') return null;
  for (const ask of state.asks.asks.values()) {
    if (ask.answer !== null) continue;
    const waiter = ask.waiters.find((one) => one.task === node.spec.id);
    if (waiter !== undefined) return waitingReason(state, waiter.actor);
  }
  const { owner } = node;
  return owner !== null && state.asks.paused.has(owner) ? waitingReason(state, owner) : null;
}

/** What waits for a person, in the order in which it is to be shown (P32). */
export function askRows(state: RunState): AskRow[] {
  return openAsks(state.asks).map((ask) => {
    const [first, ...others] = ask.waiters;
    return {
      id: ask.id,
      actor: first?.actor ?? '',
      ancestry: first?.ancestry ?? [],
      tool: ask.tool,
      input: ask.input,
      reason: ask.reason,
      rule: ask.rule,
      digest: ask.digest,
      requestedAt: ask.requestedAt,
      expiresAt: ask.expiresAt,
      run: state.file.id,
      also: others.map((one) => one.actor),
      profile: ask.profile,
      task: first?.task ?? null,
      touches: ask.touches,
      offer: ask.offer?.pattern ?? null,
      ...(ask.blob === undefined || ask.bytes === undefined
        ? {}
        : { blob: ask.blob, bytes: ask.bytes }),
    };
  });
}

export function grantRows(grants: readonly Grant[], nowMs: number): GrantRow[] {
  return grants.map((grant) => {
    const { id, scope, pattern, profile, by, at, expiresAt, lastUsedAt } = grant;
    return {
      id,
      scope,
      pattern,
      profile,
      run: scope === 'run' ? grant.run : null,
      by,
      at,
      expiresAt,
      lastUsedAt,
      pins: Object.keys(grant.pins),
      state: grantStanding(grant, nowMs),
    };
  });
}

export function reasonContext(state: RunState, nowMs: number): ReasonContext {
  return {
    parallel: state.file.team.limits.parallel,
    free: (_key: string, node: TaskNode) =>
      node.spec.run !== null ||
      freeMembers(state, node.spec.agent, nowMs).length > 0 ||
      hire(state, node.spec.agent) !== null,
  };
}

export function taskRows(
  state: RunState,
  liveness: Liveness,
  ids?: readonly TaskNode['spec']['id'][],
): TaskRow[] {
  const halted = runStatus(state, liveness) !== 'running';
  const context: ReasonContext = {
    ...reasonContext(state, Date.parse(state.lastAt)),
    known: (node) =>
      halted && !isTerminal(node.state)
        ? haltReason(state, liveness)
        : (unknownReason(state, node.spec.id) ??
          approvalReason(state, node) ??
          planReason(state, node) ??
          holdReason(liveness, node) ??
          quotaReason(state, node) ??
          faultReason(state, node)),
  };
  const rows = graphRows(
    state.graph,
    { ...context, usageOf: (id) => state.usage.byTask.get(id) ?? NO_USAGE },
    ids,
  );
  // The graph remembers where a tree was; whether it is there is known here.
  return rows.map((row) => (state.trees.has(row.id) ? row : { ...row, worktree: null }));
}

/** What a newer version recorded of it is not known here. */
export function unknownReason(state: RunState, about: string): Reason | null {
  const text = state.unknown.get(about);
  return text === undefined ? null : { kind: 'unknown', text };
}

/** It could be begun, but for a row of failures of others, or for a fault of ours. */
function faultReason(state: RunState, node: TaskNode): Reason | null {
  if (node.state !== 'ready') return null;
  if (node.spec.run === null && isOpen(state.breaker)) return breakerReason(state.breaker);
  const text = state.alarms.get(node.spec.id);
  return text === undefined ? null : { kind: 'stalled', text };
}

/** The head of the merge queue, when something outside stands in its way. */
function holdReason({ mergeHold }: Liveness, node: TaskNode): Reason | null {
  if (node.state !== 'merging' || mergeHold?.task !== node.spec.id) return null;
  return { kind: 'merge', text: `its merge is tried again every few seconds: ${mergeHold.text}` };
}

/** Nobody can ask the models of who works on it, or could. */
function quotaReason(state: RunState, node: TaskNode): Reason | null {
  if (node.spec.run !== null || (node.state !== 'ready' && node.state !== 'running')) return null;
  const owner = node.state === 'running' ? actorOf(state.actors, node.owner ?? '') : null;
  const hold = owner === null ? quotaOfTask(state, node.spec.agent) : quotaOf(state, owner.profile);
  return hold === null ? null : reasonOfQuota(hold);
}

function reasonOfQuota({ provider, until, text, down }: QuotaHold): Reason {
  const what = down === undefined ? 'the quota' : `${provider}, which does not answer,`;
  return { kind: 'quota', ref: provider, text: `waits for ${what} until ${until} (${text})` };
}

/** A worker whose plan lies with somebody: what it waits for, and what a person types. */
function planReason(state: RunState, node: TaskNode): Reason | null {
  if (node.state !== 'running' || node.owner === null) return null;
  const plan = openPlanOf(state, node.owner);
  return plan === null || plan.task !== node.spec.id ? null : waitReason(plan);
}

function waitReason({ id, to }: Plan): Reason {
  const how = to === USER ? `: troupe plan approve ${id}, or reject` : '';
  return { kind: 'approval', ref: id, text: `${id} waits for ${to}${how}` };
}

/** What `PlanRow` is made of: `payload` says where the whole text lies, when `text` is its head. */
export interface PlanRowOf extends PlanRow {
  readonly payload: PayloadRef | null;
}

/** Oldest first. */
export function planRows(state: RunState): PlanRowOf[] {
  return [...state.team.plans.values()].map((plan) => {
    const { id, by, to, task, state: now, at, decidedBy, feedback, text, blob, bytes } = plan;
    const payload = blob === undefined || bytes === undefined ? null : { blob, bytes };
    return { id, by, to, task, state: now, at, decidedBy, feedback, text, payload };
  });
}

function haltReason(state: RunState, liveness: Liveness): Reason {
  const status = runStatus(state, liveness);
  if (status === 'budget') {
    return state.run.ended?.reason ?? { kind: 'budget', text: 'the budget of the run is used up' };
  }
  return {
    kind: 'stopped',
    text: `the run is ${status}`,
  };
}

export function actorRows(state: RunState, liveness: Liveness): ActorRow[] {
  const over = runStatus(state, liveness) !== 'running';
  return [...state.actors.byName.values()].map((facts) => {
    const phase = waitingPhase(state, facts.name, liveness.phases[facts.name]);
    const row = actorRow(facts, {
      live: liveOf(phase),
      task: state.claims.get(facts.name) ?? null,
      usage: state.usage.byActor.get(facts.name) ?? NO_USAGE,
      ...(phase === undefined ? {} : { activeSince: phase.since }),
    });
    if (!over || endOf(facts) !== null) return row;
    const { ended, interrupted } = state.run;
    return {
      ...row,
      state: 'stopped',
      since: ended?.at ?? interrupted?.at ?? state.lastAt,
      reason: { kind: 'stopped', text: 'the run does not go on' },
    };
  });
}

/** Idle, because a plan of its lies with somebody: that is waiting, and for what. */
function waitingPhase(
  state: RunState,
  name: ActorName,
  phase: Liveness['phases'][string] | undefined,
): typeof phase {
  const plan = phase?.state === 'idle' ? openPlanOf(state, name) : null;
  if (phase === undefined || plan === null) return phase;
  return { ...phase, state: 'waiting', reason: waitReason(plan) };
}

function liveOf(phase: Liveness['phases'][string] | undefined): ActorLive {
  if (phase === undefined) return { kind: 'absent' };
  switch (phase.state) {
    case 'starting':
    case 'stopping':
      return { kind: phase.state };
    case 'idle':
    case 'thinking':
    case 'tooling':
      return { kind: 'running', activity: { kind: phase.state } };
    case 'waiting':
      return {
        kind: 'running',
        activity: {
          kind: 'waiting',
          reason: phase.reason ?? { kind: 'approval', text: 'waiting' },
        },
      };
    case 'passivated':
    case 'stopped':
    case 'crashed':
      return { kind: 'absent' };
  }
}

export function treeRows(state: RunState, liveness: Liveness): TreeRow[] {
  const running = runStatus(state, liveness) === 'running';
  return [...state.trees.values()].map((tree) => {
    const node = [...state.graph.nodes.values()].find((one) => one.spec.id === tree.owner);
    return {
      task: node?.spec.id ?? null,
      run: state.file.id,
      path: tree.path,
      branch: tree.branch,
      state: node?.state ?? (tree.owner === VIEW ? 'view' : 'scratch'),
      owner: node?.owner ?? null,
      kept: keptBecause(state, node ?? null, running),
    };
  });
}

function keptBecause(state: RunState, node: TaskNode | null, running: boolean): string | null {
  if (running) return 'the run goes on';
  if (node === null) return null;
  // Nothing resumes a run that has ended, and its work is saved before a tree goes (W8).
  const { ended } = state.run;
  return ended === null || ended.state === 'budget' ? 'the run can be resumed' : null;
}

/** As the supervisor that holds the run knows it. */
export function livenessIn(state: RunState, live: Live): Liveness {
  const phases: Record<string, Liveness['phases'][string]> = {};
  for (const actor of live.actors.values()) {
    const reason = actor.phase === 'waiting' ? waitingReason(state, actor.name) : null;
    phases[actor.name] = { state: actor.phase, since: actor.since, reason };
  }
  const { mergeHold } = live;
  const [task] = live.mergeQueue;
  const held = mergeHold === null || task === undefined ? null : { task, text: mergeHold.text };
  return { alive: state.run.interrupted === null, mergeHold: held, phases };
}
