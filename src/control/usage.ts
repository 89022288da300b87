/** What a run has cost: in all, by actor, by task and by model; from its journal, while it goes on and afterwards. */
import type { RunStatus } from '../protocol/shapes.ts';
import type { Budget } from '../protocol/team.ts';
import { NO_USAGE, totalTokens, type Usage } from '../protocol/usage.ts';
import { type RunView, rowOf } from './queries.ts';

export type UsageRow = Usage & { readonly name: string };

export interface UsageAnswer extends Usage {
  readonly run: string;
  readonly state: RunStatus;
  /** In force now. */
  readonly budget: Budget;
  /** Model answers. */
  readonly turns: number;
  readonly wallMs: number;
  /** For requests that are under way: what they may cost at most; not in the sums. */
  readonly aside: {
    readonly requests: number;
    readonly tokens: number;
    readonly costUsd: number;
  };
  readonly actors: readonly UsageRow[];
  readonly tasks: readonly UsageRow[];
  readonly models: readonly UsageRow[];
  /** Models whose price nobody knows: what they cost is not in the sums. */
  readonly unpriced: readonly string[];
}

export function usageOf(view: RunView): UsageAnswer {
  const { state } = view;
  const { usage, spending } = state;
  const open = [...spending.open.values()];
  const models = rowsOf(usage.byModel);
  const known = [...state.actors.byName.keys()];
  return {
    ...usage.total,
    run: view.run,
    state: rowOf(view).state,
    budget: spending.budget,
    turns: spending.turns,
    wallMs: state.wallMs,
    aside: {
      requests: open.length,
      tokens: open.reduce((sum, one) => sum + one.input + one.output, 0),
      costUsd: open.reduce((sum, one) => sum + one.usd, 0),
    },
    actors: rowsOf(usage.byActor, known),
    tasks: rowsOf(usage.byTask, [...state.graph.nodes.keys()]),
    models,
    unpriced: models.filter(isUnpriced).map((row) => row.name),
  };
}

/** Also those that have spent nothing, in their own order. */
function rowsOf(usages: ReadonlyMap<string, Usage>, names: readonly string[] = []): UsageRow[] {
  const all = new Set<string>([...names, ...usages.keys()]);
  return [...all].map((name) => ({ name, ...(usages.get(name) ?? NO_USAGE) }));
}

function isUnpriced(row: UsageRow): boolean {
  if (row.name.startsWith('scripted/')) return false;
  return row.estimated && row.costUsd === 0 && totalTokens(row) > 0;
}
