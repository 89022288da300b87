/**
 * Recurring jobs for every front end: reading them from the workspace journal, beside its writer, and what a supervisor
 * that stays needs to start their runs.
 */
import {
  applyCron,
  applyDamaged,
  type CronBook,
  cronRows,
  emptyBook,
  historyRow,
} from '../cron/index.ts';
import { type Damage, damagedLines, readJournal } from '../journal/index.ts';
import { EXIT, TroupeError } from '../kernel/errors.ts';
import { nearMatches } from '../kernel/ids.ts';
import type { CronHistoryRow, CronJob, CronRow } from '../protocol/cron.ts';
import type { PolicyMode, RunFile } from '../protocol/team.ts';
import type { StatusResult } from '../protocol/wire.ts';
import type { CronHost } from '../supervisor/index.ts';
import { authoredRun, titleOf } from './cron-authored.ts';
import { writeWhole } from './files.ts';
import type { Finding } from './finding.ts';
import { rowOf, viewRun } from './queries.ts';
import { createRun, readRunFile, runIds } from './run-store.ts';
import { prepareRun } from './start.ts';
import { loadTeam } from './team-file.ts';
import type { Workspace } from './workspace.ts';

async function readCron({ deps, places }: Workspace): Promise<CronBook> {
  const book = emptyBook();
  const directory = `${places.state}/workspace/journal`;
  if ((await deps.files.stat(directory)) === null) return book;
  const select = (head: { readonly k: string }): boolean => head.k === 'cron';
  const gaps: Damage[] = [];
  const onGap = (gap: Damage): void => {
    gaps.push(gap);
  };
  for await (const record of readJournal({ files: deps.files, directory, select, onGap })) {
    applyCron(book, record);
  }
  for (const gap of gaps) {
    const lines = await damagedLines(deps.files, directory, gap);
    for (const line of lines) applyDamaged(book, line, gap.toSeq);
  }
  return book;
}

/** All jobs by name, also those whose record is not usable. */
export async function cronJobs(workspace: Workspace): Promise<readonly CronRow[]> {
  return (await workspace.redactor()).data(cronRows(await readCron(workspace)));
}

export interface CronDetail extends CronRow {
  /** Null: its record is not usable. */
  readonly job: CronJob | null;
  /** The newest entries, newest first. */
  readonly history: readonly CronHistoryRow[];
}

/** Throws `cron/unknown` (exit 5). */
export async function cronJob(workspace: Workspace, name: string): Promise<CronDetail> {
  const book = await readCron(workspace);
  const row = cronRows(book).find((one) => one.name === name);
  if (row === undefined) throw unknownJob(name, book);
  const job = book.jobs.get(name)?.job ?? null;
  const history = historyOf(book, name).slice(0, SHOWN);
  return (await workspace.redactor()).data({ ...row, job, history });
}

const SHOWN = 10;

/** What became of slots, newest first; of all jobs without a name. */
export async function cronHistory(
  workspace: Workspace,
  name: string | undefined,
): Promise<readonly CronHistoryRow[]> {
  const book = await readCron(workspace);
  if (name !== undefined && !book.jobs.has(name) && !book.broken.has(name))
    throw unknownJob(name, book);
  const names = name === undefined ? [...book.jobs.keys()] : [name];
  const rows = names.flatMap((one) => historyOf(book, one));
  const sorted = name === undefined ? rows.toSorted((a, b) => (a.slot < b.slot ? 1 : -1)) : rows;
  return (await workspace.redactor()).data(sorted);
}

function historyOf(book: CronBook, name: string): CronHistoryRow[] {
  const slots = [...(book.jobs.get(name)?.ledger.history.values() ?? [])];
  return slots.toSorted((a, b) => b.n - a.n).map(historyRow);
}

function unknownJob(name: string, book: CronBook): TroupeError {
  const near = nearMatches(name, [...book.jobs.keys(), ...book.broken.keys()]);
  return new TroupeError({
    code: 'cron/unknown',
    message: `there is no job ${JSON.stringify(name)}`,
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'See `troupe cron list`.',
    exit: EXIT.notFound,
  });
}

