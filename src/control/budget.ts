/** What a run that is resumed may spend from now on; all of it is checked before anything is started. */
import type { Budget } from '../protocol/team.ts';
import { totalTokens } from '../protocol/usage.ts';
import { errors } from './errors.ts';
import type { RunView } from './queries.ts';

/** In all, with what is spent already; what is left out stays as it is. */
export interface MoreBudget {
  readonly usd?: number | undefined;
  readonly tokens?: number | undefined;
  readonly wallMs?: number | undefined;
  readonly turns?: number | undefined;
}

/** Undefined when nothing was given; throws for too little, and for a run that can't go on with what it has. */
export function budgetToResume(
  { run, state }: RunView,
  more: MoreBudget,
): Partial<Budget> | undefined {
  const { usage, spending, wallMs } = state;
  const budget = {
    ...above('--budget-usd', more.usd, 'usd', usage.total.costUsd),
    ...above('--budget-tokens', more.tokens, 'tokens', totalTokens(usage.total)),
    ...above('--budget-wall', more.wallMs, 'wallMs', wallMs),
    ...above('--budget-turns', more.turns, 'turns', spending.turns),
  };
  if (Object.keys(budget).length > 0) return budget;
  if (state.run.ended?.state === 'budget') throw errors.spentUp(run);
  return undefined;
}

function above(
  option: string,
  value: number | undefined,
  field: keyof Budget,
  spent: number,
): Partial<Budget> {
  if (value === undefined) return {};
  if (value <= spent) throw errors.tooSmall(option, shown(field, spent));
  return { [field]: value };
}

function shown(field: keyof Budget, spent: number): string {
  if (field === 'usd') return `${spent.toFixed(4)} USD`;
  if (field === 'wallMs') return `${Math.ceil(spent / 1000)}s`;
  return `${spent} ${field}`;
}
