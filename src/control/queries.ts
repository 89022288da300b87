/**
 * What is: read from the journals beside their writer, at any time. Liveness, which no journal can know, is asked from
 * the supervisor that holds the repository, and is an input to the functions that derive a status.
 */

import type { Redactor } from '../events/index.ts';
import type { Damage } from '../journal/index.ts';
import { readJournal } from '../journal/index.ts';
import { isTroupeError, type TroupeError } from '../kernel/errors.ts';
import type { StoredRunRecord } from '../protocol/record.ts';
import type { ActorRow, RunRow, TaskRow } from '../protocol/shapes.ts';
import type { RunFile } from '../protocol/team.ts';
import type { StatusResult } from '../protocol/wire.ts';
import type { Liveness, RunState } from '../supervisor/index.ts';
import {
  actorRows,
  applyRecord,
  describeGap,
  describeLostEnd,
  makeRunState,
  readKnownSeq,
  readTaskTexts,
  runRow,
  taskRows,
} from '../supervisor/index.ts';
import type { Holder } from './deps.ts';
import { errors } from './errors.ts';
import { FIRST_RUN_LOOK_MS } from './limits.ts';
import { blobsOf } from './payloads.ts';
import { journalFolder, runFolder } from './places.ts';
import { listRunFiles, readRunFile } from './run-store.ts';
import type { Workspace } from './workspace.ts';

/** A run as it was when its journal was read. */
export interface RunView {
  readonly run: string;
  readonly file: RunFile;
  readonly state: RunState;
  readonly liveness: Liveness;
  /** Damage below the watermark: these records are lost. */
  readonly gaps: readonly Damage[];
  readonly redactor: Redactor;
  /** Of the last intact record, the journal's own included. */
  readonly lastSeq: number;
}

/** What is known of the supervisor; asked once for all runs of one command. */
export interface LiveReport {
  readonly holder: Holder | null;
  readonly status: StatusResult | null;
}

export async function askLive(workspace: Workspace): Promise<LiveReport> {
  const { live } = workspace.deps;
  const holder = await live.holder(workspace.places);
  return { holder, status: holder === null ? null : await live.status(workspace.places) };
}

/** A supervisor that holds the repository but does not answer is taken to hold the newest run that has not ended. */
export function livenessOf(report: LiveReport, run: string, isNewest: boolean): Liveness {
  const { holder, status } = report;
  if (status === null) return { alive: holder !== null && isNewest, phases: {} };
  const phases: Record<string, Liveness['phases'][string]> = {};
  for (const row of status.actors) {
    if (row.run !== run) continue;
    phases[row.name] = { state: row.state, since: row.since, reason: row.reason };
  }
  return { alive: status.runs.some((row) => row.id === run), phases };
}

/** Throws `control/unknown-run`, or without `run` and with no run yet `control/no-run`. */
export async function viewRun(
  workspace: Workspace,
  run: string | undefined,
  what: string,
): Promise<RunView> {
  const newest = await newestRun(workspace);
  const id = run ?? newest;
  if (id === null) throw errors.noRun(what);
  const file = await readRunFile(workspace, id);
  const report = await askLive(workspace);
  return loadRun(workspace, file, livenessOf(report, id, id === newest));
}

/** Null when there is no run yet. */
export async function viewNewest(workspace: Workspace): Promise<RunView | null> {
  const newest = await newestRun(workspace);
  return newest === null ? null : viewRun(workspace, newest, '');
}

/** The run that is asked for, else the newest; null when none is asked for and there is none yet. */
export function viewAsked(
  workspace: Workspace,
  run: string | undefined,
  what: string,
): Promise<RunView | null> {
  return run === undefined ? viewNewest(workspace) : viewRun(workspace, run, what);
}

/** The newest run, or the first one as soon as there is one; null when the signal aborts before. */
export async function waitForRun(
  workspace: Workspace,
  signal: AbortSignal,
): Promise<RunView | null> {
  while (!signal.aborted) {
    const view = await viewNewest(workspace);
    if (view !== null) return view;
    await workspace.deps.clock.sleep(FIRST_RUN_LOOK_MS, signal).catch(() => undefined);
  }
  return null;
}

