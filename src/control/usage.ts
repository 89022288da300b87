/** What a run has cost: in all, by actor, by task and by model; from its journal, while it goes on and afterwards. */
import { NO_USAGE, totalTokens, type Usage } from '../protocol/usage.ts';
import type { UsageAnswer, UsageRow } from '../protocol/views.ts';
import { type RunView, rowOf } from './queries.ts';

export type { UsageAnswer, UsageRow } from '../protocol/views.ts';

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
