/** `troupe cron list`, `show NAME` and `history [NAME]`: read from the journal, beside its writer. */
import {
  type CronDetail,
  cronHistory,
  cronJob,
  cronJobs,
  isUp,
  type Workspace,
} from '../../control/index.ts';
import { EXIT, type ExitCode } from '../../kernel/errors.ts';
import type { CronHistoryRow, CronRow } from '../../protocol/cron.ts';
import type { Context } from '../context.ts';
import { usageError } from '../failure.ts';
import { safeText } from '../text/safe.ts';
import { type Column, REASON_MAX, renderPairs, renderTable } from '../text/table.ts';
import { countdown, duration } from '../text/time.ts';
import { nameIn, nobody } from './edit.ts';

export async function list(context: Context, words: readonly string[]): Promise<ExitCode> {
  if (words.length > 0) throw usageError('cron list takes no name', 'See `troupe cron show NAME`.');
  const workspace = await context.workspace();
  const rows = await cronJobs(workspace);
  if (context.json) context.printJson(rows);
  else if (rows.length === 0) context.print('No jobs yet. See `troupe cron add --help`.\n');
  else {
    const now = workspace.deps.clock.now();
    context.print(renderTable(columns(now), rows, context));
    await tellNobody(context, workspace, rows);
  }
  return EXIT.ok;
}

const localHere = (at: string): string => {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
};

const columns = (now: number): readonly Column<CronRow>[] => [
  { head: 'NAME', cell: (row) => row.name },
  { head: 'SCHEDULE', cell: (row) => row.schedule, shrinkTo: 12 },
  { head: 'ZONE', cell: (row) => row.tz },
  { head: 'NEXT THERE', cell: (row) => row.nextLocal ?? notDue(row) },
  { head: 'NEXT HERE', cell: (row) => (row.nextAt === null ? '-' : localHere(row.nextAt)) },
  {
    head: 'IN',
    cell: (row) => {
      if (row.nextAt === null) return '-';
      const jitter = row.jitterMs === 0 ? '' : ` (jitter ${duration(row.jitterMs)})`;
      return `${countdown(Date.parse(row.nextAt) - now)}${jitter}`;
    },
  },
  { head: 'LAST', cell: (row) => row.lastSlot ?? 'never' },
  { head: 'DOES', cell: (row) => row.work, shrinkTo: 12, max: 50 },
];

function notDue(row: CronRow): string {
  if (row.broken !== null) return `set aside: ${row.broken}`;
  return row.paused ? 'paused' : 'never again';
}

async function tellNobody(
  context: Context,
  { deps, places }: Workspace,
  rows: readonly CronRow[],
): Promise<void> {
  if (rows.every((row) => row.nextAt === null)) return;
  const status = await deps.live.status(places);
  if (!isUp(status)) context.print(`${nobody(context)}\n`);
}

export async function show(context: Context, words: readonly string[]): Promise<ExitCode> {
  const workspace = await context.workspace();
  const detail = await cronJob(workspace, nameIn(words, 'show'));
  if (context.json) {
    context.printJson(detail);
    return EXIT.ok;
  }
  context.print(renderPairs(pairsOf(detail)));
  if (detail.history.length > 0) {
    context.print(`\n${renderTable(HISTORY, detail.history, context)}`);
  }
  return EXIT.ok;
}

function pairsOf(detail: CronDetail): [string, string][] {
  const { job } = detail;
  if (job === null) return [['set aside', detail.broken ?? '']];
  const limits = [
    ...(job.start === null ? [] : [`from ${job.start}`]),
    ...(job.end === null ? [] : [`until ${job.end}`]),
    ...(job.maxRuns === null ? [] : [`at most ${job.maxRuns} times`]),
    ...(job.timeLimitMs === null ? [] : [`${duration(job.timeLimitMs)} each`]),
    ...(job.budgetUsd === null ? [] : [`$${job.budgetUsd} each`]),
  ];
  return [
    ['name', job.name],
    ['schedule', `${detail.schedule} in ${detail.tz}`],
    ['next', detail.nextLocal ?? notDue(detail)],
    ...(job.jitterMs === 0
      ? []
      : [['jitter', `up to ${duration(job.jitterMs)}`] as [string, string]]),
    ['does', detail.work],
    ['overlap', job.overlap],
    ['catch-up', detail.catchUp],
    ['after a crash', job.onCrash],
    ['rules', job.mode === null ? 'as everywhere' : `mode ${job.mode}`],
    ['asks', job.attended ? 'wait for you' : 'are denied: nobody answers'],
    ['limits', limits.length === 0 ? 'none' : limits.join(', ')],
    ['added', `${job.createdAt} by ${job.by}`],
  ];
}

const HISTORY: readonly Column<CronHistoryRow>[] = [
  { head: 'JOB', cell: (row) => row.name },
  { head: 'SLOT', cell: (row) => row.slot },
  { head: 'STATE', cell: (row) => row.state },
  {
    head: 'TOOK',
    cell: (row) => (row.durationMs === null ? '-' : duration(row.durationMs)),
    align: 'right',
  },
  {
    head: 'COST',
    cell: (row) => (row.costUsd === null || row.costUsd === 0 ? '-' : `$${row.costUsd.toFixed(2)}`),
    align: 'right',
  },
  { head: 'RUN', cell: (row) => row.run ?? '-' },
  { head: 'WHY', cell: (row) => whyOf(row), shrinkTo: 16, max: REASON_MAX },
];

function whyOf(row: CronHistoryRow): string {
  const many = row.until === null ? '' : `${row.count ?? 'very many'} slots until ${row.until}: `;
  const by = row.trigger === 'schedule' ? '' : ` (${row.trigger})`;
  return `${many}${safeText(row.reason ?? '')}${by}`.trim();
}

export async function history(context: Context, words: readonly string[]): Promise<ExitCode> {
  const name = words.length === 0 ? undefined : nameIn(words, 'history');
  const rows = await cronHistory(await context.workspace(), name);
  if (context.json) context.printJson(rows);
  else if (rows.length === 0) context.print('No slot was due yet.\n');
  else context.print(renderTable(HISTORY, rows, context));
  return EXIT.ok;
}
