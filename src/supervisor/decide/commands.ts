/** What becomes of a command: its end is recorded in one line with what it means for the task or the call it served. */
import { actorOf } from '../../actors/index.ts';
import { type CallId, type ProcId, USER } from '../../kernel/index.ts';
import { Draft } from '../draft.ts';
import type { CommandOutcome, Happening } from '../inbox.ts';
import type { Live, PendingAct } from '../live.ts';
import type { RunState } from '../state.ts';
import { interruptAsks } from './asks/end.ts';
import { backgroundEnded } from './background.ts';
import { succeeded, toNextGate, verdictOf } from './gates.ts';
import { gateReport, howItEnded } from './letters.ts';
import { mergeGateEnded } from './merges.ts';
import { finishAct } from './results.ts';
import { opEnded } from './task-ends.ts';
import { commandTaskEnded, taskGateEnded } from './tasks.ts';

/** What a task is in while its gates run. */
const STAGE = { task: 'verifying', merge: 'merging' } as const;

export function commandEnded(
  state: RunState,
  live: Live,
  happening: Happening,
  event: { id: ProcId; outcome: CommandOutcome },
): Draft {
  const { id, outcome } = event;
  const draft = new Draft(state, happening).about('proc');
  const purpose = live.commands.get(id);
  live.commands.delete(id);
  const { code, signal, why, left } = outcome;
  if (state.procs.has(id)) draft.proc({ type: 'proc.ended', id, code, signal, why, left });
  if (left.length > 0) {
    draft.notice({
      to: USER,
      lane: 'normal',
      type: 'command.finished',
      body: { text: `Processes that could not be ended were left by ${id}: ${left.join(', ')}` },
    });
  }
  // What a stop cut short means nothing; what came to its end in the grace is recorded like any other end.
  const cut = live.halting !== null && why === 'killed';
  if (purpose === undefined || cut || state.run.ended !== null) return draft;
  if (purpose.kind === 'bash') {
    bashEnded(draft, live, { act: purpose.act, id, outcome });
    return draft;
  }
  if (purpose.kind === 'background') {
    backgroundEnded(draft, live, { id, outcome });
    return draft;
  }
  if (purpose.kind === 'finish') {
    finishGateEnded(draft, live, { gate: purpose.gate, commit: purpose.commit, outcome, id });
    return draft;
  }
  const node = state.graph.nodes.get(purpose.task);
  opEnded(live, purpose.task);
  // T7: the end of a command that belongs to an older claim means nothing for the task.
  if (node === undefined || node.fence !== purpose.fence) return draft;
  const asks = purpose.kind === 'task' ? 'running' : STAGE[purpose.stage];
  if (node.state !== asks) return draft;
  if (purpose.kind === 'task') commandTaskEnded(draft, live, { node, outcome });
  else if (purpose.stage === 'merge') mergeGateEnded(draft, live, { node, outcome, id });
  else taskGateEnded(draft, live, { node, outcome, id });
  return draft;
}

function bashEnded(
  draft: Draft,
  live: Live,
  what: { readonly act: PendingAct; readonly id: ProcId; readonly outcome: CommandOutcome },
): void {
  const { act, id, outcome } = what;
  const actor = live.actors.get(act.name);
  if (!live.acts.delete(act.call)) return;
  if (actor === undefined || actor.incarnation !== act.incarnation) return;
  finishAct({ actor, request: act.request }, draft, act, {
    ok: succeeded(outcome),
    text: bashText(outcome, id),
    ...(outcome.cut ? { output: `outputs/${id}.log` } : {}),
  });
}

function bashText(outcome: CommandOutcome, id: ProcId): string {
  const whole = outcome.cut ? `\n(the whole output is in outputs/${id}.log)` : '';
  return `The command ${howItEnded(outcome)}.\n${outcome.text.trimEnd()}${whole}`;
}

/** A call was closed by its thread, or its actor is gone: its command is ended, its later result refused. */
export function cancelAct(live: Live, draft: Draft, call: CallId): void {
  const act = live.acts.get(call);
  if (act === undefined) return;
  live.acts.delete(call);
  live.awaited.delete(call);
  for (const [id, purpose] of live.commands) {
    if (purpose.kind === 'bash' && purpose.act.call === call) {
      draft.effect({ type: 'command.kill', id });
    }
  }
  if (act.tool.startsWith('task:')) {
    const child = actorOf(draft.state.actors, act.tool.slice('task:'.length));
    if (child === null) return;
    draft.effect({
      type: 'actor.stop',
      name: child.name,
      incarnation: child.incarnation,
      graceMs: 0,
    });
  }
}

/** Interrupt mail: what the supervisor runs for the actor now is cut, and the call closed with what is known (M5). */
export function interruptActs(draft: Draft, live: Live, name: PendingAct['name']): void {
  const actor = live.actors.get(name);
  if (actor === undefined) return;
  interruptAsks(draft, live, name);
  for (const act of live.acts.values()) {
    if (act.name !== name || act.tool === 'claim_task') continue;
    cancelAct(live, draft, act.call);
    finishAct({ actor, request: act.request }, draft, act, {
      ok: false,
      text: 'interrupted by mail before it ended; what it did until then stands',
    });
  }
}

function finishGateEnded(
  draft: Draft,
  live: Live,
  what: {
    readonly gate: string;
    readonly commit: string;
    readonly outcome: CommandOutcome;
    readonly id: ProcId;
  },
): void {
  const { outcome } = what;
  live.finishBusy = false;
  const progress = live.finish;
  const gate = progress === null ? undefined : draft.state.file.team.finish.verify[progress.index];
  if (progress === null || gate === undefined || gate.kind !== 'command') return;
  const verdict = verdictOf(progress, gate, outcome);
  if (verdict === null) return;
  draft.about('run').runChange({
    type: 'run.gate',
    gate: what.gate,
    commit: what.commit,
    ...verdict,
    exit: outcome.code,
    output: what.id,
  });
  toNextGate(progress);
  if (!verdict.ok) {
    draft.notice({
      to: USER,
      lane: 'normal',
      type: 'task.failed',
      body: { text: gateReport(what.gate, outcome, 'At the end of the run, the gate') },
    });
  }
}
