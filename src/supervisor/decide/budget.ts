/** What a run may still spend. */
import { totalTokens, type Usage } from '../../protocol/index.ts';
import { BUDGET_WARN_SHARE } from '../limits.ts';
import type { RunState } from '../state.ts';

/** Where the run stands against its budget once `more` is added. */
export function overBudget(state: RunState, more: Usage): 'no' | 'warn' | 'over' {
  const { budget } = state.file.team;
  const shares: number[] = [];
  if (budget.usd !== null) {
    shares.push((state.usage.total.costUsd + more.costUsd) / Math.max(budget.usd, 1e-9));
  }
  if (budget.tokens !== null) {
    shares.push((totalTokens(state.usage.total) + totalTokens(more)) / Math.max(budget.tokens, 1));
  }
  const share = Math.max(0, ...shares);
  if (share >= 1) return 'over';
  return share >= BUDGET_WARN_SHARE && !state.run.warned ? 'warn' : 'no';
}

export function spentText(state: RunState, more: Usage): string {
  const { budget } = state.file.team;
  const usd = state.usage.total.costUsd + more.costUsd;
  const tokens = totalTokens(state.usage.total) + totalTokens(more);
  const parts = [
    ...(budget.usd === null ? [] : [`${usd.toFixed(2)} of ${budget.usd} USD`]),
    ...(budget.tokens === null ? [] : [`${tokens} of ${budget.tokens} tokens`]),
  ];
  return `the budget of the run is used up: ${parts.join(', ')}`;
}