export async function newestRun(workspace: Workspace): Promise<string | null> {
  const { runs } = await listRunFiles(workspace);
  return runs[0]?.run ?? null;
}

export async function loadRun(
  workspace: Workspace,
  file: RunFile,
  liveness: Liveness,
): Promise<RunView> {
  const state = makeRunState(file);
  const gaps: Damage[] = [];
  let lastSeq = 0;
  const records = readJournal({
    files: workspace.deps.files,
    directory: journalFolder(workspace.places, file.id),
    onGap: (gap) => gaps.push(gap),
  });
  for await (const record of records) {
    lastSeq = record.s;
    requireOwn(file.id, record);
    if (isRunRecord(record)) fold(state, record, gaps);
  }
  await readTaskTexts(state, blobsOf(workspace, file.id));
  const redactor = await workspace.redactor();
  return { run: file.id, file, state, liveness, gaps, lastSeq, redactor };
}

/** What the run lost of its records, to be told; nothing when the journal has all that is known of it. */
export async function lossesOf(workspace: Workspace, view: RunView): Promise<TroupeError[]> {
  const { files } = workspace.deps;
  const losses = view.gaps.map((gap) => errors.lostRecords(view.run, describeGap(gap)));
  const known = await readKnownSeq(files, runFolder(workspace.places, view.run));
  if (known.seq <= view.lastSeq) return losses;
  // A writer may have gone on since the view was made.
  const { lastSeq } = await loadRun(workspace, view.file, view.liveness);
  const lostEnd = describeLostEnd(lastSeq, known);
  if (lostEnd !== null) losses.push(errors.lostRecords(view.run, lostEnd));
  return losses;
}

/** A journal that was copied from another run says nothing of this one. */
function requireOwn(
  run: string,
  record: { readonly k: string; readonly [field: string]: unknown },
): void {
  if (record.k !== 'seg' || record['name'] === run) return;
  throw errors.foreignJournal(run, String(record['name']));
}

/** Where records are missing, a later one may not fit: what can be shown is what came before. */
function fold(state: RunState, record: StoredRunRecord, gaps: readonly Damage[]): void {
  try {
    applyRecord(state, record);
  } catch (thrown) {
    if (gaps.length === 0) throw thrown;
  }
}

/** The journal's own records (`seg`, `seal`) say nothing of the run. */
export function isRunRecord(record: { readonly k: string }): record is StoredRunRecord {
  return record.k !== 'seg' && record.k !== 'seal';
}

export interface RunsAnswer {
  readonly rows: readonly RunRow[];
  readonly damaged: readonly TroupeError[];
}

export async function listRuns(workspace: Workspace): Promise<RunsAnswer> {
  const { runs, damaged } = await listRunFiles(workspace);
  const report = runs.length === 0 ? NOBODY : await askLive(workspace);
  const rows: RunRow[] = [];
  const unread: TroupeError[] = [];
  for (const [index, { run, file }] of runs.entries()) {
    try {
      const view = await loadRun(workspace, file, livenessOf(report, run, index === 0));
      rows.push(rowOf(view));
    } catch (error) {
      // One that can't be read hides nothing of the others.
      if (!isTroupeError(error) || !OF_A_JOURNAL.test(error.code)) throw error;
      unread.push(error);
    }
  }
  return { rows, damaged: [...damaged, ...unread] };
}

const OF_A_JOURNAL = /^journal\/|^control\/foreign-journal$/;

const NOBODY: LiveReport = { holder: null, status: null };

/** The gate that failed on the finished branch; null when none did, or when none ran on what it is at now. */
export function failedFinalGate(state: RunState): RunState['run']['gates'][number] | null {
  const commit = state.run.ended?.commit;
  return (
    state.run.gates.findLast(
      (gate) => !gate.ok && (commit === undefined || gate.commit === commit),
    ) ?? null
  );
}

/** Rows as they are shown: secrets are taken out (E2). */
export const rowOf = ({ state, liveness, redactor }: RunView): RunRow =>
  redactor.data(runRow(state, liveness));
export const tasksOf = ({ state, liveness, redactor }: RunView): TaskRow[] =>
  redactor.data(taskRows(state, liveness));
export const actorsOf = ({ state, liveness, redactor }: RunView): ActorRow[] =>
  redactor.data(actorRows(state, liveness));
