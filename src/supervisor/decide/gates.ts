/** What the end of a gate's command means, the same for the gates of a task, of a merge and of the run. */
import type { Gate } from '../../protocol/index.ts';
import type { TaskNode } from '../../tasks/index.ts';
import type { Draft } from '../draft.ts';
import type { CommandOutcome } from '../inbox.ts';
import { GATE_TAIL_BYTES } from '../limits.ts';
import type { GateProgress, Live } from '../live.ts';
import { clip } from '../text.ts';
import { gateReport } from './letters.ts';
import { endAttempt } from './task-ends.ts';

type CommandGate = Extract<Gate, { kind: 'command' }>;

export function succeeded(outcome: CommandOutcome): boolean {
  return outcome.code === 0 && outcome.why === 'exit';
}

/** Counts the try; null when the gate is to be tried once more. */
export function verdictOf(
  progress: GateProgress,
  gate: CommandGate,
  outcome: CommandOutcome,
): { readonly ok: boolean; readonly tries: number } | null {
  const ok = succeeded(outcome);
  progress.tries += 1;
  return ok || progress.tries > gate.retries ? { ok, tries: progress.tries } : null;
}

export function toNextGate(progress: GateProgress): void {
  progress.index += 1;
  progress.tries = 0;
}

/** The worker is told what the gate printed; the attempt is over. */
export function endByGate(
  draft: Draft,
  live: Live,
  failed: {
    readonly node: TaskNode;
    readonly gate: CommandGate;
    readonly outcome: CommandOutcome;
    readonly who: string;
  },
): void {
  const { node, gate, outcome, who } = failed;
  const report = gateReport(gate.run, outcome, who);
  endAttempt(draft, live, {
    node,
    counts: 'attempt',
    reason: { kind: 'gate', ref: gate.run, text: clip(report, 400) },
    rework: clip(report, GATE_TAIL_BYTES),
  });
}
