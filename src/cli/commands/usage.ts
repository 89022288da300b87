/** `troupe usage [RUN]`: what a run has cost, by actor, task and model. */
import { type UsageAnswer, type UsageRow, usageOf, viewAsked } from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import { totalTokens } from '../../protocol/usage.ts';
import type { OptionValues } from '../command.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { noRunYet } from '../no-run.ts';
import { text } from '../options.ts';
import { type Column, renderTable } from '../text/table.ts';
import { duration, money, tokens } from '../text/time.ts';

const PARTS = { actor: 'actors', task: 'tasks', model: 'models' } as const;
type Part = keyof typeof PARTS;

export async function run(
  context: Context,
  args: readonly string[],
  options: OptionValues,
): Promise<ExitCode> {
  const by = partOf(text(options, 'by'));
  const workspace = await context.workspace();
  const wanted = args[0] ?? text(options, 'run');
  const view = await viewAsked(workspace, wanted, 'usage');
  const answer = view === null ? null : usageOf(view);
  if (context.json) {
    context.printJson(answer === null || by === null ? answer : answer[PARTS[by]]);
  } else if (answer === null) context.print(noRunYet(context));
  else if (by !== null) context.print(tableOf(context, by, answer));
  else {
    const tables = (['actor', 'task', 'model'] as const).filter(
      (part) => answer[PARTS[part]].length > 0,
    );
    context.print(
      [head(answer), ...tables.map((part) => tableOf(context, part, answer))].join('\n'),
    );
  }
  return EXIT.ok;
}

function partOf(name: string | undefined): Part | null {
  if (name === undefined) return null;
  if (name === 'actor' || name === 'task' || name === 'model') return name;
  throw usageError(`--by ${JSON.stringify(name)} is nothing to sum up by`, 'actor, task or model.');
}

function tableOf(context: Context, part: Part, answer: UsageAnswer): string {
  const count =
    (get: (row: UsageRow) => number) =>
    (row: UsageRow): string =>
      String(get(row));
  const columns: readonly Column<UsageRow>[] = [
    { head: part.toUpperCase(), cell: (row) => row.name, shrinkTo: 12 },
    { head: 'INPUT', cell: count((row) => row.inputTokens), align: 'right' },
    { head: 'OUTPUT', cell: count((row) => row.outputTokens), align: 'right' },
    { head: 'CACHE READ', cell: count((row) => row.cacheReadTokens), align: 'right' },
    { head: 'CACHE WRITE', cell: count((row) => row.cacheWriteTokens), align: 'right' },
    {
      head: 'COST',
      cell: (row) => (part === 'model' && answer.unpriced.includes(row.name) ? '?' : money(row)),
      align: 'right',
    },
  ];
  return renderTable(columns, answer[PARTS[part]], context);
}

function head(answer: UsageAnswer): string {
  const { run, state, aside, unpriced } = answer;
  const cost = money(answer);
  const lines = [
    `Run ${run} (${state}): ${tokens(answer)} tokens, cost ${cost === '-' ? 'nothing' : cost}${answer.estimated ? ' (in part an estimate)' : ''}.`,
    ...bounds(answer),
  ];
  if (aside.requests > 0) {
    const usd = aside.costUsd === 0 ? '' : `, $${aside.costUsd.toFixed(4)}`;
    lines.push(`Put aside for ${aside.requests} under way: ${aside.tokens} tokens${usd}.`);
  }
  if (unpriced.length > 0) {
    lines.push(`Nobody knows the price of ${unpriced.join(', ')}: it is not in the sum.`);
  }
  if (state === 'budget') {
    lines.push(`Go on with more: troupe resume ${run} --budget-usd N (what it may spend in all).`);
  }
  return `${lines.join('\n')}\n`;
}

function bounds(answer: UsageAnswer): string[] {
  const { usd, tokens: most, wallMs, turns = null } = answer.budget;
  const parts = [
    ...(usd === null ? [] : [`$${answer.costUsd.toFixed(4)} of $${usd}`]),
    ...(most === null ? [] : [`${totalTokens(answer)} of ${most} tokens`]),
    ...(turns === null ? [] : [`${answer.turns} of ${turns} turns`]),
    ...(wallMs === null ? [] : [`${duration(answer.wallMs)} of ${duration(wallMs)}`]),
  ];
  return parts.length === 0 ? [] : [`Budget: ${parts.join(', ')}.`];
}