/** For `troupe doctor`: jobs that nobody would start, and records that are set aside. */
export async function examineCron(workspace: Workspace): Promise<readonly Finding[]> {
  const book = await readCron(workspace);
  const waiting = [...book.jobs.values()].filter(({ job }) => !job.paused);
  const findings = [...book.broken.values()].map(
    ({ name, why }): Finding => ({
      check: `job ${name}`,
      ok: false,
      detail: `its record is not usable and set aside: ${why}`,
      repair: `Remove it with \`troupe cron rm ${name}\` and add it again; the other jobs go on.`,
    }),
  );
  if (waiting.length === 0) return findings;
  const status = await workspace.deps.live.status(workspace.places);
  const up = isUp(status);
  const count = `${waiting.length} recurring ${waiting.length === 1 ? 'job' : 'jobs'}`;
  findings.push({
    check: 'cron',
    ok: up,
    detail: up
      ? `${count}, run by process ${status?.pid}`
      : `${count}, and nobody is up to run them`,
    repair: up ? '' : 'Start `troupe up`.',
  });
  return findings;
}

/** Only a supervisor that stays fires jobs. */
export function isUp(status: StatusResult | null): boolean {
  return status !== null && 'mode' in status && status.mode === 'up';
}

/** What a supervisor needs to run jobs. `post` sends JSON over HTTP. */
export function makeCronHost(
  workspace: Workspace,
  given: { readonly armed: boolean; readonly post: CronHost['post'] },
): CronHost {
  return {
    armed: given.armed,
    prepare: (job, run) => runOfJob(workspace, job, run),
    row: async (run) => {
      if (!(await runIds(workspace)).includes(run)) return null;
      return rowOf(await viewRun(workspace, run, 'run'));
    },
    post: given.post,
  };
}

/** The id is that of the slot: what was made before a crash is found again, and nothing is made twice. */
async function runOfJob(workspace: Workspace, job: CronJob, run: string): Promise<RunFile> {
  if ((await runIds(workspace)).includes(run)) return readRunFile(workspace, run);
  const { places } = workspace;
  if (job.author !== undefined) return authoredRun(workspace, job, run);
  const teamFile = job.work.kind === 'team' ? job.work.file : await writeTeam(workspace, job);
  const { file, beside } = await prepareRun(workspace, {
    teamFile,
    cwd: places.workspace,
    model: job.model ?? undefined,
    budgetUsd: job.budgetUsd ?? undefined,
    runId: run,
    mode: (job.mode as PolicyMode | null) ?? undefined,
    attended: job.attended,
  });
  await createRun(workspace, file, beside);
  return file;
}

/** What its runs will need is looked at when it is written down (exit 2); missing keys are told when it runs. */
export async function checkJob(workspace: Workspace, job: CronJob): Promise<void> {
  if (job.work.kind !== 'team' && job.work.kind !== 'prompt') return;
  const { deps, places } = workspace;
  const name = job.work.kind === 'team' ? job.work.file : await writeTeam(workspace, job);
  const model = job.model ?? undefined;
  await loadTeam(deps, places, { name, cwd: places.workspace, model, withoutKeys: true });
}

/** A prompt is a team of one task. JSON is YAML. */
async function writeTeam({ deps, places }: Workspace, job: CronJob): Promise<string> {
  if (job.work.kind !== 'prompt') throw new Error('a job without a run');
  const { text, agent } = job.work;
  const team = {
    version: 1,
    name: job.name.slice(0, 28),
    tasks: [{ id: 'job', title: titleOf(text), prompt: text, agent }],
  };
  const folder = `${places.state}/workspace/cron`;
  await deps.files.makeDirectory(folder);
  const path = `${folder}/${job.name}.team.yaml`;
  const temporary = `${path}.${deps.random.id(6)}`;
  await writeWhole(deps.files, path, { text: `${JSON.stringify(team, null, 2)}\n`, temporary });
  return path;
}
