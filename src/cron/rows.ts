/** Jobs and slots as people see them. */
import type { CronCatchUp, CronHistoryRow, CronJob, CronRow, CronSlot } from '../protocol/cron.ts';
import type { Broken, CronBook, JobFacts } from './book.ts';
import { dueAt } from './decide.ts';
import { localTime } from './moment.ts';

export function cronRows(book: CronBook): CronRow[] {
  const rows = [...book.jobs.values()].map((facts) => rowOf(facts, book));
  for (const broken of book.broken.values()) rows.push(brokenRow(broken));
  return rows.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function rowOf(facts: JobFacts, { zones }: CronBook): CronRow {
  const { job, ledger } = facts;
  const due = dueAt(facts);
  return {
    name: job.name,
    schedule: scheduleText(job),
    tz: job.timing.tz,
    nextAt: due === null ? null : new Date(due.at).toISOString(),
    lastSlot: [...ledger.history.values()].findLast((one) => one.state !== 'skipped')?.slot ?? null,
    overlap: job.overlap,
    catchUp: catchUpText(job.catchUp),
    paused: job.paused,
    nextLocal: due === null ? null : localTime(due.at, zones.named(job.timing.tz)),
    jitterMs: due === null ? 0 : due.at - due.slot,
    work: workText(job),
    broken: null,
  };
}

function brokenRow({ name, why }: Broken): CronRow {
  return {
    name,
    schedule: '',
    tz: '',
    nextAt: null,
    lastSlot: null,
    overlap: 'skip',
    catchUp: 'skip',
    paused: true,
    nextLocal: null,
    jitterMs: 0,
    work: '',
    broken: why,
  };
}

export function historyRow(slot: CronSlot): CronHistoryRow {
  const { job: _job, n: _n, ...row } = slot;
  const { startedAt, endedAt } = slot;
  const timed = startedAt !== null && endedAt !== null;
  return { ...row, durationMs: timed ? Date.parse(endedAt) - Date.parse(startedAt) : null };
}

function scheduleText({ timing }: CronJob): string {
  if (timing.kind === 'schedule') return timing.expression;
  return timing.kind === 'at' ? `at ${timing.at}` : `every ${durationText(timing.everyMs)}`;
}

function catchUpText(catchUp: CronCatchUp): string {
  return catchUp.kind === 'all' ? `all(${catchUp.max})` : catchUp.kind;
}

function workText({ work }: CronJob): string {
  switch (work.kind) {
    case 'team':
      return `team ${work.file}`;
    case 'prompt':
      return `${work.agent}: ${work.text}`;
    case 'mail':
      return `mail to ${work.to}: ${work.text}`;
    case 'command':
      return work.command;
  }
}

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
];

/** As people write it: `1h30m`. */
function durationText(ms: number): string {
  let left = ms;
  let text = '';
  for (const [unit, size] of UNITS) {
    const amount = Math.floor(left / size);
    if (amount > 0) text += `${amount}${unit}`;
    left -= amount * size;
  }
  return text === '' ? '0s' : text;
}
